#include "cells/graphs/local_filtration.hpp"
#include "cells/linalg/over_all_cells.hpp"
#include "cells/shared_work.hpp"
#include "linalg/effective_rank.hpp"
#include "solvers/adapt_scales.hpp"
#include "solvers/choose_device.hpp"
#include "solvers/fit_data.hpp"
#include "solvers/order_cells.hpp"
#include "solvers/prepare_local.hpp"
#include "solvers/single_start.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/solvers/memory_plan.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace pnmf {
namespace {

/// Evenly spaced scales that stand for all, where a number of them is asked for. The published algorithms
/// take few scales as if they were all.
template <RealNumber Real>
void keep_even_scales(PreparedFit<Real>& prepared) {
    const FitOptions& options = prepared.options;
    const Index all = prepared.scales.size();
    const Index most = options.filtration.scales.max_scales.value_or(all);
    if (options.scale_error || options.solver.algorithm != Algorithm::stationary || most >= all) {
        return;
    }
    require(most >= 2, "at least the finest and the coarsest scale must be kept: 2 scales, got {}", most);
    keep_scales(prepared, few_positions(all, prepared.scales.wanted, most));
}

/// What a run needs on a device at least, as far as it is known before neighbours are searched.
DeviceNeed least_need(const FitOptions& options, const DataSize& X, Index rank, Index bytes_of_number) {
    const FiltrationOptions& filtration = options.filtration;
    const Index n = X.cells;
    const Index here =
        std::max<Index>(1, local_range(n, all_processes()).count); // of all processes' the most
    const double share = static_cast<double>(here) / static_cast<double>(n);
    const Index scales = options.scale_error ? 2 : filtration.scales.max_scales.value_or(1);
    return {.features = X.features,
            .cells = here,
            .scales = std::min(scales, n),
            .rank = rank,
            .dense = X.dense,
            .nonzeros = static_cast<std::int64_t>(share * static_cast<double>(X.nonzeros)),
            .graph_entries = here * (filtration.neighbors ? *filtration.neighbors : n),
            .table = !filtration.neighbors,
            .bytes_of_number = bytes_of_number};
}

/// From here on the device is one that is there.
template <RealNumber Real>
void set_device(PreparedFit<Real>& prepared) {
    SolverOptions& solver = prepared.options.solver;
    const bool no_choice = solver.device == Device::automatic && device_rows().size() == 1;
    if (solver.algorithm != Algorithm::stationary || no_choice) {
        solver.device = Device::cpu;
        return;
    }
    DeviceNeed need = device_need(prepared.problem(), prepared.rank, solver);
    const Index scales = expected_scales(prepared); // fewer than all where they are chosen on the way
    need.components = need.components / need.scales * scales;
    need.scales = scales;
    const DeviceChoice choice = choose_device(solver.device, need, prepared.options.data_may_stay);
    solver.device = choice.device;
    prepared.data_on_host = choice.data_on_host;
    solver.extrapolate = solver.extrapolate && choice.keep_momentum;
    solver.shift_components = solver.shift_components && choice.keep_shifts;
    if (!choice.notice.empty()) {
        prepared.notices.push_back(choice.notice);
    }
}

/// Scales at which H has lost nearly all its directions although the fit asked for several.
template <RealNumber Real>
void warn_of_collapse(FitResult<Real>& result, const PreparedFit<Real>& prepared) {
    constexpr double one_direction = 1.05;
    const auto collapsed = std::count_if(result.effective_rank.begin(), result.effective_rank.end(),
                                         [](double value) { return value < one_direction; });
    if (prepared.rank < 2 || collapsed == 0) {
        return;
    }
    if (prepared.tree && !prepared.tree->edges.empty() && prepared.tree->edges.back().length == 0.0) {
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

/// Of H at each scale. Processes that hold some of the cells deal the scales out: each brings one together at
/// a time.
template <RealNumber Real>
std::vector<double> effective_ranks(const DataMatrix<Real>& X, const std::vector<DenseMatrix<Real>>& H) {
    std::vector<double> result(H.size());
    if (X.has_all_cells()) {
        parallel_for(std::ssize(H), [&](Index t) { result[t] = effective_rank(H[t]); });
        return result;
    }
    Processes& processes = X.processes();
    for (Index first = 0; first < std::ssize(H); first += processes.count()) {
        DenseMatrix<Real> mine;
        for (Index t = first; t < std::min<Index>(std::ssize(H), first + processes.count()); ++t) {
            DenseMatrix<Real> all = gather_cells(X, H[t], dealt_to(processes, t));
            if (is_mine(processes, t)) {
                mine = std::move(all);
            }
        }
        if (mine.size() > 0) {
            result[first + processes.place()] = effective_rank(mine);
        }
    }
    gather_dealt(std::span(result));
    return result;
}

/// The filtration of a fit whose few scales stand for all has all of them at first.
FiltrationOptions filtration_of(const FitOptions& options) {
    FiltrationOptions filtration = options.filtration;
    if (options.solver.algorithm == Algorithm::stationary) {
        filtration.scales.max_scales.reset();
    }
    return filtration;
}

void check_scale_error(const FitOptions& options) {
    if (!options.scale_error) {
        return;
    }
    require(std::isfinite(*options.scale_error) && *options.scale_error > 0.0,
            "the error of scales that are left out must be a number above 0, got {}", *options.scale_error);
    require(options.solver.algorithm == Algorithm::stationary,
            "an error of scales that are left out is for the algorithm stationary; {} takes its scales as "
            "they are",
            name_of(options.solver.algorithm));
    require(options.start.value_or(Start::nested) == Start::nested,
            "an error of scales that are left out needs the start nested, got {}", name_of(*options.start));
}

/// Every entry ends here; `filter` makes the filtration, from whatever the distances come from.
template <RealNumber Real>
PreparedFit<Real> prepare(const DataView& X, const FitOptions& options, bool keep,
                          const std::function<Filtration()>& filter,
                          const std::optional<CellRange>& local = {}) {
    check_options(options.filtration);
    check_penalty(options.penalty);
    check_options(options.solver);
    check_scale_error(options);
    check_values(X, local, sizeof(Real));
    if (local) {
        const CellRange share = local_range(local->all, all_processes());
        require(*local == share, "this process must have {} cells from cell {} on, got {} from {}",
                share.count, share.first + 1, local->count, local->first + 1);
    }
    PreparedFit<Real> prepared;
    prepared.options = options;
    const DataSize size = size_of_data(X, sizeof(Real), local);
    prepared.rank = chosen_rank(options.rank, size.features, size.cells, prepared.notices);
    check_device_memory(options.solver.device, least_need(options, size, prepared.rank, sizeof(Real)),
                        options.data_may_stay);
    Filtration filtration = filter();
    prepared.tree = std::move(filtration.tree);
    prepared.scales = std::move(filtration.scales);
    prepared.graph = std::move(filtration.graph);
    prepared.notices.insert(prepared.notices.end(), filtration.notices.begin(), filtration.notices.end());
    put_in_order(prepared);
    prepared.X = data_of<Real>(X, keep, local, prepared.order);
    prepared.penalty = options.penalty;
    keep_even_scales(prepared);
    check_problem(prepared.problem());
    set_device(prepared);
    return prepared;
}

/// The filtration of points, whose neighbours are searched on the device of the fit where that gains.
Filtration filter_points(const Points& points, const FitOptions& options, bool& on_device) {
    const SearcherChoice choice = choose_searcher(options.solver.device, points, options.filtration);
    on_device = choice.searcher != nullptr;
    Filtration filtration =
        make_filtration(points, filtration_of(options), options.seed, choice.searcher.get());
    if (!choice.notice.empty()) {
        filtration.notices.push_back(choice.notice);
    }
    return filtration;
}

/// `filter` is told where to say that a device searched. A search that is as it is only because of the device
/// is recorded so: whoever makes the graphs again must get the same.
template <RealNumber Real>
PreparedFit<Real> prepare_from_points(const DataView& X, const FitOptions& options, bool keep,
                                      const std::function<Filtration(bool&)>& filter,
                                      const std::optional<CellRange>& local = {}) {
    bool on_device = false;
    PreparedFit<Real> prepared = prepare<Real>(
        X, options, keep, [&] { return filter(on_device); }, local);
    NeighborSearch& search = prepared.options.filtration.search;
    if (on_device && search == NeighborSearch::automatic && prepared.X->cells() > largest_exact_search) {
        search = chosen_search_of_device(search, prepared.X->cells());
    }
    return prepared;
}

template <RealNumber Real>
PreparedFit<Real> prepare_from_data(const DataView& X, const FitOptions& options, bool keep) {
    return prepare_from_points<Real>(X, options, keep, [&](bool& on_device) {
        return filter_points(Points(X, options.filtration.metric), options, on_device);
    });
}

template <RealNumber Real>
FitResult<Real> run(PreparedFit<Real> prepared, const Observer& observer) {
    const SolverOptions& solver = prepared.options.solver;
    Factors<Real> start =
        prepared.adapts() ? adapted_start(prepared, observer) : make_start(prepared, observer);
    auto state = start_solver(prepared.problem(), solver, std::move(start));
    const Stop stop = run_solver(prepared.problem(), solver, state, observer);
    return finish_fit(prepared, std::move(state), stop);
}

/// The pair that a start is made from: of very many cells by the device of the fit.
template <RealNumber Real>
Pair<Real> first_pair(const PreparedFit<Real>& prepared) {
    const FitOptions& options = prepared.options;
    const auto products = options.seeding == Seeding::random
                              ? nullptr
                              : choose_products(options.solver.device, *prepared.X, prepared.rank);
    return seed_pair(*prepared.X, prepared.rank, options.seeding, options.seed, products.get());
}

/// The levels of the nested start are solved as well as all scales are by default, but a rough fit does not
/// wait for a fine start.
LevelOptions level_options(const SolverOptions& solver, const std::filesystem::path& bases_in) {
    const double finest = LevelOptions().tolerance;
    const bool by_certificate = solver.stop == StopRule::certificate;
    return {.tolerance =
                by_certificate ? std::max(finest, 2.0 / 3.0 * solver.tolerance.value_or(0.0)) : finest,
            .extrapolate = solver.extrapolate,
            .shift_components = solver.shift_components,
            .bases_in = bases_in,
            .device = solver.device};
}

} // namespace

Filtration tree_and_scales(const Points& points, const FitOptions& options) {
    return tree_and_scales(points, options.filtration, options.seed,
                           choose_searcher(options.solver.device, points, options.filtration).searcher.get());
}

DataView view_of(const DataValues& X) {
    return std::visit([](const auto& values) { return DataView(view_of(values)); }, X);
}

template <RealNumber Real>
PreparedFit<Real> prepare_fit(const DataValues& X, const FitOptions& options) {
    return prepare_from_data<Real>(view_of(X), options, true);
}

template <RealNumber Real>
PreparedFit<Real> prepare_fit(const DataView& X, const FitOptions& options) {
    return prepare_from_data<Real>(X, options, false);
}

template <RealNumber Real>
PreparedFit<Real> prepare_fit(const DataView& X, const Points& space, const FitOptions& options,
                              const std::optional<CellRange>& local) {
    const Index cells = local ? local->all : cells_of(X);
    require(space.count() == cells, "there must be as many points as X has cells, {}, got {}", cells,
            space.count());
    return prepare_from_points<Real>(
        X, options, false, [&](bool& on_device) { return filter_points(space, options, on_device); }, local);
}

template <RealNumber Real>
PreparedFit<Real> prepare_local_fit(const DataView& X, const DataView& space, const CellRange& local,
                                    const FitOptions& options) {
    require(cells_of(space) == cells_of(X), "there must be as many points as X has cells, {}, got {}",
            cells_of(X), cells_of(space));
    return prepare<Real>(
        X, options, false,
        [&] { return local_filtration(space, local, filtration_of(options), options.seed); }, local);
}

template <RealNumber Real>
PreparedFit<Real> prepare_fit(const DataView& X, const SortedEdges& neighbors, const FitOptions& options) {
    require(neighbors.cells == cells_of(X), "the neighbour graph must have the cells of X, {}, got {}",
            cells_of(X), neighbors.cells);
    return prepare<Real>(X, options, false,
                         [&] { return make_filtration(neighbors, filtration_of(options), options.seed); });
}

template <RealNumber Real>
Factors<Real> make_start(const PreparedFit<Real>& prepared, const Observer& observer, StartLog<Real> log) {
    const FitOptions& options = prepared.options;
    const Problem<Real> problem = prepared.problem();
    const bool stationary = options.solver.algorithm == Algorithm::stationary;
    Pair<Real> pair;
    if (log.from.scales == 0) {
        pair = first_pair(prepared);
    }
    switch (options.start.value_or(stationary ? Start::nested : Start::chained)) {
    case Start::nested:
        return quick_nested_start(problem, std::move(pair), level_options(options.solver, prepared.bases_in),
                                  observer, std::move(log));
    case Start::chained:
        return chained_start(problem, std::move(pair), 1e-3, observer, prepared.bases_in, std::move(log),
                             options.solver.device);
    case Start::broadcast:
        break;
    }
    return broadcast_start(problem, std::move(pair), prepared.bases_in);
}

template <RealNumber Real>
void keep_scales(PreparedFit<Real>& prepared, const std::vector<Index>& positions) {
    require(!prepared.kept, "the scales of this fit are chosen already");
    const Problem<Real> few = at_scales(prepared.problem(), positions);
    ScaleSet scales = keep_scales(prepared.scales, positions, few.weight);
    prepared.kept =
        KeptScales{.all = std::move(prepared.scales), .position = positions, .smoothness = few.smoothness};
    prepared.scales = std::move(scales);
    prepared.notices.push_back(fmt::format(
        "{} of {} scales are kept, {}; they stand for all", positions.size(), prepared.kept->all.size(),
        prepared.options.scale_error ? "more where embeddings change faster" : "evenly spaced"));
}

template <RealNumber Real>
Factors<Real> adapted_start(PreparedFit<Real>& prepared, const Observer& observer, StartLog<Real> log) {
    const FitOptions& options = prepared.options;
    require(prepared.adapts(), "this fit takes its scales as they are");
    Pair<Real> pair;
    if (log.from.scales == 0) {
        pair = first_pair(prepared);
    }
    AdaptOptions adapt{.error = *options.scale_error,
                       .wanted = prepared.scales.wanted,
                       .most = options.filtration.scales.max_scales,
                       .level = level_options(options.solver, prepared.bases_in)};
    if (prepared.most_scales > 0) {
        adapt.most = std::min(prepared.most_scales, adapt.most.value_or(prepared.most_scales));
    }
    // Scales are judged by residuals far above this, so that the sets of scales on the way may stay rough.
    adapt.level.tolerance = std::max(adapt.level.tolerance, adapt.error / 10.0);
    auto adapted = adapt_scales(prepared.problem(), std::move(pair), adapt, observer, std::move(log));
    keep_scales(prepared, adapted.kept);
    return std::move(adapted.factors);
}

template <RealNumber Real>
FitResult<Real> finish_fit(const PreparedFit<Real>& prepared, SolverState<Real> state, Stop stop) {
    const SolverOptions& solver = prepared.options.solver;
    const BasisForm form = form_of(solver.algorithm);
    FitResult<Real> result;
    result.scales = prepared.scales;
    result.stop = stop;
    result.trace = std::move(state.trace);
    result.factors = std::move(state.current);
    state.previous = {}; // as much memory as what is judged
    if (form == BasisForm::free) {
        normalize_column_sums(result.factors);
        state.residuals.clear(); // they are of the factors before this
    }
    result.residuals = state.residuals.empty() ? kkt_residuals(prepared.problem(), result.factors, form)
                                               : std::move(state.residuals);
    if (prepared.kept) {
        result.scale_error =
            largest(left_out_residuals(prepared.whole_problem(), prepared.kept->position, result.factors));
    }
    put_back(prepared, result.factors);
    result.effective_rank = effective_ranks(*prepared.X, result.factors.H);
    warn_of_collapse(result, prepared);
    if (stop == Stop::sweep_limit && solver.algorithm != Algorithm::reference) {
        const KktResidual total = sum(result.residuals);
        result.warnings.push_back(fmt::format("not converged after {} sweeps: the KKT residual is {:.1e}",
                                              result.trace.size() - 1, total.certificate()));
    }
    return result;
}

template <RealNumber Real>
FitResult<Real> fit(const DataValues& X, const FitOptions& options, const Observer& observer) {
    return fit<Real>(view_of(X), options, observer);
}

template <RealNumber Real>
FitResult<Real> fit(const DataView& X, const FitOptions& options, const Observer& observer) {
    return run(prepare_fit<Real>(X, options), observer);
}

template <RealNumber Real>
FitResult<Real> fit(const DataView& X, const Points& space, const FitOptions& options,
                    const Observer& observer) {
    return run(prepare_fit<Real>(X, space, options), observer);
}

template <RealNumber Real>
FitResult<Real> fit(const DataView& X, const SortedEdges& neighbors, const FitOptions& options,
                    const Observer& observer) {
    return run(prepare_fit<Real>(X, neighbors, options), observer);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template PreparedFit<Real> prepare_fit(const DataValues&, const FitOptions&);                            \
    template PreparedFit<Real> prepare_fit(const DataView&, const FitOptions&);                              \
    template PreparedFit<Real> prepare_fit(const DataView&, const Points&, const FitOptions&,                \
                                           const std::optional<CellRange>&);                                 \
    template PreparedFit<Real> prepare_fit(const DataView&, const SortedEdges&, const FitOptions&);          \
    template PreparedFit<Real> prepare_local_fit(const DataView&, const DataView&, const CellRange&,         \
                                                 const FitOptions&);                                         \
    template Factors<Real> make_start(const PreparedFit<Real>&, const Observer&, StartLog<Real>);            \
    template Factors<Real> adapted_start(PreparedFit<Real>&, const Observer&, StartLog<Real>);               \
    template void keep_scales(PreparedFit<Real>&, const std::vector<Index>&);                                \
    template FitResult<Real> finish_fit(const PreparedFit<Real>&, SolverState<Real>, Stop);                  \
    template FitResult<Real> fit(const DataValues&, const FitOptions&, const Observer&);                     \
    template FitResult<Real> fit(const DataView&, const FitOptions&, const Observer&);                       \
    template FitResult<Real> fit(const DataView&, const Points&, const FitOptions&, const Observer&);        \
    template FitResult<Real> fit(const DataView&, const SortedEdges&, const FitOptions&, const Observer&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
