#include "solvers/fit_data.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/dense_graph.hpp>
#include <pnmf/graphs/sparse_graph.hpp>
#include <pnmf/linalg/effective_rank.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/neighbor_tree.hpp>
#include <pnmf/solvers/fit.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

template <class Real>
void make_graph(PreparedFit<Real>& prepared, const Points& points,
                const std::optional<NeighborEdges>& found) {
    const FitOptions& options = prepared.options;
    if (!found) {
        prepared.graph = std::make_unique<DenseMultiscaleGraph>(points, prepared.tree, options.alpha);
        return;
    }
    prepared.graph = std::make_unique<SparseMultiscaleGraph>(prepared.tree, found->edges, options.alpha);
    prepared.notices.push_back(
        fmt::format("graph: {} nearest neighbours and the minimum spanning tree", *options.neighbors));
    if (found->search != NeighborSearch::exact) {
        prepared.notices.push_back(
            fmt::format("neighbours searched approximately: {:.1f} % of the true ones found "
                        "for {} cells tried",
                        100.0 * found->recall, found->sampled));
    }
}

/// Few scales of many have the objective of the many, for embeddings that change linearly in between, when λ₂
/// is divided by the square of their stride (as in `nested_start`). The published algorithms take λ₂ as it
/// is.
template <class Real>
void set_penalty(PreparedFit<Real>& prepared) {
    prepared.penalty = prepared.options.penalty;
    const double stride = prepared.scales.stride;
    if (stride == 1.0 || prepared.options.solver.algorithm != Algorithm::stationary) {
        return;
    }
    prepared.penalty.smoothness /= stride * stride;
    prepared.notices.push_back(
        fmt::format("lambda2 {} / {:.4g}^2 = {:.3g}: each scale kept stands for {:.4g} of all",
                    prepared.options.penalty.smoothness, stride, prepared.penalty.smoothness, stride));
}

/// Scales at which H has lost nearly all its directions although the fit asked for several.
template <class Real>
void warn_of_collapse(FitResult<Real>& result, const PreparedFit<Real>& prepared) {
    constexpr double one_direction = 1.05;
    const auto collapsed = std::count_if(result.effective_rank.begin(), result.effective_rank.end(),
                                         [](double value) { return value < one_direction; });
    if (prepared.rank < 2 || collapsed == 0) {
        return;
    }
    if (!prepared.tree.edges.empty() && prepared.tree.edges.back().length == 0.0) {
        result.warnings.push_back(
            "all cells are the same: there is one direction to find, whatever the rank");
        return;
    }
    const double anchor = prepared.options.penalty.anchor;
    const auto scales = static_cast<std::ptrdiff_t>(result.effective_rank.size());
    if (anchor == 0.0) {
        result.warnings.push_back(fmt::format(
            "the embedding has collapsed to a line at {} of {} scales: the graph term is strong for these "
            "data",
            collapsed, scales));
        return;
    }
    if (result.effective_rank.front() < one_direction) {
        result.warnings.push_back(fmt::format("the embedding has collapsed to a line at {} of {} scales, the "
                                              "finest included: lambda3 = {} is too "
                                              "strong for these data; try a tenth of it",
                                              collapsed, scales, anchor));
    } else if (2 * collapsed > scales) {
        result.warnings.push_back(
            fmt::format("the embedding has collapsed to a line at {} of {} scales; a smaller "
                        "lambda3 (now {}) keeps more of them apart",
                        collapsed, scales, anchor));
    }
}

template <class Real>
PreparedFit<Real> prepare(const DataView& X, const FitOptions& options, bool keep) {
    require(std::isfinite(options.alpha) && options.alpha > 0.0,
            "alpha must be a finite number above 0, got {}", options.alpha);
    check_penalty(options.penalty);
    check_options(options.solver);
    check_values(X);
    PreparedFit<Real> prepared;
    prepared.options = options;
    prepared.X = data_of<Real>(X, keep);
    prepared.rank = chosen_rank(options.rank, *prepared.X, prepared.notices);
    const Points points(X, options.metric);
    TreeAndNeighbors found = tree_and_neighbors(points, options.neighbors, options.search, options.seed);
    prepared.tree = std::move(found.tree);
    prepared.scales = choose_scales(points, prepared.tree, options.scales);
    make_graph(prepared, points, found.neighbors);
    if (!found.tree_is_exact()) {
        prepared.notices.emplace_back("the spanning tree is that of the neighbours found, not of all pairs: "
                                      "scales are no smaller than the exact ones");
    }
    set_penalty(prepared);
    check_problem(prepared.problem());
    return prepared;
}

