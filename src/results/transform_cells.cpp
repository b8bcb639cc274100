#include "persistence/balanced_edges.hpp"

#include <pnmf/error.hpp>
#include <pnmf/results/transform_cells.hpp>

namespace pnmf {
namespace {

/// The columns of both, side by side: `Points` wants one set. Sparse only when both are.
Points points_of(const Dataset& stored, const Dataset& fresh, Metric metric) {
    if (stored.is_sparse() && fresh.is_sparse()) {
        SparseMatrix<double> both = std::get<SparseMatrix<double>>(stored.X);
        const auto& added = std::get<SparseMatrix<double>>(fresh.X);
        const auto offset = both.start.back();
        both.cols += added.cols;
        for (Index j = 0; j < added.cols; ++j) {
            both.start.push_back(offset + added.start[j + 1]);
        }
        both.row.insert(both.row.end(), added.row.begin(), added.row.end());
        both.value.insert(both.value.end(), added.value.begin(), added.value.end());
        return Points(std::move(both), metric);
    }
    const auto dense = [](const Dataset& data) {
        return data.is_sparse() ? to_dense(std::get<SparseMatrix<double>>(data.X)) : std::get<Matrix>(data.X);
    };
    Matrix both(stored.features(), stored.cells() + fresh.cells());
    both << dense(stored), dense(fresh);
    return Points(std::move(both), metric);
}

/// The same in the space of the fit: its cells in the order of the result, then the new ones.
Points points_in_space(const StoredResult& result, const Dataset& fresh, Metric metric) {
    const Matrix& stored = result.space->coordinates;
    require(fresh.space.has_value(), "the fit took its distances from {}, and the new cells have none",
            result.space->name);
    require(fresh.space->coordinates.rows() == stored.rows(),
            "{}: the space {} of the fit has {} coordinates, that of the new cells {}", result.name,
            result.space->name, stored.rows(), fresh.space->coordinates.rows());
    Matrix both(stored.rows(), result.cells() + fresh.cells());
    both << (result.order.position.empty() ? stored : Matrix(stored(Eigen::all, result.order.position))),
        fresh.space->coordinates;
    return Points(std::move(both), metric);
}

/// The basis of the recommended scale is in every result; those of the others where they were kept.
Matrix basis_at(const StoredResult& result, Index t) {
    if (t == result.recommended) {
        if (std::optional<Matrix> W = result.recommended_basis()) {
            return std::move(*W);
        }
    }
    return result.W(t);
}

/// Distances between new cells and cells of the fit that are in memory at a time: 64 MB, and at least those
/// of one new cell.
constexpr Index distances_at_a_time = 8'000'000;

/// What the graphs of these scales say of the new cells, a block of them at a time.
std::vector<StoredNeighbours<double>> graph_of(const StoredResult& result, const FitOptions& fit,
                                               const Points& points, const std::vector<Index>& scales) {
    const Index stored = result.cells();
    const Index fresh = points.count() - stored;
    const std::vector<Index> batch =
        result.batches ? result.in_order(result.batches->of_cell) : std::vector<Index>{};
    std::vector<Matrix> H;
    std::vector<StoredNeighbours<double>> sums;
    for (const Index t : scales) {
        H.push_back(result.H(t));
        sums.push_back({.HA = Matrix(result.rank, fresh), .degree = Vector(fresh)});
    }
    const Index block = std::max<Index>(1, distances_at_a_time / std::max<Index>(1, stored));
    for (Index begin = 0; begin < fresh; begin += block) {
        const Index count = std::min(block, fresh - begin);
        Matrix distances = distances_to_new(points, stored, begin, begin + count);
        std::optional<Index> neighbors = fit.filtration.neighbors;
        if (!batch.empty()) {
            balance_distances(distances, batch, neighbors.value_or(1));
            neighbors.reset(); // those that are left are the neighbours
        }
        for (std::size_t s = 0; s < scales.size(); ++s) {
            const EdgeWeight weight(result.epsilon[static_cast<std::size_t>(scales[s])],
                                    fit.filtration.alpha);
            const auto part = stored_neighbours<double>(distances, weight, H[s], neighbors);
            sums[s].HA.middleCols(begin, count) = part.HA;
            sums[s].degree.segment(begin, count) = part.degree;
        }
    }
    return sums;
}

} // namespace

std::vector<TransformedScale> transform_cells(const StoredResult& result, const Dataset& fresh,
                                              const std::vector<Index>& scales, const Dataset* data_of_fit) {
    for (const Index t : scales) {
        require(t >= 0 && t < result.scales, "there are {} scales, the finest is 0, got {}", result.scales,
                t);
    }
    std::vector<StoredNeighbours<double>> graph;
    if (data_of_fit != nullptr) {
        const FitOptions fit = result.options();
        require_whole(result, "the graph is that");
        require(data_of_fit->cells() == result.cells(), "the fit had {} cells, its data have {}",
                result.cells(), data_of_fit->cells());
        graph = graph_of(result, fit,
                         result.space ? points_in_space(result, fresh, fit.filtration.metric)
                                      : points_of(*data_of_fit, fresh, fit.filtration.metric),
                         scales);
    }
    // λ₂ plays no part: scales are embedded one by one.
    const Penalty penalty{.graph = result.penalty.graph, .smoothness = 0.0, .anchor = result.penalty.anchor};
    const auto X = std::visit([](const auto& values) { return DataMatrix<double>(values); }, fresh.X);
    std::vector<TransformedScale> transformed;
    for (std::size_t s = 0; s < scales.size(); ++s) {
        const Index t = scales[s];
        TransformedScale one{.scale = t,
                             .epsilon =
                                 result.epsilon.empty() ? 0.0 : result.epsilon[static_cast<std::size_t>(t)],
                             .cells = {}};
        if (!graph.empty()) {
            one.with_neighbours = (graph[s].degree.array() > 0.0).count();
        }
        one.cells = embed_cells(X, basis_at(result, t), penalty, graph.empty() ? nullptr : &graph[s]);
        transformed.push_back(std::move(one));
    }
    return transformed;
}

} // namespace pnmf
