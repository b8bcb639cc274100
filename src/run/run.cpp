#include "cells/processes.hpp"
#include "graphs/sparse_graph.hpp"
#include "run/assess_tissue.hpp"
#include "run/plan_run.hpp"
#include "run/process_memory.hpp"
#include "run/run_stages.hpp"
#include "run/split_space.hpp"
#include "run/start_from.hpp"
#include "run/sweep_bytes.hpp"
#include "run/tissue_types.hpp"
#include "solvers/prepare_local.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/run/checkpoint.hpp>
#include <pnmf/run/run.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace pnmf {
namespace {

Index cells_of(const DataView& X, const RunOptions& options) {
    return options.local ? options.local->all : cells_of(X);
}

void check_run_options(const DataView& X, const RunOptions& options) {
    const Index cells = cells_of(X, options);
    require(!options.clusters || (*options.clusters >= 1 && *options.clusters <= cells),
            "clusters must be between 1 and the number of cells, {}, got {}", cells,
            options.clusters.value_or(0));
    require(std::isfinite(options.checkpoint_every) && options.checkpoint_every >= 0.0,
            "seconds between checkpoints must be at least 0, got {}", options.checkpoint_every);
    require(!options.local || options.space == nullptr || options.space->cols() == options.local->count,
            "where each process has a part of X, a space that distances come from must have the same cells");
    require(!options.tissue || options.tissue->expression != nullptr,
            "types of cells in a tissue need coordinates of the cells in what they express");
    require(options.memory.value_or(1.0) > 0.0, "memory must be more than 0 bytes, got {}",
            options.memory.value_or(0.0));
}

/// Saves a run into its folder; without a folder it does nothing.
class Saver {
  public:
    Saver(const RunOptions& options, const RunObserver& observer, std::string fingerprint)
        : folder_(options.folder), local_(options.local), every_(options.checkpoint_every),
          observer_(observer), fingerprint_(std::move(fingerprint)) {}

    /// The scales of the run among all, once few are found that stand for them.
    void set_kept(std::vector<Index> positions) { kept_ = std::move(positions); }
    /// None but where the user ends the run.
    void save_none() { every_ = std::numeric_limits<double>::infinity(); }

    const std::string& fingerprint() const { return fingerprint_; }
    /// By the clock of the first process, which saves for all.
    bool due() const {
        double due = folder_ != nullptr && seconds_since(saved_) >= every_ ? 1.0 : 0.0;
        broadcast(all_processes(), std::span(&due, 1), 0);
        return due > 0.0;
    }
    /// Whether it was saved.
    template <class State>
    bool save(const State& state) {
        if (folder_ == nullptr) {
            return false;
        }
        if (folder_->role() == FolderRole::guest && !local_) {
            return true; // the host does it, and has all that it needs
        }
        if constexpr (requires { state.unchained; }) {
            save_checkpoint(folder_->checkpoint(), state, fingerprint_, local_);
        } else {
            save_checkpoint(folder_->checkpoint(), state, fingerprint_, kept_, local_);
        }
        saved_ = RunClock::now();
        return true;
    }
    /// A disk that is full for a while need not end a run: the checkpoint before stays.
    template <class State>
    void save_or_warn(const State& state) {
        try {
            save(state);
        } catch (const SystemError& e) {
            saved_ = RunClock::now();
            if (observer_.warning) {
                observer_.warning(fmt::format("{}; the run continues without this checkpoint", e.what()));
            }
        }
    }

