#include "fit_options.hpp"
#include "fit_summary.hpp"
#include "input_options.hpp"
#include "interrupt.hpp"
#include "memory_plan.hpp"
#include "output_folder.hpp"
#include "progress.hpp"
#include "report_page.hpp"
#include "stages.hpp"
#include "trace.hpp"
#include "verbs.hpp"

#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write_text.hpp>
#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/results/assess_fit.hpp>
#include <pnmf/results/checkpoint.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/solvers/option_list.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>

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
    bool json = false;
};

template <class Real>
double bytes_needed(const PreparedFit<Real>& prepared, bool save_basis) {
    const auto scales = static_cast<double>(prepared.scales.size());
    const auto rank = static_cast<double>(prepared.rank);
    const double embeddings = scales * rank * static_cast<double>(prepared.X->cells()) * sizeof(Real);
    const double bases = scales * rank * static_cast<double>(prepared.X->features()) * sizeof(Real);
    // A checkpoint holds both factors twice, and the one before it stays until it is whole.
    return embeddings + (save_basis ? bases : 0.0) + 4.0 * (embeddings + bases);
}

/// The shape of an array of three axes; no axes when the file has no such array.
std::vector<Index> shape_in(const fs::path& path, const std::string& array) {
    try {
        return array_shape(path, array);
    } catch (const InputError&) {
        return {};
    }
}

/// InputError unless the file holds embeddings and bases of as many scales and of the same rank.
void check_start(const fs::path& path, Index scales, Index features, Index rank) {
    const auto H = shape_in(path, "uns/pnmf/H");
    require(H.size() == 3, "{}: a start must be a result of `pnmf fit`", path.string());
    const auto W = shape_in(path, "uns/pnmf/W");
    require(W.size() == 3, "{}: a start must have its bases, which `pnmf fit --save-basis` writes",
            path.string());
    require(H[0] == scales, "{}: a start must have as many scales as this run, {}, got {}", path.string(),
            scales, H[0]);
    require(H[1] == rank, "{}: a start must have the rank of this run, {}, got {}", path.string(), rank,
            H[1]);
    require(W == std::vector<Index>{scales, features, rank},
            "{}: a start must have bases of {} features at {} scales, got {} and {}", path.string(), features,
            scales, W[1], W[0]);
}

template <class Real>
Factors<Real> read_start(const fs::path& path, const PreparedFit<Real>& prepared) {
    auto factors =
        empty_factors<Real>(prepared.scales.size(), prepared.X->features(), prepared.rank, prepared.bases_in);
    for (Index t = 0; t < prepared.scales.size(); ++t) {
        factors.W[t] = read_slab(path, "uns/pnmf/W", t).cast<Real>();
        factors.H[t] = read_slab(path, "uns/pnmf/H", t).cast<Real>();
        factors.rest(t);
    }
    return factors;
}

/// A disk that is full for a while need not end a run: the checkpoint before stays.
template <class Real>
void save_or_warn(const fs::path& path, const SolverState<Real>& state, const std::string& fingerprint) {
    try {
        save_checkpoint(path, state, fingerprint);
    } catch (const SystemError& e) {
        fmt::print(stderr, "\nwarning: {}; the run goes on without this checkpoint\n", e.what());
    }
}

/// A run of the solver with what surrounds it: progress, trace, checkpoints, interruption.
template <class Real>
Stop run_watched(const Options& options, const PreparedFit<Real>& prepared, SolverState<Real>& state,
                 const std::string& fingerprint, double planned_bytes, Progress& progress, Trace& trace) {
    const fs::path checkpoint = fs::path(options.folder) / "checkpoint.bin";
    trace.past(state.trace);
    auto saved = std::chrono::steady_clock::now();
    Observer observer;
    observer.sweep = [&](const SweepReport& report) {
        progress.sweep(report);
        trace.sweep(report.sweep, report.objective.total());
        keep_to_plan(0.98 * planned_bytes);
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - saved;
        // A converged state must not be resumed: the run it belongs to makes no further sweep.
        if (since.count() >= options.checkpoint_every && !report.converged) {
            report.bring_factors();
            save_or_warn(checkpoint, state, fingerprint);
            saved = std::chrono::steady_clock::now();
        }
        return !interrupt_requested();
    };
    if (trace.wanted()) {
        observer.step = [&](const StepReport& report) { trace.step(report); };
    }
    const Problem<Real> problem = prepared.problem();
    const Stop stop = run_solver(problem, prepared.options.solver, state, observer);
    if (stop == Stop::interrupted) {
        save_checkpoint(checkpoint, state, fingerprint);
        trace.write();
    }
    return stop;
}

