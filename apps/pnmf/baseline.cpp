#include "help.hpp"
#include "input_flags.hpp"
#include "json_text.hpp"
#include "option_flags.hpp"
#include "progress.hpp"
#include "say.hpp"
#include "verbs.hpp"

#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/save_run.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <ctime>
#include <memory>
#include <string_view>

namespace pnmf::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BaselineRequest : InputFlags {
    BaselineFitOptions baseline;
    std::string settings;
    std::string folder;
    std::string command;
    Index clusters = 0;
    bool overwrite = false;
    bool strict = false;
    bool json = false;
    ProgressStyle progress = ProgressStyle::automatic;
};

template <class Real>
Json summary_json(const BaselineRequest& options, const Work& work, const PreparedFit<Real>& prepared,
                  const FitResult<Real>& result, const Assessment& assessment, double seconds) {
    const Objective& last = result.trace.back();
    Json json;
    json["program"] = std::string("pnmf ") + PNMF_VERSION;
    json["method"] = name_of(options.baseline.graph.method);
    json["input"] = options.path;
    json["preset"] = name_of(work.analysis.preset);
    json["space"] = work.data.space ? work.data.space->name : "none";
    json["features"] = prepared.X->features();
    json["cells"] = prepared.X->cells();
    json["rank"] = prepared.rank;
    json["edges"] = prepared.graph->at(no_threshold)->edges();
    json["components"] = result.scales.betti0.front();
    json["stop"] = name_of(result.stop);
    json["steps"] = result.trace.size() - 1;
    json["objective_start"] = result.trace.front().total();
    json["objective"] = {{"total", last.total()}, {"fit", last.fit}, {"graph", last.graph}};
    json["kkt"] = result.residuals.front().certificate();
    json["effective_rank"] = result.effective_rank.front();
    json["clusters"] = assessment.cluster_count;
    json["warnings"] = result.warnings;
    json["notices"] = prepared.notices;
    json["options"] = Json::parse(options_json(options.baseline));
    json["precision"] = name_of(work.analysis.precision);
    json["threads"] = thread_count();
    json["seconds"] = seconds;
    return json;
}

template <class Real>
void solve_and_write(const BaselineRequest& options, const Work& work, RunFolder& folder) {
    const Dataset& data = work.data;
    require(options.clusters <= data.cells(), "--clusters must be at most the number of cells, {}, got {}",
            data.cells(), options.clusters);
    const PreparedFit<Real> prepared =
        prepare_baseline<Real>(view_of(data.X), points_of(data, options.baseline.metric), options.baseline);
    print_notices(prepared.notices);
    const auto rank = static_cast<double>(prepared.rank);
    folder.make(2.0 * sizeof(Real) * rank * static_cast<double>(data.cells() + data.features()));
    const SolverOptions& solver = prepared.options.solver;
    Progress progress(options.baseline.algorithm == BaselineAlgorithm::stationary, options.progress);
    const std::clock_t began = std::clock();
    FitResult<Real> result =
        solve_baseline(prepared, options.baseline,
                       {.sweep =
                            [&](const SweepReport& report) {
                                progress.sweep({.stage = Stage::sweeping,
                                                .max_sweeps = solver.max_sweeps.value_or(1000),
                                                .sweep = &report});
                                return true;
                            },
                        .step = {}});
    progress.end_line();
    const double seconds = progress.seconds();
    const double cpu_seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    AssessOptions assess{.seed = options.baseline.seed};
    if (options.clusters > 0) {
        assess.clusters = options.clusters;
    }
    const Assessment assessment = assess_fit(prepared, result, assess);
    print_notices(assessment.notices);
    Json summary = summary_json(options, work, prepared, result, assessment, seconds);
    summary["cpu_seconds"] = cpu_seconds; // of the solve, all threads
    save_result(folder,
                result_file(data, prepared, result, assessment,
                            {.save_basis = true,
                             .command = options.command,
                             .method = std::string(name_of(options.baseline.graph.method)),
                             .options = options_json(options.baseline)}),
                json_text(summary) + "\n");
    for (const std::string& warning : result.warnings) {
        say("warning: {}\n", warning);
    }
    if (options.json) {
        put_json(summary);
    } else {
        const Objective& last = result.trace.back();
        put("{} cells x {} features, rank {}, graph of {} edges in {} component{}\n", prepared.X->cells(),
            prepared.X->features(), prepared.rank, summary["edges"].get<Index>(),
            result.scales.betti0.front(), result.scales.betti0.front() == 1 ? "" : "s");
        put("objective {:.5g} -> {:.5g} = fit {:.4g} + graph {:.4g}\n", result.trace.front().total(),
            last.total(), last.fit, last.graph);
        put("{} after {} steps, KKT residual {:.0e}; wrote {}\n", name_of(result.stop),
            result.trace.size() - 1, result.residuals.front().certificate(), folder.result().string());
    }
    if (options.progress == ProgressStyle::json) {
        say_event({{"event", "done"}, {"result", folder.result().string()}, {"seconds", seconds}});
    }
    if (options.strict && result.stop != Stop::converged) {
        throw Exit{3};
    }
}

