#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/// The verbs and options of the program as its parser knows them, for texts that are made from them:
/// completion scripts and manual pages.
namespace pnmf::cli {

/// A verb with the words that call it: {"pnmf", "baseline", "gnmf"}.
struct Command {
    std::vector<std::string> words;
    const CLI::App* app = nullptr;
};

/// The program and all its verbs, each before those below it; hidden ones are left out.
std::vector<Command> commands_of(const CLI::App& program);

/// The words with something in between: "pnmf baseline gnmf", "pnmf-baseline-gnmf".
std::string joined(const Command& command, const std::string& between = " ");

/// The verbs right below this one; hidden ones are left out.
std::vector<const CLI::App*> verbs_below(const CLI::App& app);

/// Options with a flag, and those that are told by their place.
std::vector<const CLI::Option*> flags_of(const CLI::App& app);
std::vector<const CLI::Option*> places_of(const CLI::App& app);

/// "-o", "--output": as they are typed.
std::vector<std::string> typed_names(const CLI::Option& option);

bool takes_value(const CLI::Option& option);
/// The words that the value may be, as its type says: "rows|columns" are two, "N|all|COLUMN" is "all".
std::vector<std::string> words_for(const CLI::Option& option);

} // namespace pnmf::cli