template <class Real>
SolverState<Real> first_state(const Options& options, const PreparedFit<Real>& prepared,
                              const std::string& fingerprint, Progress& progress) {
    if (options.resume) {
        return load_checkpoint<Real>(fs::path(options.folder) / "checkpoint.bin", fingerprint,
                                     prepared.bases_in);
    }
    const Problem<Real> problem = prepared.problem();
    if (!options.start_from.empty()) {
        return start_solver(problem, prepared.options.solver, read_start<Real>(options.start_from, prepared));
    }
    Observer observer;
    observer.starting = [&] {
        progress.starting();
        return !interrupt_requested();
    };
    return start_solver(problem, prepared.options.solver, make_start(prepared, observer));
}

/// The work is done, but the output folder does not take the result: tries the folder for temporary files,
/// and says what is left to the user.
std::string rescue(const Options& options, const std::function<void(const fs::path&)>& write_to) {
    const fs::path spare = fs::temp_directory_path() / fmt::format("pnmf-result-{}", getpid());
    try {
        fs::create_directories(spare);
        write_to(spare);
        return fmt::format("The result is kept in {} instead", spare.string());
    } catch (const std::exception&) {
        std::error_code ignored;
        fs::remove_all(spare, ignored);
    }
    return fs::exists(fs::path(options.folder) / "checkpoint.bin")
               ? "The last checkpoint stays: the same command with --resume goes on from it"
               : "No other place was found for the result";
}

/// Result and summary. When the disk refuses, what was saved on the way is not lost.
template <class Real>
void write_files(const Options& options, const Input& input, const PreparedFit<Real>& prepared,
                 const FitResult<Real>& result, const Assessment& assessment, const Json& summary) {
    const auto write_to = [&](const fs::path& folder) {
        write_result(folder / "result.h5ad", input.data, prepared, result, assessment,
                     {.save_basis = options.save_basis,
                      .transform = input.transform == Transform::log_unit ? "log-unit" : "none",
                      .command = options.command});
        write_text(folder / "summary.json", summary.dump(2) + "\n");
    };
    try {
        write_to(options.folder);
    } catch (const SystemError& e) {
        throw SystemError(fmt::format("{}\n{}", e.what(), rescue(options, write_to)));
    }
}

AssessOptions assess_options(const Options& options, double room) {
    AssessOptions result{.seed = options.fit.seed, .room = room};
    if (options.clusters > 0) {
        result.clusters = options.clusters;
    }
    return result;
}

/// Makes the run fit into `--memory`, and says how.
template <class Real>
MemoryPlan keep_to_memory(const Options& options, PreparedFit<Real>& prepared) {
    const FitSize size = fit_size(prepared, options.resume || !options.start_from.empty());
    constexpr double libraries = 3e6; // what those not used yet will bring in
    MemoryPlan plan = plan_memory(parse_size(options.memory), resident_bytes() + libraries, size,
                                  prepared.options.solver, sizeof(Real), thread_count(),
                                  {.files = is_on_disk(options.folder), .keep_less = !options.resume});
    fmt::print(stderr, "{}\n", plan.text);
    if (!plan.keep_momentum) {
        prepared.options.solver.extrapolate = false;
    }
    if (!plan.keep_shifts) {
        prepared.options.solver.shift_components = false;
    }
    if (plan.bases_rest) {
        prepared.bases_in = options.folder;
    }
    return plan;
}

