#pragma once

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/fit_order.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/names.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/scales/scale_set.hpp>
#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pnmf {

/// Where the iteration begins.
enum class Start {
    nested,    ///< from few scales to many (`nested_start`): for stationary
    chained,   ///< GNMF from coarse to fine (`chained_start`): the published protocol's
    broadcast, ///< one seeded pair at every scale
};

template <>
struct EnumNames<Start> {
    static constexpr auto values = name_table<Start>(
        {{"nested", Start::nested}, {"chained", Start::chained}, {"broadcast", Start::broadcast}});
};

/// Everything that can be chosen for a fit, with the paper's letters. `visit_options` lists them all.
struct FitOptions {
    std::optional<Index> rank{};    ///< d; default ⌈√n⌉, at most min(p, n)
    Penalty penalty{};              ///< λ₁, λ₂, λ₃
    FiltrationOptions filtration{}; ///< metric, scales and graphs
    /// Keep only as many scales as stand for all of them up to this error, at most `max_scales`
    /// (`adapt_scales`, stationary alone). Default: all scales, or `max_scales` evenly spaced ones.
    std::optional<double> scale_error{};
    SolverOptions solver{};
    std::optional<Start> start{}; ///< default nested for stationary, chained for reference and paper
    Seeding seeding = Seeding::nndsvda;
    std::uint64_t seed = 0;
    /// Of a run (`run_fit`): whether large arrays lie in files of the folder for temporary files. Default:
    /// where memory is too small. The result has the same bits.
    std::optional<bool> out_of_core{};
    /// Whether X, where it is sparse, may stay in memory of the host when that of a device is too small. The
    /// host then holds it twice; `run_fit` finds out whether it can. The result has the same bits.
    bool data_may_stay = false;
};

/// Few scales among all.
struct KeptScales {
    ScaleSet all;
    std::vector<Index> position;    ///< of each scale of the fit among them
    std::vector<double> smoothness; ///< couplings of neighbouring scales of the fit (`at_scales`)
};

/// Scales, graphs and data of a fit: what stays fixed while the solver runs.
///
/// Above 4,096 cells a fit by `stationary` with a graph of neighbours works on its cells in another order,
/// `order`. X and graph have it, and so have all factors until `finish_fit` puts them back into the order of
/// the data. The tree has the order of the data.
template <RealNumber Real>
struct PreparedFit {
    FitOptions options;
    Index rank = 0;
    std::unique_ptr<const DataMatrix<Real>> X;
    std::optional<SpanningTree> tree; ///< of the filtration; none where the graph was given (a baseline)
    ScaleSet scales;
    std::optional<KeptScales> kept; ///< which scales these are, where few stand for all (`keep_scales`)
    std::unique_ptr<const MultiscaleGraph> graph;
    FitOrder order;                   ///< of the cells in X and graph
    Penalty penalty;                  ///< that of the options
    std::vector<std::string> notices; ///< every automatic choice, a sentence each
    Index most_scales = 0;            ///< of few that stand for all, by the memory; 0: no limit of that kind
    bool data_on_host = false;        ///< decided with the device
    std::filesystem::path bases_in{}; ///< where bases rest in a file when memory is short; empty: in memory

    /// At the scales of the fit.
    Problem<Real> problem() const {
        return {X.get(),
                graph.get(),
                scales.epsilon,
                penalty,
                kept ? scales.weight : std::vector<double>{},
                kept ? kept->smoothness : std::vector<double>{},
                data_on_host};
    }
    /// At all scales for which those of the fit stand.
    Problem<Real> whole_problem() const {
        return {X.get(), graph.get(), kept ? kept->all.epsilon : scales.epsilon, penalty, {},
                {},      data_on_host};
    }
    /// Whether few scales are to be found that stand for all: `adapted_start` does that.
    bool adapts() const { return options.scale_error.has_value() && !kept; }
};

/// Data as the readers give them, features × cells.
using DataValues = std::variant<Matrix, SparseMatrix<double>>;
DataView view_of(const DataValues& X);

/// All checks of options and data, then persistence, scales and the graph, all from X.
template <RealNumber Real>
PreparedFit<Real> prepare_fit(const DataValues& X, const FitOptions& options);
/// The same without a copy of X in double precision: what is viewed must outlive the result.
template <RealNumber Real>
PreparedFit<Real> prepare_fit(const DataView& X, const FitOptions& options);

