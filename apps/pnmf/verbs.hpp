#pragma once

#include <CLI/CLI.hpp>

#include <string>

/// Each verb adds its subcommand to the program: options, help, and a callback that does the work.
/// A callback that returns has done its work (exit 0); see `main` for what exceptions mean.
namespace pnmf::cli {

/// Ends the program with a code other than 0, after the verb has said why on stderr.
struct Exit {
    int code = 0;
};

/// `command` is the whole command line, to be kept in the result.
void add_baseline(CLI::App& app, const std::string& command);
void add_check(CLI::App& app);
void add_completion(CLI::App& app);
void add_convert(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_scales(CLI::App& app);
void add_fit(CLI::App& app, const std::string& command);
void add_loops(CLI::App& app);
void add_manual(CLI::App& app);
void add_paths(CLI::App& app);
void add_programs(CLI::App& app);
void add_rank(CLI::App& app, const std::string& command);
void add_report(CLI::App& app);
void add_score(CLI::App& app);
void add_simulate(CLI::App& app);
void add_transform(CLI::App& app);

} // namespace pnmf::cli
