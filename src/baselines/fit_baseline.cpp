#include <pnmf/baselines/fit_baseline.hpp>

#include "graphs/fixed_graph.hpp"
#include "solvers/fit_data.hpp"
#include "solvers/multiplicative.hpp"

#include <pnmf/error.hpp>

#include <cmath>

namespace pnmf {
namespace {

constexpr double published_tolerance = 1e-3;

void check_options(const BaselineFitOptions& options) {
    require(std::isfinite(options.graph.lambda) && options.graph.lambda >= 0.0,
            "lambda must be a finite number, at least 0, got {}", options.graph.lambda);
    const double tolerance = options.tolerance.value_or(0.0);
    require(std::isfinite(tolerance) && tolerance >= 0.0,
            "tolerance must be a finite number, at least 0, got {}", tolerance);
    require(options.max_steps.value_or(0) >= 0, "max-steps must be at least 0, got {}",
            options.max_steps.value_or(0));
}

template <RealNumber Real>
FitResult<Real> solve_multiplicatively(const PreparedFit<Real>& prepared, const BaselineFitOptions& options,
                                       Pair<Real> pair, const Observer& observer) {
    const Problem<Real> problem = prepared.problem();
    const auto graph = prepared.graph->at(prepared.scales.epsilon.front());
    SolverState<Real> state;
    state.trace.push_back(objective(problem, Factors<Real>{{pair.W}, {pair.H}}));
    bool interrupted = false;
    const auto watch = [&](const RescaledStep& step) {
        state.trace.push_back(step.after);
        const auto number = std::ssize(state.trace) - 1;
        if (observer.step) {
            observer.step({number, 0, 1, step.before.total()});
        }
        interrupted =
            observer.sweep &&
            !observer.sweep({.sweep = number, .objective = step.after, .residual = {}, .inner_steps = 1});
        return !interrupted;
    };
    const Index limit = options.max_steps.value_or(1000);
    const Index steps =
        fit_graph_regularized(*prepared.X, prepared.X->squared_norm(), *graph, problem.penalty.graph, pair,
                              options.tolerance.value_or(published_tolerance), limit, watch);
    state.current = {{std::move(pair.W)}, {std::move(pair.H)}};
    return finish_fit(prepared, std::move(state),
                      interrupted     ? Stop::interrupted
                      : steps < limit ? Stop::converged
                                      : Stop::sweep_limit);
}

/// `space` is null where the cells are compared in X.
template <RealNumber Real>
PreparedFit<Real> prepare(const DataView& X, const Points* space, const BaselineFitOptions& options,
                          bool keep) {
    check_options(options);
    check_values(X);
    PreparedFit<Real> prepared;
    prepared.X = data_of<Real>(X, keep);
    require(space == nullptr || space->count() == prepared.X->cells(),
            "there must be as many points as X has cells, {}, got {}", prepared.X->cells(),
            space == nullptr ? 0 : space->count());
    prepared.rank = chosen_rank(options.rank, prepared.X->features(), prepared.X->cells(), prepared.notices);
    FitOptions& fit = prepared.options;
    fit.rank = options.rank;
    fit.penalty = {.graph = options.graph.lambda, .smoothness = 0.0, .anchor = 0.0};
    fit.filtration.alpha = options.graph.alpha;
    fit.filtration.metric = options.metric;
    fit.seeding = options.seeding;
    fit.seed = options.seed;
    fit.solver.max_sweeps = options.max_steps;
    fit.solver.tolerance = options.tolerance;
    if (options.algorithm == BaselineAlgorithm::multiplicative) {
        fit.solver.algorithm = Algorithm::reference;
    }
    if (options.graph.method == Baseline::nmf) {
        fit.penalty.graph = 0.0;
        prepared.graph = std::make_unique<FixedGraph>(empty_graph(prepared.X->cells()));
    } else {
        prepared.graph = std::make_unique<FixedGraph>(
            space != nullptr ? baseline_graph(*space, options.graph)
                             : baseline_graph(Points(X, options.metric), options.graph));
    }
    prepared.penalty = fit.penalty;
    prepared.scales.epsilon = {no_threshold};
    prepared.scales.multiplicity = {0};
    prepared.scales.weight = {1.0};
    prepared.scales.available = 1;
    prepared.scales.betti0 = {component_count(components(prepared.graph->tree(), no_threshold))};
    check_problem(prepared.problem());
    return prepared;
}

} // namespace

BaselineFitOptions published_fit(Baseline method, bool second) {
    return {.graph = published_settings(method, second),
            .algorithm = BaselineAlgorithm::multiplicative,
            .tolerance = published_tolerance};
}

template <RealNumber Real>
PreparedFit<Real> prepare_baseline(const DataValues& X, const BaselineFitOptions& options) {
    return prepare<Real>(view_of(X), nullptr, options, true);
}

template <RealNumber Real>
PreparedFit<Real> prepare_baseline(const DataView& X, const BaselineFitOptions& options) {
    return prepare<Real>(X, nullptr, options, false);
}

template <RealNumber Real>
PreparedFit<Real> prepare_baseline(const DataView& X, const Points& space,
                                   const BaselineFitOptions& options) {
    return prepare<Real>(X, &space, options, false);
}

template <RealNumber Real>
FitResult<Real> solve_baseline(const PreparedFit<Real>& prepared, const BaselineFitOptions& options,
                               const Observer& observer) {
    const Problem<Real> problem = prepared.problem();
    Pair<Real> pair = seed_pair(*prepared.X, prepared.rank, options.seeding, options.seed);
    if (options.algorithm == BaselineAlgorithm::multiplicative) {
        return solve_multiplicatively(prepared, options, std::move(pair), observer);
    }
    const SolverOptions& solver = prepared.options.solver;
    auto state = start_solver(problem, solver, broadcast_start(problem, std::move(pair)));
    const Stop stop = run_solver(problem, solver, state, observer);
    return finish_fit(prepared, std::move(state), stop);
}

template <RealNumber Real>
FitResult<Real> fit_baseline(const DataValues& X, const BaselineFitOptions& options,
                             const Observer& observer) {
    return solve_baseline(prepare_baseline<Real>(view_of(X), options), options, observer);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template PreparedFit<Real> prepare_baseline(const DataValues&, const BaselineFitOptions&);               \
    template PreparedFit<Real> prepare_baseline(const DataView&, const BaselineFitOptions&);                 \
    template PreparedFit<Real> prepare_baseline(const DataView&, const Points&, const BaselineFitOptions&);  \
    template FitResult<Real> solve_baseline(const PreparedFit<Real>&, const BaselineFitOptions&,             \
                                            const Observer&);                                                \
    template FitResult<Real> fit_baseline(const DataValues&, const BaselineFitOptions&, const Observer&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