/// The same with distances from somewhere else: X is factorised, while tree, scales and graphs come from
/// these points. They may have any coordinates, of any sign (principal components, say), or be made from a
/// matrix of distances (`Points::from_distances`). As many points as X has cells, in the same order, or
/// InputError. They have their own metric: the one of the options is not looked at.
///
/// With several processes X may be sparse and hold a part of the cells alone, those that sweeps give this
/// process
/// (`local_range`); the points are those of all.
template <RealNumber Real>
PreparedFit<Real> prepare_fit(const DataView& X, const Points& space, const FitOptions& options,
                              const std::optional<CellRange>& local = {});
/// The same from a neighbour graph (`sorted_edges`): its edges are those of the graphs, and no neighbours are
/// searched.
template <RealNumber Real>
PreparedFit<Real> prepare_fit(const DataView& X, const SortedEdges& neighbors, const FitOptions& options);

/// Tree and scales alone, as a fit with these options makes them of these points, all or evenly spaced ones.
Filtration tree_and_scales(const Points& points, const FitOptions& options);

/// The start the options ask for. Throws Interrupted when the observer's `starting` or the log says stop.
template <RealNumber Real>
Factors<Real> make_start(const PreparedFit<Real>& prepared, const Observer& observer = {},
                         StartLog<Real> log = {});

/// The start of a fit with `scale_error`: finds the few scales that stand for all, and makes them those of
/// the fit. The whole problem before it (`adapts`), the small one after it.
template <RealNumber Real>
Factors<Real> adapted_start(PreparedFit<Real>& prepared, const Observer& observer = {},
                            StartLog<Real> log = {});

/// Makes these the scales of the fit, by their positions among all.
template <RealNumber Real>
void keep_scales(PreparedFit<Real>& prepared, const std::vector<Index>& positions);

/// What a fit found. Scales run finest → coarsest. Cells have the order of the data. Where X has not all
/// cells, H of `factors` has the cells of its range.
template <RealNumber Real>
struct FitResult {
    ScaleSet scales;
    Factors<Real> factors;
    std::vector<Objective> trace;       ///< after each sweep, start first
    std::vector<KktResidual> residuals; ///< of each scale, evaluated anew from these `factors`
    std::vector<double> effective_rank; ///< of each H_t
    double scale_error = 0.0; ///< the largest KKT residual of interpolated factors at a scale left out
    Stop stop = Stop::converged;
    std::vector<std::string> warnings; ///< collapse, no convergence: in plain words
    /// H with all cells, in a file, where processes hold some of them each (`keep_embeddings`, the first
    /// process). None where `factors` have them all.
    std::optional<MatrixFile<Real>> embeddings{};

    /// H_t with all cells, in `buffer` when it rests in the file.
    const DenseMatrix<Real>& embedding(Index t, DenseMatrix<Real>& buffer) const {
        if (!embeddings) {
            return factors.H[static_cast<std::size_t>(t)];
        }
        embeddings->read(t, buffer);
        return buffer;
    }
};

/// Evaluates a finished (or interrupted) run.
template <RealNumber Real>
FitResult<Real> finish_fit(const PreparedFit<Real>& prepared, SolverState<Real> state, Stop stop);

/// The factorisations alone: prepare, start, run, finish. `run_fit` (run/run.hpp) also clusters the cells
/// and recommends a scale.
///
///     const auto result = fit<double>(X, {.rank = 10});
///     const Matrix& finest = result.factors.H.front(); // rank × cells
template <RealNumber Real = double>
FitResult<Real> fit(const DataValues& X, const FitOptions& options = {}, const Observer& observer = {});
template <RealNumber Real = double>
FitResult<Real> fit(const DataView& X, const FitOptions& options = {}, const Observer& observer = {});
/// The whole with distances from somewhere else, as `prepare_fit` takes them.
///
///     const auto result = fit<double>(view_of(X), Points(principal_components), {.rank = 10});
template <RealNumber Real = double>
FitResult<Real> fit(const DataView& X, const Points& space, const FitOptions& options = {},
                    const Observer& observer = {});
template <RealNumber Real = double>
FitResult<Real> fit(const DataView& X, const SortedEdges& neighbors, const FitOptions& options = {},
                    const Observer& observer = {});

} // namespace pnmf