  private:
    RunFolder* folder_;
    std::optional<CellRange> local_; ///< what this process has of the cells
    double every_;
    const RunObserver& observer_;
    std::string fingerprint_;
    std::vector<Index> kept_;
    RunClock::time_point saved_ = RunClock::now();
};

template <RealNumber Real>
void announce(const PreparedFit<Real>& prepared, const RunStages& stages) {
    for (const std::string& notice : prepared.notices) {
        stages.notice(notice);
    }
    stages.notice(fmt::format("{} scale{}, finest {:.6g}, coarsest {:.6g}", prepared.scales.size(),
                              prepared.scales.size() == 1 ? "" : "s", prepared.scales.epsilon.front(),
                              prepared.scales.epsilon.back()));
}

/// Makes few scales those of the run, as they were found before.
template <RealNumber Real>
void keep_known_scales(PreparedFit<Real>& prepared, const std::vector<Index>& positions,
                       const RunStages& stages) {
    require(!positions.empty() && positions.back() + 1 == prepared.scales.size(),
            "the scales kept are not among the {} of these data", prepared.scales.size());
    keep_scales(prepared, positions);
    stages.notice(prepared.notices.back());
}

/// A run that gave something up for its memory goes on without it, and says so: its sweeps must be the same.
void go_on_as_begun(const std::filesystem::path& checkpoint, SolverOptions& solver, const RunStages& stages) {
    const std::string lines = fmt::format("\n{}", checkpoint_fingerprint(checkpoint));
    for (const auto& [option, chosen] : {std::pair("extrapolate", &solver.extrapolate),
                                         std::pair("shift-components", &solver.shift_components)}) {
        if (*chosen && lines.find(fmt::format("\n{} false\n", option)) != std::string::npos) {
            *chosen = false;
            stages.notice(
                fmt::format("{}: the run began with {} false and continues so", checkpoint.string(), option));
        }
    }
}

/// Makes the run fit into its memory, and says how where the user asked, or where something had to give.
template <RealNumber Real>
MemoryPlan keep_to_memory(const MemoryLimit& allowed, const RunOptions& options, PreparedFit<Real>& prepared,
                          const RunStages& stages) {
    if (allowed.limit <= 0.0) {
        return {};
    }
    const bool resumed = resumes(options);
    const std::size_t before = prepared.notices.size();
    MemoryPlan plan = fit_into(allowed, options, prepared, resumed,
                               resumed && saved_in_start(options.folder->checkpoint()));
    for (std::size_t i = before; i < prepared.notices.size(); ++i) {
        stages.notice(prepared.notices[i]);
    }
    if (!allowed.given) {
        plan.free_after = MemoryPlan{}.free_after; // what is free now need not be so after the last sweep
    }
    if (allowed.given || plan.bases_rest || !plan.keep_momentum || !plan.keep_shifts) {
        stages.notice(plan.text);
    }
    return plan;
}

/// Memory that may have left out scales: where the user gave the limit, it counts as one on their number and
/// is recorded so; else the run is refused, for its result must not depend on what was free.
template <RealNumber Real>
void settle_most_scales(const MemoryLimit& allowed, PreparedFit<Real>& prepared, const RunStages& stages) {
    std::optional<Index>& most = prepared.options.filtration.scales.max_scales;
    const Index fit = prepared.most_scales;
    const bool left_out = prepared.kept && prepared.scales.size() == fit && fit < prepared.kept->all.size() &&
                          (!most || fit < *most);
    if (!left_out) {
        return;
    }
    require(
        allowed.given, Remedy::need_less_memory,
        "memory: {} scales or more are needed, and so many fit at most. A larger error at scales that are "
        "left out, fewer scales or a lower rank needs less",
        fit);
    most = fit;
    prepared.notices.push_back(fmt::format(
        "no more than {} scales fit into the limit on memory: the result is that of at most so many", fit));
    stages.notice(prepared.notices.back());
}

struct DiskNeed {
    double result = 0.0;
    double checkpoints = 0.0;
};

template <RealNumber Real>
DiskNeed bytes_on_disk(const PreparedFit<Real>& prepared, bool save_basis) {
    const auto scales = static_cast<double>(expected_scales(prepared));
    const auto rank = static_cast<double>(prepared.rank);
    const double embeddings = scales * rank * static_cast<double>(prepared.X->cells()) * sizeof(Real);
    const double bases = scales * rank * static_cast<double>(prepared.X->features()) * sizeof(Real);
    // A checkpoint holds both factors twice, and the one before it stays until it is whole.
    return {.result = embeddings + (save_basis ? bases : 0.0), .checkpoints = 4.0 * (embeddings + bases)};
}

/// The start, made or gone on with, saved on the way.
template <RealNumber Real>
SolverState<Real> made_state(PreparedFit<Real>& prepared, StartState<Real> from, RunStages& stages,
                             Saver& saver) {
    bool saved = false;
    StartLog<Real> log{.from = std::move(from), .reached = {}};
    log.reached = [&](const StartState<Real>& state, const std::function<void()>& bring_factors) {
        const bool go_on = stages.step_of_start();
        const bool due = saver.due();
        if (!go_on || due) {
            bring_factors();
        }
        if (!go_on) {
            saved = saver.save(state);
        } else if (due) {
            saver.save_or_warn(state);
        }
        return go_on;
    };
    try {
        const std::size_t before = prepared.notices.size();
        Factors<Real> start = prepared.adapts() ? adapted_start(prepared, {}, std::move(log))
                                                : make_start(prepared, {}, std::move(log));
        for (std::size_t i = before; i < prepared.notices.size(); ++i) {
            stages.notice(prepared.notices[i]);
        }
        return start_solver(prepared.problem(), prepared.options.solver, std::move(start));
    } catch (const Interrupted&) {
        throw Interrupted(saved ? "interrupted while the start was made, and saved"
                                : "interrupted before the first sweep",
                          saved);
    }
}

template <RealNumber Real>
SolverState<Real> first_state(const RunOptions& options, PreparedFit<Real>& prepared, RunStages& stages,
                              Saver& saver) {
    StartState<Real> from;
    if (resumes(options)) {
        from = load_start<Real>(options.folder->checkpoint(), saver.fingerprint(), prepared.bases_in,
                                options.local);
        if (from.scales == 0) {
            if (prepared.adapts()) {
                keep_known_scales(prepared, from.kept, stages);
            }
            return std::move(from.state);
        }
    } else if (options.start_from) {
        if (prepared.adapts()) {
            keep_known_scales(prepared, kept_of_start(*options.start_from), stages);
        }
        check_start(*options.start_from, prepared);
        return start_solver(prepared.problem(), prepared.options.solver,
                            read_start(*options.start_from, prepared));
    }
    return made_state(prepared, std::move(from), stages, saver);
}

template <RealNumber Real>
Stop sweep(const PreparedFit<Real>& prepared, SolverState<Real>& state, double planned, RunStages& stages,
           Saver& saver, const RunObserver& watcher, SweepBytes& bytes) {
    if (watcher.past) {
        watcher.past(state.trace);
    }
    Observer observer;
    observer.step = watcher.step;
    observer.sweep = [&](const SweepReport& report) {
        bytes.end(state);
        const bool go_on = stages.after(report);
        keep_to_plan(0.98 * planned);
        // A converged state must not be resumed: the run it belongs to makes no further sweep.
        if (go_on && saver.due() && !report.converged) {
            report.bring_factors();
            saver.save_or_warn(state);
        }
        bytes.begin(state);
        return go_on;
    };
    const Stop stop = run_solver(prepared.problem(), prepared.options.solver, state, observer);
    if (stop == Stop::interrupted) {
        const bool saved = saver.save(state);
        throw Interrupted(
            fmt::format("interrupted after sweep {}{}", state.trace.size() - 1, saved ? " and saved" : ""),
            saved);
    }
    return stop;
}

/// The clusters of a run by neighbours in expression, as one without places would have them.
template <class Real>
Assessment types_of(const DataView& X, const RunOptions& options, RunStages& stages) {
    constexpr double share = 0.5; ///< of the work
    stages.begin(Stage::preparing, "types");
    RunObserver observer = stages.of_part(share);
    observer.notice = [&](const std::string& text) { stages.notice(fmt::format("types: {}", text)); };
    const RunFolder* const folder = options.folder;
    const std::string fingerprint =
        folder == nullptr ? std::string() : types_fingerprint(X, *options.tissue, options.clusters);
    if (folder != nullptr && folder->use() == FolderUse::resume) {
        if (auto kept = load_types(folder->types(), fingerprint)) {
            stages.notice("types: those that the run had found");
            return std::move(*kept);
        }
    }
    const RunOptions by_expression{.fit = options.tissue->types,
                                   .space = options.tissue->expression,
                                   .clusters = options.clusters,
                                   .memory = options.memory};
    Assessment types = run_fit<Real>(X, by_expression, observer).assessment;
    if (folder != nullptr) {
        save_types(folder->types(), fingerprint, types);
    }
    return types;
}

} // namespace

