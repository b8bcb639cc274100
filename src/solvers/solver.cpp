#include "cells/cell_blocks.hpp"
#include "solvers/choose_device.hpp"
#include "solvers/method.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

Index sweep_limit(const SolverOptions& options) {
    return options.max_sweeps.value_or(default_max_sweeps(options));
}

/// Whether the run is done after this sweep. The certificate is confirmed from W and H alone. A sweep that
/// still lowers the objective is not the last one: the residual sees single variables, the decrease sees what
/// they do together.
template <class Real>
bool is_done(Method<Real>& method, const SolverOptions& options, SolverState<Real>& state,
             SweepReport& report) {
    const double tolerance = options.tolerance.value_or(default_tolerance(options));
    if (options.algorithm == Algorithm::reference) {
        return false; // the published protocol makes a fixed number of sweeps
    }
    const double before = state.trace[state.trace.size() - 2].total();
    const double decrease = before - report.objective.total();
    if (options.stop == StopRule::relative_decrease || options.algorithm == Algorithm::paper) {
        return !report.restarted && decrease <= tolerance * before;
    }
    if (report.restarted || report.residual.certificate() > tolerance ||
        decrease > tolerance / 3.0 * before) {
        return false;
    }
    state.residuals = method.residuals(state);
    report.residual = sum(state.residuals);
    return report.residual.certificate() <= tolerance;
}

/// Null for methods that use none.
template <class Real>
std::unique_ptr<Backend<Real>> backend_of(const Problem<Real>& problem, const SolverOptions& options,
                                          Index rank) {
    if (options.algorithm != Algorithm::stationary) {
        return nullptr;
    }
    return make_backend(device_of(problem, rank, options), problem);
}

template <class Real>
std::unique_ptr<Method<Real>> make_method(std::unique_ptr<Backend<Real>> backend,
                                          const Problem<Real>& problem, const SolverOptions& options) {
    return backend ? make_stationary(problem, options, std::move(backend))
                   : make_multiplicative(problem, options);
}

template <class Real>
Stop sweep_until_done(Method<Real>& method, const SolverOptions& options, SolverState<Real>& state,
                      const Observer& observer) {
    const Index limit = sweep_limit(options);
    while (static_cast<Index>(state.trace.size()) <= limit) {
        state.residuals.clear();
        SweepReport report = method.sweep(state, observer.step);
        report.sweep = static_cast<Index>(state.trace.size());
        state.trace.push_back(report.objective);
        report.converged = is_done(method, options, state, report);
        report.bring_factors = [&method] { method.store(); };
        const bool go_on = !observer.sweep || observer.sweep(report);
        if (report.converged) {
            return Stop::converged;
        }
        if (!go_on) {
            return Stop::interrupted;
        }
    }
    return Stop::sweep_limit;
}

} // namespace

void check_options(const SolverOptions& options) {
    const double tolerance = options.tolerance.value_or(0.0);
    require(std::isfinite(tolerance) && tolerance >= 0.0,
            "tolerance must be a finite number, at least 0, got {}", tolerance);
    require(options.max_sweeps.value_or(0) >= 0, "max-sweeps must be at least 0, got {}",
            options.max_sweeps.value_or(0));
    require(std::isfinite(options.inner_tolerance) && options.inner_tolerance >= 0.0,
            "inner-tolerance must be a finite number, at least 0, got {}", options.inner_tolerance);
    require(options.inner_limit >= 1, "inner-limit must be at least 1, got {}", options.inner_limit);
    require(options.basis_passes.value_or(1) >= 1, "basis-passes must be at least 1, got {}",
            options.basis_passes.value_or(1));
    require(options.embedding_passes >= 1, "embedding-passes must be at least 1, got {}",
            options.embedding_passes);
    check_device(options);
}

double default_tolerance(const SolverOptions& options) {
    if (options.algorithm == Algorithm::stationary && options.stop == StopRule::certificate) {
        return 3e-4;
    }
    return 1e-4;
}

Index default_max_sweeps(const SolverOptions& options) {
    return options.algorithm == Algorithm::reference ? 10 : 1000;
}

Index scales_at_once(Index scales, Index cells, bool dense) {
    constexpr Index together = 4;
    // Of few cells a product with a dense X is divided among threads by features, however few scales there
    // are.
    const bool divided = dense && usual_blocks(cells).count() == 1;
    return scales >= (divided ? together : 128) ? together : 1;
}

BasisForm form_of(Algorithm algorithm) {
    return algorithm == Algorithm::paper ? BasisForm::free : BasisForm::unit_columns;
}

Index default_basis_passes(Index cells, Index rank) {
    // A pass is 2pd² operations on few columns at a time, XHᵀ and WᵀX are 4pnd in one large product; an
    // operation there is taken to be five times as fast, a guess.
    constexpr Index faster = 5;
    return std::clamp<Index>(cells / (faster * rank), 4, 16);
}

template <class Real>
SolverState<Real> start_solver(const Problem<Real>& problem, const SolverOptions& options,
                               Factors<Real> start, bool judge) {
    check_problem(problem);
    check_options(options);
    check_factors(problem, start);
    SolverState<Real> state;
    state.current = std::move(start);
    if (options.algorithm == Algorithm::stationary) {
        parallel_for(problem.scales(), [&](Index t) {
            state.current.bring(t);
            make_columns_unit(state.current.W[t], state.current.H[t]);
            state.current.rest(t);
        });
    }
    const auto method = make_method(backend_of(problem, options, state.current.rank()), problem, options);
    method->load(state);
    method->begin(state, judge || sweep_limit(options) == 0);
    return state;
}

template <class Real>
Stop run_solver(const Problem<Real>& problem, const SolverOptions& options, SolverState<Real>& state,
                const Observer& observer) {
    check_problem(problem);
    check_options(options);
    return run_solver_on(backend_of(problem, options, state.current.rank()), problem, options, state,
                         observer);
}

template <class Real>
Stop run_solver_on(std::unique_ptr<Backend<Real>> backend, const Problem<Real>& problem,
                   const SolverOptions& options, SolverState<Real>& state, const Observer& observer) {
    const auto method = make_method(std::move(backend), problem, options);
    method->load(state);
    const Stop stop = sweep_until_done(*method, options, state, observer);
    if (stop == Stop::converged) {
        method->store_last(); // hardly anybody goes on from here
        if (state.previous.scales() == 0) {
            state.momentum.clear(); // who does begins without the point before
        }
    } else {
        method->store();
    }
    return stop;
}

template <class Real>
void normalize_column_sums(Factors<Real>& factors) {
    for (Index t = 0; t < factors.scales(); ++t) {
        factors.bring(t);
        for (Index k = 0; k < factors.rank(); ++k) {
            const Real sum = factors.W[t].col(k).sum();
            if (sum > 0) {
                factors.W[t].col(k) /= sum;
                factors.H[t].row(k) *= sum;
            }
        }
        factors.rest(t);
    }
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template SolverState<Real> start_solver(const Problem<Real>&, const SolverOptions&, Factors<Real>,       \
                                            bool);                                                           \
    template Stop run_solver(const Problem<Real>&, const SolverOptions&, SolverState<Real>&,                 \
                             const Observer&);                                                               \
    template Stop run_solver_on(std::unique_ptr<Backend<Real>>, const Problem<Real>&, const SolverOptions&,  \
                                SolverState<Real>&, const Observer&);                                        \
    template void normalize_column_sums(Factors<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
