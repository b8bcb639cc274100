#include "cells/processes.hpp"
#include "fit_plan.hpp"
#include "fit_summary.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "io/formats.hpp"
#include "json_text.hpp"
#include "option_flags.hpp"
#include "processes.hpp"
#include "progress.hpp"
#include "rank_output.hpp"
#include "report_page.hpp"
#include "results/resolution_columns.hpp"
#include "say.hpp"
#include "trace.hpp"
#include "verbs.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/results/save_run.hpp>
#include <pnmf/results/score_result.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/solvers/option_list.hpp>
#include <pnmf/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

/// Stored values up to which the first process takes those of all processes, after the fit, for the colours
/// of the page: 1.2 GB.
constexpr std::int64_t entries_on_page = 100'000'000;
/// Cells up to which a fit without a loop is compared with one that has it, which takes as long again.
constexpr Index most_compared = 20'000;
constexpr Index genes_in_table = 100; ///< of each program in programs.tsv; the result has the scores of all

struct FitRequest : InputFlags {
    std::string folder;
    std::string trace;
    std::string start_from;
    std::string command;
    Index clusters = 0;
    Index domains = 0;
    double checkpoint_every = 300.0;
    std::string memory; ///< a size; empty: no limit
    bool save_basis = false;
    bool no_report = false;
    bool results_only = false;
    bool choose_rank = false;
    bool plan = false;
    bool strict = false;
    bool resume = false;
    bool overwrite = false;
    bool json = false;
    ProgressStyle progress = ProgressStyle::automatic;
};

RunOptions run_options(const FitRequest& options, const Work& work, RunFolder* folder) {
    RunOptions result{.fit = work.analysis.fit,
                      .space = work.data.space ? &work.data.space->coordinates : nullptr,
                      .local = work.data.local,
                      .folder = folder,
                      .checkpoint_every = options.checkpoint_every,
                      .start_from = options.start_from.empty()
                                        ? std::nullopt
                                        : std::optional(known_fit(read_stored_result(options.start_from))),
                      .save_basis = options.save_basis};
    if (options.clusters > 0) {
        result.clusters = options.clusters;
    }
    if (work.analysis.preset == Preset::spatial) {
        result.tissue = TissueRun{.domains = {.seed = work.analysis.fit.seed},
                                  .types = options_of_types(work.analysis.fit, work.data.cells()),
                                  .expression = work.data.expression ? &*work.data.expression : nullptr};
        if (options.domains > 0) {
            result.tissue->domains.domains = options.domains;
        }
    }
    if (!options.memory.empty()) {
        result.memory = parse_size(options.memory);
    }
    return result;
}

/// Adds the clusters that the same fit finds where no loop is left out of it.
template <class Real>
void add_clusters_with_loop(const FitRequest& options, Work& work) {
    if (!work.analysis.with_loop) {
        return;
    }
    std::vector<TableColumn>& table = work.data.cell_table;
    std::erase_if(table, [](const TableColumn& one) { return one.name == with_loop_column; });
    if (work.data.cells() > most_compared || !options.memory.empty()) {
        say("the clusters are not compared with those of a fit with the loop: {}\n",
            options.memory.empty() ? fmt::format("there are more than {} cells", most_compared)
                                   : "memory is limited");
        return;
    }
    say("a fit with the loop comes first, to compare the clusters\n");
    RunOptions with = run_options(options, work, nullptr);
    (with.tissue ? with.tissue->expression : with.space) = &*work.analysis.with_loop;
    const Assessment found = run_fit<Real>(view_of(work.data.X), with, {}).assessment;
    table.push_back(cluster_column(
        with_loop_column, found.clusters[static_cast<std::size_t>(found.recommended)], found.cluster_count));
}

/// What the run says goes to stderr and to the trace; a signal stops it.
RunObserver watch(const FitRequest& options, Progress& progress, Trace& trace) {
    RunObserver observer;
    observer.progress = [&, begun = false](const RunProgress& report) mutable {
        if (report.stage == Stage::starting && !begun) {
            trace.begin(options.resume); // the folder is there now
            catch_interrupts(is_host(), all_processes().count() > 1);
            begun = true;
        }
        if (report.sweep != nullptr) {
            progress.sweep(report);
            trace.sweep(report.sweep->sweep, report.sweep->objective.total());
        } else {
            progress.stage(report);
        }
        return interrupt_signal() == 0;
    };
    if (!options.trace.empty()) { // on all processes, or they would not take the same steps
        observer.step = [&](const StepReport& report) { trace.step(report); };
        observer.past = [&](const std::vector<Objective>& sweeps) { trace.past(sweeps); };
    }
    observer.notice = [&](const std::string& text) {
        progress.end_line();
        say("{}\n", text);
    };
    observer.warning = [&](const std::string& text) {
        progress.end_line();
        say("warning: {}\n", text);
    };
    return observer;
}