template <RealNumber Real>
Run<Real> run_fit(const DataView& X, const RunOptions& options, const RunObserver& observer) {
    check_run_options(X, options);
    Run<Real> run;
    RunStages stages(observer, options.fit.solver);
    const MemoryLimit allowed = memory_limit(options);
    const ArrayScope arrays(X, options, allowed, sizeof(Real));
    check_memory(X, options, allowed, sizeof(Real));
    if (!stages.begin(Stage::preparing, "preparing")) {
        throw Interrupted();
    }
    const DataView points = options.space != nullptr ? DataView(view_of(*options.space)) : X;
    FitOptions fit = options.fit;
    fit.data_may_stay = can_copy_data(X, options, allowed, sizeof(Real));
    run.prepared = options.local ? prepare_local_fit<Real>(X, points, *options.local, fit)
                   : options.space == nullptr
                       ? prepare_fit<Real>(X, fit)
                       : prepare_fit<Real>(X, Points(points, fit.filtration.metric), fit);
    PreparedFit<Real>& prepared = run.prepared;
    give_back_memory(); // the neighbour search has freed more than the start can use
    announce(prepared, stages);
    if (!arrays.notice().empty()) {
        stages.notice(arrays.notice());
    }
    if (options.start_from && !prepared.adapts()) {
        check_start(*options.start_from, prepared); // before all work
    }
    if (resumes(options)) {
        go_on_as_begun(options.folder->checkpoint(), prepared.options.solver, stages);
    }
    run.plan = keep_to_memory(allowed, options, prepared, stages);
    if (!resumes(options)) {
        const int processes = all_processes().count();
        const Device device = prepared.options.solver.device;
        const std::string time =
            device == Device::cpu
                ? fmt::format("{} on {} thread{}", rough_time(estimated_seconds(prepared) / processes),
                              thread_count(), thread_count() == 1 ? "" : "s")
                : fmt::format("not estimated on the device {}", name_of(device));
        stages.notice(fmt::format("time: {}{}, in memory of about {}{}", time,
                                  processes > 1 ? fmt::format(" of each of {} processes", processes) : "",
                                  size_words(run.plan.bytes), processes > 1 ? " on each" : ""));
    }
    std::string no_checkpoints; // why there are none
    if (options.folder != nullptr) {
        const DiskNeed need = bytes_on_disk(prepared, options.save_basis);
        no_checkpoints = options.folder->make(run.plan.file_bytes + need.result, need.checkpoints);
    }
    const bool several = all_processes().count() > 1;
    std::string fingerprint;
    if (options.folder != nullptr || several) {
        fingerprint = run_fingerprint(prepared.options, X, options.space, options.local) +
                      order_fingerprint(prepared.order);
    }
    if (several) {
        check_same_data(fingerprint);
    }
    Saver saver(options, observer, fingerprint);
    if (!no_checkpoints.empty()) {
        stages.notice(no_checkpoints);
        saver.save_none();
    }
    const Assessment types = options.tissue ? types_of<Real>(X, options, stages) : Assessment{};
    if (!stages.begin(Stage::starting, "start")) {
        throw Interrupted();
    }
    SolverState<Real> state = first_state(options, prepared, stages, saver);
    if (prepared.kept) {
        saver.set_kept(prepared.kept->position);
    }
    settle_most_scales(allowed, prepared, stages);
    give_back_memory();
    stages.begin(Stage::sweeping, "sweeps");
    SweepBytes bytes(all_processes());
    const Stop stop =
        sweep(prepared, state, allowed.given ? run.plan.bytes : 0.0, stages, saver, observer, bytes);
    stages.begin(Stage::assessing, "assessing");
    run.result = finish_fit(prepared, std::move(state), stop);
    give_back_memory();
    AssessOptions assessing{
        .clusters = options.clusters, .seed = options.fit.seed, .memory = run.plan.free_after};
    std::unique_ptr<SplitSpace> splits;
    if (!options.clusters && !options.tissue &&
        dynamic_cast<const SparseMultiscaleGraph*>(prepared.graph.get()) != nullptr) {
        splits = split_space(X, options.space, options.local);
        assessing.evidence = &*splits->evidence;
    }
    run.assessment = options.tissue ? assess_tissue(prepared, run.result, assessing, types,
                                                    options.tissue->domains, run.domains)
                                    : assess_fit(prepared, run.result, assessing);
    const std::size_t said = types.notices.size();
    for (std::size_t i = said; i < run.assessment.notices.size(); ++i) {
        stages.notice(run.assessment.notices[i]);
    }
    run.seconds = stages.end();
    Processes& processes = all_processes();
    run.peak_bytes = most_of(processes, peak_bytes());
    run.processes = processes.count();
    run.communicating = processes.seconds();
    if (several && bytes.moving() > 0) {
        run.scales_of_sweep = bytes.moving();
        run.bytes_of_sweep = gather_one(processes, bytes.bytes());
    }
    run.bytes_moved = sum_of(processes, static_cast<double>(processes.bytes_sent()));
    splits.reset();
    give_back_memory(); // who writes the result needs some
    return run;
}

template <RealNumber Real>
Run<Real> run_fit(const DataValues& X, const RunOptions& options, const RunObserver& observer) {
    return run_fit<Real>(view_of(X), options, observer);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template Run<Real> run_fit(const DataView&, const RunOptions&, const RunObserver&);                      \
    template Run<Real> run_fit(const DataValues&, const RunOptions&, const RunObserver&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
