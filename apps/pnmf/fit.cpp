#include "fit_options.hpp"
#include "fit_summary.hpp"
#include "input_options.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "report_page.hpp"
#include "trace.hpp"
#include "verbs.hpp"

#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/results/run.hpp>
#include <pnmf/results/save_run.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    InputOptions input;
    FitOptions fit;
    std::string folder;
    std::string precision = "double";
    std::string trace;
    std::string start_from;
    std::string command;
    Index clusters = 0;
    int threads = 0;
    double checkpoint_every = 300.0;
    std::string memory; ///< a size; empty: no limit
    bool save_basis = false;
    bool no_report = false;
    bool choose_rank = false;
    bool strict = false;
    bool resume = false;
    bool overwrite = false;
    bool json = false;
};

RunOptions run_options(const Options& options, RunFolder& folder) {
    RunOptions result{.fit = options.fit,
                      .folder = &folder,
                      .checkpoint_every = options.checkpoint_every,
                      .start_from = options.start_from,
                      .save_basis = options.save_basis};
    if (options.clusters > 0) {
        result.clusters = options.clusters;
    }
    if (!options.memory.empty()) {
        result.memory = parse_size(options.memory);
    }
    return result;
}

/// What the run says goes to stderr and to the trace; a signal stops it.
RunObserver watch(const Options& options, Progress& progress, Trace& trace) {
    RunObserver observer;
    observer.progress = [&, begun = false](const RunProgress& report) mutable {
        if (report.stage == Stage::starting) {
            if (!begun) {
                trace.begin(options.resume); // the folder is there now
                catch_interrupts();
                begun = true;
            }
            progress.starting();
        } else if (report.sweep != nullptr) {
            progress.sweep(report);
            trace.sweep(report.sweep->sweep, report.sweep->objective.total());
        }
        return interrupt_signal() == 0;
    };
    if (trace.wanted()) {
        observer.step = [&](const StepReport& report) { trace.step(report); };
        observer.past = [&](const std::vector<Objective>& sweeps) { trace.past(sweeps); };
    }
    observer.notice = [&](const std::string& text) {
        progress.end_line();
        fmt::print(stderr, "{}\n", text);
    };
    observer.warning = [&](const std::string& text) {
        progress.end_line();
        fmt::print(stderr, "warning: {}\n", text);
    };
    return observer;
}

template <class Real>
Run<Real> run_watched(const Options& options, const Dataset& data, RunFolder& folder, Trace& trace) {
    const SolverOptions& solver = options.fit.solver;
    Progress progress(solver.algorithm == Algorithm::stationary && solver.stop == StopRule::certificate);
    try {
        return run_fit<Real>(view_of(data.X), run_options(options, folder), watch(options, progress, trace));
    } catch (const Interrupted& e) {
        progress.end_line();
        fmt::print(stderr, "pnmf: {}{}\n", e.what(),
                   e.saved() ? "; the same command with --resume goes on from there" : "");
        trace.write();
        throw Exit{128 + interrupt_signal()};
    }
}

template <class Real>
Json summary_of(const Options& options, const Run<Real>& run, double reading) {
    Json json;
    json["program"] = std::string("pnmf ") + PNMF_VERSION;
    json["input"] = options.input.path;
    json.update(Json::parse(summary_json(run)));
    Json stages{{"reading", reading}};
    stages.update(json["seconds_of"]);
    json["seconds"] = json["seconds"].get<double>() + reading;
    json["seconds_of"] = std::move(stages);
    return json;
}

/// The files that were written, in words. An older page is not left beside a new result.
template <class Real>
std::string write_files(const Options& options, const Dataset& data, const Run<Real>& run,
                        const RunFolder& folder, const Json& summary) {
    save_run(folder, data, run, {.save_basis = options.save_basis, .command = options.command},
             summary.dump(2) + "\n");
    const fs::path page = folder.path() / "report.html";
    std::error_code ignored;
    fs::remove(page, ignored);
    std::string files = folder.result().string();
    if (options.no_report) {
        return files;
    }
    const StoredResult stored = stored_result(result_file(data, run.prepared, run.result, run.assessment,
                                                          {.save_basis = true, .command = options.command}),
                                              folder.result().string());
    if (write_page(page, {.result = &stored, .data = &data})) {
        files += " and " + page.string();
    }
    return files;
}