template <class Real>
void fit_with(const Options& options, const Input& input, Stages& stages) {
    const fs::path folder = options.folder;
    require(options.clusters <= input.data.cells(),
            "--clusters must be at most the number of cells, {}, got {}", input.data.cells(),
            options.clusters);
    stages.begin("preparing");
    PreparedFit<Real> prepared = prepare_fit<Real>(view_of(input.data.X), options.fit);
    print_notices(prepared.notices);
    fmt::print(stderr, "{} scale{}, finest {:.6g}, coarsest {:.6g}\n", prepared.scales.size(),
               prepared.scales.size() == 1 ? "" : "s", prepared.scales.epsilon.front(),
               prepared.scales.epsilon.back());
    if (!options.start_from.empty()) {
        check_start(options.start_from, prepared.scales.size(), prepared.X->features(), prepared.rank);
    }
    if (options.resume) {
        go_on_as_begun(folder / "checkpoint.bin", prepared.options.solver);
    }
    const MemoryPlan plan = options.memory.empty() ? MemoryPlan{} : keep_to_memory(options, prepared);
    make_output_folder(folder, plan.file_bytes + bytes_needed(prepared, options.save_basis));
    const SolverOptions& solver = prepared.options.solver;
    Progress progress(solver.tolerance.value_or(default_tolerance(solver)),
                      solver.max_sweeps.value_or(default_max_sweeps(solver)),
                      solver.algorithm == Algorithm::stationary && solver.stop == StopRule::certificate);
    Trace trace(options.trace);
    trace.begin(options.resume);
    const std::string fingerprint = run_fingerprint(prepared.options, input.data.X);

    catch_interrupts();
    stages.begin("start");
    SolverState<Real> state = first_state(options, prepared, fingerprint, progress);
    if (!options.memory.empty()) {
        give_back_memory();
    }
    stages.begin("sweeps");
    const Stop stop = run_watched(options, prepared, state, fingerprint, plan.bytes, progress, trace);
    if (stop == Stop::interrupted) {
        progress.end_line();
        fmt::print(stderr,
                   "pnmf: interrupted after sweep {} and saved; the same command with --resume goes on from "
                   "there\n",
                   state.trace.size() - 1);
        throw Exit{1};
    }
    progress.end_line();
    stages.begin("assessing");
    const FitResult<Real> result = finish_fit(prepared, std::move(state), stop);
    if (!options.memory.empty()) {
        give_back_memory();
    }
    const Assessment assessment = assess_fit(prepared, result, assess_options(options, plan.room_after));
    print_notices(assessment.notices);
    Json summary = summary_json(prepared, result, assessment);
    summary["input"] = options.input.path;
    summary["precision"] = options.precision;
    summary["seconds"] = stages.total();
    summary["seconds_of"] = stages.seconds();
    summary["peak_bytes"] = peak_bytes();
    if (plan.bytes > 0.0) {
        summary["planned_bytes"] = plan.bytes;
    }
    if (plan.bases_rest) {
        summary["file_bytes"] = plan.file_bytes;
    }
    write_files(options, input, prepared, result, assessment, summary);
    std::error_code ignored;
    fs::remove(folder / "checkpoint.bin", ignored);
    trace.write();
    std::string files = (folder / "result.h5ad").string();
    if (!options.no_report) {
        const auto basis = [&result](Index t) -> Matrix {
            DenseMatrix<Real> room;
            return result.factors.basis(t, room).template cast<double>();
        };
        if (write_page(folder / "report.html",
                       {.result = folder / "result.h5ad", .data = &input.data, .basis = basis})) {
            files += " and " + (folder / "report.html").string();
        }
    }

    for (const std::string& warning : result.warnings) {
        fmt::print(stderr, "warning: {}\n", warning);
    }
    if (options.json) {
        fmt::print("{}\n", summary.dump(2));
    } else {
        print_summary(summary, result, files);
    }
    if (options.strict && stop != Stop::converged && solver.algorithm != Algorithm::reference) {
        throw Exit{3};
    }
}

/// What can be known to fail before the data are read.
void check_output(const Options& options) {
    const fs::path folder = options.folder;
    check_output_folder(folder);
    const bool checkpoint = fs::exists(folder / "checkpoint.bin");
    if (options.resume) {
        require(checkpoint, "{}: there is no checkpoint to resume{}", (folder / "checkpoint.bin").string(),
                fs::exists(folder / "result.h5ad") ? ": the run in this folder has ended" : "");
    } else if (checkpoint) {
        fmt::print(stderr,
                   "{}: left by an interrupted run, which --resume would go on with; this run "
                   "begins anew and replaces it\n",
                   (folder / "checkpoint.bin").string());
    }
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
    check_output(options);
    Stages stages;
    stages.begin("reading");
    Input input = read_input(options.input);
    if (!input.labels.empty()) {
        std::erase_if(input.data.cell_table,
                      [](const TableColumn& column) { return column.name == "label"; });
        input.data.cell_table.push_back({.name = "label", .values = input.labels, .categorical = true});
    }
    if (options.choose_rank) {
        options.fit.rank = rank_by_held_out_entries(input.data.X, options.fit.seed);
    }
    if (options.precision == "float") {
        fit_with<float>(options, input, stages);
    } else {
        fit_with<double>(options, input, stages);
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
    verb->add_flag("--strict", options->strict, "Exit with code 3 when the run did not converge");
    verb->add_flag("--json", options->json, "Print the summary as JSON");
    verb->callback([options] { run(*options); });
}

} // namespace pnmf::cli