template <class Real>
Run<Real> run_watched(const FitRequest& options, const Work& work, RunFolder& folder, Trace& trace) {
    const SolverOptions& solver = work.analysis.fit.solver;
    Progress progress(solver.algorithm == Algorithm::stationary && solver.stop == StopRule::certificate,
                      options.progress);
    try {
        return run_fit<Real>(view_of(work.data.X), run_options(options, work, &folder),
                             watch(options, progress, trace));
    } catch (const Interrupted& e) {
        progress.end_line();
        say("pnmf: {}{}\n", e.what(),
            e.saved() ? "; the same command with --resume continues from there" : "");
        trace.write();
        throw Exit{128 + static_cast<int>(most_of(all_processes(), interrupt_signal()))};
    }
}

/// The labels that the user gave, from 0; empty for none.
std::vector<Index> labels_of(const FitRequest& options, const Dataset& data) {
    const TableColumn* const labels = io::find_column(data.cell_table, "label");
    return options.analysis.labels.empty() || labels == nullptr
               ? std::vector<Index>{}
               : relabel(std::get<std::vector<std::string>>(labels->values));
}

/// Whether the features are genes, as far as the program knows.
bool has_programs(const Work& work) {
    return work.analysis.preset == Preset::cells || work.analysis.preset == Preset::spatial;
}

template <class Real>
Json summary_of(const FitRequest& options, const Work& work, const Run<Real>& run,
                const StoredResult& stored) {
    Json json;
    json["program"] = std::string("pnmf ") + PNMF_VERSION;
    json["input"] = options.path;
    json["preset"] = name_of(work.analysis.preset);
    json["space"] = work.data.space ? work.data.space->name : "none";
    json.update(Json::parse(summary_json(run)));
    if (run.domains && work.data.space && work.data.space->unit_um) {
        for (const double epsilon : run.result.scales.epsilon) {
            json["domains"]["micrometres"].push_back(epsilon * *work.data.space->unit_um);
        }
    }
    const std::vector<Index> labels = labels_of(options, work.data);
    add_agreement(json, labels, run.assessment);
    add_agreement(json, labels, run.domains);
    if (work.analysis.with_loop) {
        add_loop_comparison(json, work.data, run.assessment);
    }
    if (const auto scores = batch_scores(stored, labels)) {
        json["batch"] = Json::parse(to_json(*scores));
    }
    Json stages{{"reading", work.reading}};
    stages.update(json["seconds_of"]);
    json["seconds"] = json["seconds"].get<double>() + work.reading;
    json["seconds_of"] = std::move(stages);
    if (has_programs(work)) {
        json["programs"] = programs_json(stored);
    }
    return json;
}

/// The files that were written, in words. What an older run left is not kept beside a new result.
template <class Real>
std::string write_files(const FitRequest& options, const Work& work, const Run<Real>& run,
                        const StoredResult& stored, const RunFolder& folder, const Json& summary) {
    const Dataset& data = work.data;
    const bool kept = (data.input.format == "h5ad" || data.input.format == "zarr") && !options.results_only &&
                      data.input.cells.value_or(CellAxis::rows) == CellAxis::rows;
    const std::string left_out = save_run(folder, data, run,
                                          {.save_basis = options.save_basis,
                                           .command = options.command,
                                           .kept_from = kept ? options.path : std::string()},
                                          json_text(summary) + "\n");
    if (!left_out.empty()) {
        say("warning: {}\n", left_out);
    }
    const fs::path page = folder.path() / "report.html";
    const fs::path table = folder.path() / "programs.tsv";
    std::error_code ignored;
    fs::remove(page, ignored);
    fs::remove(genes_beside(page), ignored);
    fs::remove(table, ignored);
    std::string files = folder.result().string();
    if (const auto programs = has_programs(work) ? stored_programs(stored) : std::nullopt) {
        try {
            write_text(table, programs_table(*programs, genes_in_table));
        } catch (const SystemError& e) { // as for the page: the result is there
            say("warning: the result is written, but not its table of programs: {}\n", e.what());
        }
    }
    if (options.no_report) {
        return files;
    }
    if (data.local) {
        say("report.html has no colours by gene: each process has some of the values, and too many to "
            "bring "
            "together; `pnmf report` adds them\n");
    }
    if (write_page(page, {.result = &stored, .data = data.local ? nullptr : &data})) {
        const fs::path genes = genes_beside(page);
        files += fs::exists(genes)
                     ? fmt::format(", {} and {}, further genes for the page", page.string(), genes.string())
                     : " and " + page.string();
    }
    return files;
}