template <class Real>
void fit_with(const Options& options, const Dataset& data, RunFolder& folder, double reading) {
    Trace trace(options.trace);
    const Run<Real> run = run_watched<Real>(options, data, folder, trace);
    const Json summary = summary_of(options, run, reading);
    const std::string files = write_files(options, data, run, folder, summary);
    trace.write();
    for (const std::string& warning : run.result.warnings) {
        fmt::print(stderr, "warning: {}\n", warning);
    }
    if (options.json) {
        fmt::print("{}\n", summary.dump(2));
    } else {
        print_summary(summary, run.result, files);
    }
    if (options.strict && run.result.stop != Stop::converged &&
        options.fit.solver.algorithm != Algorithm::reference) {
        throw Exit{3};
    }
}

FolderUse use_of(const Options& options) {
    return options.resume ? FolderUse::resume : options.overwrite ? FolderUse::overwrite : FolderUse::fresh;
}

/// The rank by held-out entries, with its curve on stderr.
Index rank_by_held_out_entries(const DataValues& X, std::uint64_t seed) {
    RankOptions options;
    options.seed = seed;
    const RankCurve curve = choose_rank(X, options);
    fmt::print(stderr, "error on held-out entries:");
    for (std::size_t i = 0; i < curve.ranks.size(); ++i) {
        fmt::print(stderr, " rank {}: {:.4f}", curve.ranks[i], curve.error[i]);
    }
    fmt::print(stderr, "\nrank {}: the smallest within one standard error of the best\n", curve.chosen);
    return curve.chosen;
}

void run(Options options) {
    require(!options.choose_rank || !options.fit.rank, "--rank and --choose-rank exclude each other");
    require(!options.choose_rank || !options.resume, "--choose-rank cannot be resumed: give --rank");
    if (options.threads > 0) {
        set_thread_count(options.threads);
    }
    if (!options.memory.empty()) {
        parse_size(options.memory); // before anything is read
    }
    RunFolder folder(options.folder, use_of(options));
    const auto began = std::chrono::steady_clock::now();
    const Dataset data = read_input(options.input);
    if (options.choose_rank) {
        options.fit.rank = rank_by_held_out_entries(data.X, options.fit.seed);
    }
    const std::chrono::duration<double> reading = std::chrono::steady_clock::now() - began;
    if (options.precision == "float") {
        fit_with<float>(options, data, folder, reading.count());
    } else {
        fit_with<double>(options, data, folder, reading.count());
    }
}

} // namespace
void add_fit(CLI::App& app, const std::string& command) {
    auto options = std::make_shared<Options>();
    options->command = command;
    CLI::App* verb =
        app.add_subcommand("fit", "Factorise the data at every scale; write embeddings, one for each scale");
    add_input_options(*verb, options->input);
    verb->add_option("-o,--output", options->folder, "Folder for result.h5ad, summary.json and report.html")
        ->type_name("FOLDER")
        ->required();
    add_fit_options(*verb, options->fit);
    verb->add_option("--clusters", options->clusters,
                     "Clusters at each scale [the number that is most stable when cells are left out]")
        ->check(CLI::PositiveNumber);
    verb->add_option("--precision", options->precision, "Numbers to compute with")
        ->check(CLI::IsMember({"double", "float"}).description(""))
        ->type_name("double|float")
        ->capture_default_str();
    verb->add_option("--threads", options->threads, "Threads; results do not depend on it [all cores]")
        ->check(CLI::PositiveNumber);
    verb->add_flag(
        "--choose-rank", options->choose_rank,
        "Take the rank that predicts held-out entries best; prints the curve (an NMF for each rank "
        "tried)");
    verb->add_flag("--save-basis", options->save_basis, "Write the bases W too (needed by `pnmf transform`)");
    verb->add_flag("--no-report", options->no_report, "Write no page to look at (report.html)");
    verb->add_option("--start-from", options->start_from, "A result.h5ad with its bases to start from")
        ->check(CLI::ExistingFile);
    verb->add_option("--trace", options->trace,
                     "File for the objective after every sweep, scale and inner step");
    verb->add_option("--checkpoint-every", options->checkpoint_every, "Seconds between checkpoints")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    verb->add_option(
            "--memory", options->memory,
            "Most memory to use, as 16G or 800M: says what is kept, what rests in a file of the output "
            "folder and what is not kept [no limit]")
        ->type_name("SIZE");
    verb->add_flag(
        "--resume", options->resume,
        "Go on from the checkpoint in the output folder, without what that run had given up for its memory");
    verb->add_flag("--overwrite", options->overwrite,
                   "Replace the result in the output folder, once the new one is whole");
    verb->add_flag("--strict", options->strict, "Exit with code 3 when the run did not converge");
    verb->add_flag("--json", options->json, "Print the summary as JSON");
    verb->callback([options] { run(*options); });
}

} // namespace pnmf::cli