/// The levels of the nested start are solved a little better than all scales will be, but a rough fit does
/// not wait for a fine start.
LevelOptions level_options(const SolverOptions& solver, const std::filesystem::path& bases_in) {
    constexpr double finest = 2e-4;
    const bool by_certificate = solver.stop == StopRule::certificate;
    return {.tolerance =
                by_certificate ? std::max(finest, 2.0 / 3.0 * solver.tolerance.value_or(0.0)) : finest,
            .extrapolate = solver.extrapolate,
            .shift_components = solver.shift_components,
            .bases_in = bases_in};
}

} // namespace

DataView view_of(const DataValues& X) {
    return std::visit([](const auto& values) { return DataView(view_of(values)); }, X);
}

template <class Real>
PreparedFit<Real> prepare_fit(const DataValues& X, const FitOptions& options) {
    return prepare<Real>(view_of(X), options, true);
}

template <class Real>
PreparedFit<Real> prepare_fit(const DataView& X, const FitOptions& options) {
    return prepare<Real>(X, options, false);
}

template <class Real>
Factors<Real> make_start(const PreparedFit<Real>& prepared, const Observer& observer) {
    const FitOptions& options = prepared.options;
    const Problem<Real> problem = prepared.problem();
    const bool stationary = options.solver.algorithm == Algorithm::stationary;
    Pair<Real> pair = seed_pair(*prepared.X, prepared.rank, options.seeding, options.seed);
    switch (options.start.value_or(stationary ? Start::nested : Start::chained)) {
    case Start::nested:
        return nested_start(problem, std::move(pair), level_options(options.solver, prepared.bases_in),
                            observer);
    case Start::chained:
        return chained_start(problem, std::move(pair), 1e-3, observer, prepared.bases_in);
    case Start::broadcast:
        break;
    }
    return broadcast_start(problem, std::move(pair), prepared.bases_in);
}

template <class Real>
FitResult<Real> finish_fit(const PreparedFit<Real>& prepared, SolverState<Real> state, Stop stop) {
    const SolverOptions& solver = prepared.options.solver;
    const BasisForm form = form_of(solver.algorithm);
    FitResult<Real> result;
    result.scales = prepared.scales;
    result.stop = stop;
    result.trace = std::move(state.trace);
    result.residuals = state.residuals.empty() ? kkt_residuals(prepared.problem(), state.current, form)
                                               : std::move(state.residuals);
    result.factors = std::move(state.current);
    if (form == BasisForm::free) {
        normalize_column_sums(result.factors);
    }
    result.effective_rank.resize(static_cast<std::size_t>(result.scales.size()));
    parallel_for(result.scales.size(),
                 [&](Index t) { result.effective_rank[t] = effective_rank(result.factors.H[t]); });
    warn_of_collapse(result, prepared);
    if (stop == Stop::sweep_limit && solver.algorithm != Algorithm::reference) {
        const KktResidual total = sum(result.residuals);
        result.warnings.push_back(fmt::format("not converged after {} sweeps: the KKT residual is {:.1e}",
                                              result.trace.size() - 1, total.certificate()));
    }
    return result;
}

template <class Real>
FitResult<Real> fit(const DataValues& X, const FitOptions& options, const Observer& observer) {
    return fit<Real>(view_of(X), options, observer);
}

template <class Real>
FitResult<Real> fit(const DataView& X, const FitOptions& options, const Observer& observer) {
    const PreparedFit<Real> prepared = prepare_fit<Real>(X, options);
    auto state = start_solver(prepared.problem(), options.solver, make_start(prepared, observer));
    const Problem<Real> problem = prepared.problem();
    const Stop stop = run_solver(problem, options.solver, state, observer);
    return finish_fit(prepared, std::move(state), stop);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template PreparedFit<Real> prepare_fit(const DataValues&, const FitOptions&);                            \
    template PreparedFit<Real> prepare_fit(const DataView&, const FitOptions&);                              \
    template Factors<Real> make_start(const PreparedFit<Real>&, const Observer&);                            \
    template FitResult<Real> finish_fit(const PreparedFit<Real>&, SolverState<Real>, Stop);                  \
    template FitResult<Real> fit(const DataValues&, const FitOptions&, const Observer&);                     \
    template FitResult<Real> fit(const DataView&, const FitOptions&, const Observer&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