template <class Real>
void write_and_print(const FitRequest& options, const Work& work, const Run<Real>& run,
                     const RunFolder& folder, const Trace& trace) {
    const StoredResult stored = stored_result(result_file(work.data, run.prepared, run.result, run.assessment,
                                                          {.save_basis = true,
                                                           .command = options.command,
                                                           .domains = run.domains ? &*run.domains : nullptr}),
                                              folder.result().string());
    const Json summary = summary_of(options, work, run, stored);
    const std::string files = write_files(options, work, run, stored, folder, summary);
    trace.write();
    for (const std::string& warning : run.result.warnings) {
        say("warning: {}\n", warning);
    }
    if (options.json) {
        put_json(summary);
    } else {
        print_summary(summary, run.result, files);
    }
    if (options.progress == ProgressStyle::json) {
        say_event({{"event", "done"}, {"result", folder.result().string()}, {"seconds", summary["seconds"]}});
    }
}

template <class Real>
void fit_with(const FitRequest& options, Work& work, RunFolder& folder) {
    add_clusters_with_loop<Real>(options, work);
    Trace trace(is_host() ? options.trace : "");
    Run<Real> run = run_watched<Real>(options, work, folder, trace);
    keep_embeddings(run, folder.path());
    if (!options.no_report && work.data.local && run.prepared.X->nonzeros() <= entries_on_page) {
        gather_values(work.data, GatherTo::first); // from here on nobody reads the values of the run
    } else {
        gather_space(work.data); // for the result file
    }
    if (is_host()) {
        const ProcessesScope alone(one_process()); // the others do not take part
        write_and_print(options, work, run, folder, trace);
    }
    if (options.strict && run.result.stop != Stop::converged &&
        work.analysis.fit.solver.algorithm != Algorithm::reference) {
        throw Exit{3};
    }
}

FolderUse use_of(const FitRequest& options) {
    return options.resume ? FolderUse::resume : options.overwrite ? FolderUse::overwrite : FolderUse::fresh;
}

/// The rank by held-out entries, as `pnmf rank` finds it, with its curve on stderr.
Index rank_by_held_out_entries(const DataValues& X, std::uint64_t seed, ProgressStyle style) {
    RankOptions options;
    options.seed = seed;
    const RankCurve curve = watched_choose_rank(X, options, style);
    say("error on held-out entries (and stability of the programs):");
    for (std::size_t i = 0; i < curve.ranks.size(); ++i) {
        say(" rank {}: {:.4f} ({:.2f})", curve.ranks[i], curve.error[i], curve.stability[i]);
    }
    say("\nrank {}: the smallest within one standard error of the best\n", curve.chosen);
    return curve.chosen;
}

/// A start is of these cells and genes, in this order: numbers of others would fit by their count alone.
void check_start_names(const std::string& path, const Dataset& data) {
    const StoredResult start = read_stored_result(path);
    require(start.file.cell_names == data.cell_names,
            "{}: the cells of the start are not those of these data, or stand in another order", start.name);
    require(start.features == data.feature_names,
            "{}: the genes of the start are not those of these data, or stand in another order", start.name);
}

