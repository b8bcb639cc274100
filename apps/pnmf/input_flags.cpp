#include "input_flags.hpp"

#include "help.hpp"
#include "option_flags.hpp"
#include "say.hpp"

#include <pnmf/error.hpp>
#include <pnmf/solvers/option_list.hpp>

#include <fmt/format.h>

#include <chrono>

namespace pnmf::cli {
namespace {

OptionNames with(OptionNames names, const OptionNames& more) {
    names.insert(more.begin(), more.end());
    return names;
}

/// Which heading of the help a flag stands under; those that most users want stand under the first,
/// "Options".
const char* heading_of(const std::string& name) {
    static const OptionNames common{"rank",        "lambda1",   "lambda2", "lambda3", "max-scales",
                                    "scale-error", "neighbors", "device",  "seed",    "out-of-core"};
    static const OptionNames graph{"alpha", "metric", "scales", "search"};
    return common.contains(name)  ? "Options"
           : graph.contains(name) ? "Scales and graph, rarely changed"
                                  : "Solver, rarely changed";
}

} // namespace

const OptionNames of_reading{"cells", "layer", "modality", "variable", "drop-empty", "labels", "transform"};
const OptionNames of_preparing = with(of_reading, {"preset", "normalize", "genes", "cells-min", "genes-min"});
const OptionNames of_distances = with(of_preparing, {"space", "places", "sample", "batch"});

void add_input_flags(CLI::App& verb, InputFlags& flags, const OptionNames& options, const std::string& name) {
    verb.add_option(name, flags.path,
                    "The data: .h5ad, .zarr, .h5mu, .loom, 10x folder or .h5, .mtx[.gz], .csv[.gz], "
                    ".tsv[.gz], .npy or .mat")
        ->required();
    visit_input_options(flags.analysis,
                        [&](const std::string& option, auto& field, const char* help, const char* kind) {
                            if (!options.contains(option)) {
                                return;
                            }
                            using Field = std::remove_reference_t<decltype(field)>;
                            if constexpr (std::is_same_v<Field, bool>) {
                                verb.add_flag("--" + option, field, capitalised(help))->group("Input");
                                return;
                            }
                            add_flag_for(verb, option.c_str(), field, capitalised(help).c_str());
                            CLI::Option* const flag = verb.get_option("--" + option)->group("Input");
                            if (*kind != '\0') {
                                flag->type_name(kind)->default_str("");
                            }
                            if constexpr (std::is_same_v<Field, Index>) {
                                flag->check(whole_number_from(0))->default_str("0");
                            }
                        });
}

void add_fit_flags(CLI::App& verb, InputFlags& flags, const OptionNames& options) {
    visit_options(flags.analysis.fit, [&](const std::string& name, auto& field, const char* help) {
        if (options.empty() || options.contains(name)) {
            add_flag_for(verb, name.c_str(), field, capitalised(help).c_str());
            CLI::Option* const flag = verb.get_option("--" + name)->group(heading_of(name));
            if (flag->get_description().find("; preset paper: ") != std::string::npos) {
                flag->default_str(""); // the text says it
            }
        }
    });
}

void refuse_flags(const CLI::App& verb, const OptionNames& options, const OptionNames& used,
                  const std::string& why) {
    for (const std::string& name : options) {
        require(used.contains(name) || verb.count("--" + name) == 0, "--{} cannot be used with {}", name,
                why);
    }
}

Work read_work(const InputFlags& flags, const CLI::App& verb) {
    const auto began = std::chrono::steady_clock::now();
    AnalysisOptions analysis = flags.analysis;
    visit_options(analysis.fit, [&](const std::string& name, const auto&, const char*) {
        const CLI::Option* const flag = verb.get_option_no_throw("--" + name); // not every verb has each
        if (flag != nullptr && flag->count() > 0) {
            analysis.given.insert(name);
        }
    });
    Work work{read_planned(flags.path, analysis, true)};
    print_notices(work.data.notices);
    for (const Choice& choice : work.analysis.choices) {
        say("{}{}\n", choice.text,
            choice.option.empty() ? "" : fmt::format(" (--{} changes it)", choice.option));
        if (choice.option != "layer") { // the record of the input has it
            work.data.notices.push_back(choice.text);
        }
    }
    work.reading = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return work;
}

Dataset read_only(const InputFlags& flags) {
    return read_dataset(flags.path, read_options(input_choices(flags.analysis)));
}

void print_notices(const std::vector<std::string>& notices) {
    for (const std::string& notice : notices) {
        say("{}\n", notice);
    }
}

} // namespace pnmf::cli