/// As published, with those that were given on the command line in their place.
BaselineFitOptions with_settings(const CLI::App& verb, const BaselineRequest& options) {
    if (options.settings.empty()) {
        return options.baseline;
    }
    BaselineFitOptions chosen =
        published_fit(options.baseline.graph.method, options.settings == "published-2");
    visit_baseline_options(chosen, [&](std::string_view name, auto& field, const char*) {
        if (verb.get_option("--" + std::string(name))->count() == 0) {
            return;
        }
        visit_baseline_options(options.baseline, [&](std::string_view given, const auto& value, const char*) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>,
                                         std::remove_cvref_t<decltype(field)>>) {
                if (given == name) {
                    field = value;
                }
            }
        });
    });
    return chosen;
}

void run(BaselineRequest options, const CLI::App& verb) {
    options.baseline = with_settings(verb, options);
    RunFolder folder(options.folder, options.overwrite ? FolderUse::overwrite : FolderUse::fresh);
    if (options.baseline.rank) {
        options.analysis.fit.rank = options.baseline.rank;
        options.analysis.given.insert("rank");
    }
    const Work work = read_work(options, verb);
    options.baseline.rank = work.analysis.fit.rank;
    if (work.analysis.precision == Precision::single) {
        solve_and_write<float>(options, work, folder);
    } else {
        solve_and_write<double>(options, work, folder);
    }
}

void add_method(CLI::App& baseline, Baseline method, const char* help, const std::string& command) {
    CLI::App* verb = baseline.add_subcommand(std::string(name_of(method)), help);
    auto options = std::make_shared<BaselineRequest>();
    options->command = command;
    options->baseline.graph = published_settings(method);
    options->analysis.preset = Preset::paper; // data as the published comparisons had them
    OptionNames names = of_preparing;
    names.insert({"space", "places", "precision"});
    add_input_flags(*verb, *options, names);
    const auto no_settings = [](const std::string& name) {
        return name.starts_with("published") ? "is a kind of data; --settings " + name + " is what you mean"
                                             : std::string();
    };
    verb->get_option("--preset")->transform(CLI::Validator(no_settings, ""));
    verb->add_option("-o,--output", options->folder, "Folder to write result.h5ad and summary.json into")
        ->type_name("FOLDER")
        ->required();
    verb->add_option("--settings", options->settings,
                     "Settings and protocol as published; published-2: with the second number of neighbours "
                     "that the authors of GNMF and TNMF give. Every other option you give overrides them")
        ->check(CLI::IsMember({"published", "published-2"}).description(""))
        ->type_name("published|published-2");
    visit_baseline_options(options->baseline, [&](const char* name, auto& field, const char* text) {
        add_flag_for(*verb, name, field, capitalised(text).c_str());
    });
    verb->add_option("--clusters", options->clusters,
                     "Number of clusters [the one that changes least when cells are left out]")
        ->check(whole_number_from(1));
    add_threads_flag(*verb);
    verb->add_flag("--overwrite", options->overwrite,
                   "Replace the result in the output folder, but only once the new one is complete");
    verb->add_flag("--strict", options->strict, "Exit with code 3 if the run did not converge");
    add_progress_option(*verb, options->progress);
    add_json_flag(*verb, options->json);
    verb->callback([verb, options] { run(*options, *verb); });
}

} // namespace

void add_baseline(CLI::App& app, const std::string& command) {
    CLI::App* verb = app.add_subcommand(
        "baseline", "Other methods to compare with, at one scale: NMF, GNMF, TNMF, k-TNMF");
    verb->require_subcommand(1);
    add_method(*verb, Baseline::nmf, "Nonnegative matrix factorisation, without a graph", command);
    add_method(*verb, Baseline::gnmf, "NMF with a graph of nearest neighbours (Cai et al. 2011)", command);
    add_method(*verb, Baseline::tnmf, "NMF with graphs at several distances, added up (Hozumi and Wei 2024)",
               command);
    add_method(*verb, Baseline::ktnmf,
               "NMF with graphs of 1, 2, ... nearest neighbours, added up (Hozumi and Wei 2024)", command);
}

} // namespace pnmf::cli
