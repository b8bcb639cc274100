#pragma once

#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>

namespace pnmf {

/// How the scales of a level are solved: roughly, as more are to come.
inline SolverOptions rough_options(const LevelOptions& options, Index max_sweeps) {
    return {.extrapolate = options.extrapolate,
            .shift_components = options.shift_components,
            .tolerance = options.tolerance,
            .max_sweeps = max_sweeps,
            .device = options.device};
}

/// Sweeps over the scales of a level, from where `at.state` has come to. Interrupted when the observer or the
/// log says stop.
template <class Real>
void solve_level(const Problem<Real>& level, const SolverOptions& rough, StartState<Real>& at,
                 const Observer& observer, const decltype(StartLog<Real>::reached)& reached) {
    const auto go_on = [&](const SweepReport& report) {
        // A level that is solved must not be gone on with: its next sweep is that of more scales.
        return (!reached || report.converged || reached(at, report.bring_factors)) &&
               (!observer.starting || observer.starting());
    };
    if (run_solver(level, rough, at.state, {.sweep = go_on}) == Stop::interrupted) {
        throw Interrupted();
    }
}

} // namespace pnmf