void run(FitRequest options, const CLI::App& verb) {
    require(!options.choose_rank || !options.analysis.fit.rank,
            "--rank and --choose-rank exclude each other");
    require(!options.choose_rank || !options.resume, "--choose-rank cannot be resumed: give --rank");
    if (!options.memory.empty()) {
        parse_size(options.memory); // before anything is read
    }
    check_algorithm(options.analysis.fit.solver.algorithm);
    RunFolder folder(options.folder, options.plan ? FolderUse::overwrite : use_of(options),
                     is_host() && !options.plan ? FolderRole::host : FolderRole::guest);
    Work work = read_work(options, verb);
    require(options.domains == 0 || work.analysis.preset == Preset::spatial,
            "--domains is for the preset spatial, not for {}; say where the cells lie with --places",
            name_of(work.analysis.preset));
    if (options.plan) {
        require(all_processes().count() == 1, "--plan is for one process");
        return print_plan(work, run_options(options, work, &folder), !options.no_report, options.json);
    }
    if (!options.start_from.empty()) {
        check_start_names(options.start_from, work.data);
    }
    if (options.choose_rank) {
        gather_values(work.data, GatherTo::everyone);
        work.analysis.fit.rank =
            rank_by_held_out_entries(work.data.X, work.analysis.fit.seed, options.progress);
    }
    if (work.analysis.precision == Precision::single) {
        fit_with<float>(options, work, folder);
    } else {
        fit_with<double>(options, work, folder);
    }
}

} // namespace
void add_fit(CLI::App& app, const std::string& command) {
    auto options = std::make_shared<FitRequest>();
    options->command = command;
    CLI::App* verb = app.add_subcommand(
        "fit", "Find groups of cells and gene programs at several scales; writes .h5ad and a page");
    verb->add_option("-o,--output", options->folder,
                     "Folder to write result.h5ad, summary.json, programs.tsv and report.html into")
        ->type_name("FOLDER")
        ->required();
    OptionNames names = of_distances;
    names.insert({"unit-um", "within", "without-loop", "precision"});
    add_input_flags(*verb, *options, names);
    add_fit_flags(*verb, *options);
    verb->add_option("--clusters", options->clusters,
                     "Number of clusters [found by testing splits, at several levels]")
        ->check(whole_number_from(1));
    verb->add_option(
            "--domains", options->domains,
            "Preset spatial: number of domains, parts of the tissue such as layers [found from the data]")
        ->check(whole_number_from(1));
    add_threads_flag(*verb);
    verb->add_flag("--choose-rank", options->choose_rank,
                   "Choose the rank that predicts left-out entries best, as `pnmf rank` does. Costs ten NMFs "
                   "for each rank "
                   "tried; prints their errors");
    verb->add_flag(
        "--save-basis", options->save_basis,
        "Also store the gene programs of every scale (W), not only of the recommended one; `pnmf transform` "
        "needs them for the others");
    verb->add_flag("--results-only", options->results_only,
                   "Leave obsm, varm, obsp, layers, raw and uns of an .h5ad file out of result.h5ad");
    verb->add_flag("--no-report", options->no_report, "Do not write the page report.html");
    verb->add_option("--start-from", options->start_from,
                     "Start from an earlier result, a folder or .h5ad file, stored with --save-basis")
        ->type_name("RESULT");
    verb->add_option("--trace", options->trace,
                     "Write the objective after every sweep and every step to this file");
    verb->add_option("--checkpoint-every", options->checkpoint_every,
                     "Save a checkpoint every so many seconds")
        ->check(not_negative())
        ->capture_default_str();
    verb->add_option(
            "--memory", options->memory,
            "Most memory to use, such as 16G or 800M. A plan is printed first. If the run does not fit, W "
            "goes to temporary files in the output folder; if that is not enough, scales or momentum are "
            "given up, which changes the result and is recorded in it [what does not fit into free memory "
            "with these files is refused]")
        ->type_name("SIZE");
    verb->add_flag(
        "--resume", options->resume,
        "Continue an interrupted run from the checkpoint in the output folder; the result is the same to the "
        "last bit");
    verb->add_flag("--overwrite", options->overwrite,
                   "Replace the result in the output folder, but only once the new one is complete")
        ->excludes("--resume");
    verb->add_flag("--plan", options->plan,
                   "Read and prepare the data, print the time of each stage, the memory and the disk space "
                   "that the run would take, and end; nothing is written");
    verb->add_flag("--strict", options->strict, "Exit with code 3 if the run did not converge");
    add_progress_option(*verb, options->progress);
    add_json_flag(*verb, options->json);
    verb->callback([options, verb] { run(*options, *verb); });
}

} // namespace pnmf::cli
