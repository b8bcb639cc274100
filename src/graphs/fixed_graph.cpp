#include <pnmf/error.hpp>

#include "graphs/fixed_graph.hpp"
#include "graphs/scale_forms.hpp"
#include "persistence/kruskal.hpp"

#include <cmath>
#include <utility>

namespace pnmf {
namespace {

void check_weights(const SparseMatrix<double>& A) {
    check_structure(A);
    require(A.rows == A.cols, "the weights of a graph must be square, got {} x {}", A.rows, A.cols);
    for (Index j = 0; j < A.cols; ++j) {
        for (auto e = A.start[j]; e < A.start[j + 1]; ++e) {
            const double w = A.value[e];
            require(std::isfinite(w) && w >= 0.0,
                    "the weights of a graph must be finite and nonnegative, got {} at row {}, column {}", w,
                    A.row[e] + Index{1}, j + 1);
            require(A.row[e] != j || w == 0.0,
                    "a graph must not join a cell to itself, got weight {} at cell {}", w, j + 1);
        }
    }
}

SparseMatrix<double> without_zeros(const SparseMatrix<double>& A) {
    SparseMatrix<double> result;
    result.rows = A.rows;
    result.cols = A.cols;
    for (Index j = 0; j < A.cols; ++j) {
        for (auto e = A.start[j]; e < A.start[j + 1]; ++e) {
            if (A.value[e] != 0.0) {
                result.row.push_back(A.row[e]);
                result.value.push_back(A.value[e]);
            }
        }
        result.start.push_back(static_cast<std::int64_t>(result.row.size()));
    }
    return result;
}

void check_symmetry(const SparseMatrix<double>& A) {
    const SparseMatrix<double> transposed = transpose(A);
    for (Index j = 0; j < A.cols; ++j) {
        const auto count = A.start[j + 1] - A.start[j];
        require(count == transposed.start[j + 1] - transposed.start[j],
                "the weights of a graph must be symmetric, but cell {} has {} edges in its column and {} in "
                "its row",
                j + 1, count, transposed.start[j + 1] - transposed.start[j]);
        for (auto e = A.start[j]; e < A.start[j + 1]; ++e) {
            require(A.row[e] == transposed.row[e] && A.value[e] == transposed.value[e],
                    "the weights of a graph must be symmetric, but differ at row {}, column {}",
                    A.row[e] + Index{1}, j + 1);
        }
    }
}

/// The first edges that join two components, in the order of their ends.
SpanningTree spanning_forest(const NeighborLists& lists) {
    std::vector<Edge> edges;
    for (Index j = 0; j < lists.cells(); ++j) {
        for (auto e = lists.start[j]; e < lists.start[j + 1]; ++e) {
            if (j < lists.cell[e]) {
                edges.push_back({.length = 0.0, .i = j, .j = lists.cell[e]});
            }
        }
    }
    return {.cells = lists.cells(), .edges = kruskal(lists.cells(), edges)};
}

} // namespace

FixedGraph::FixedGraph(const SparseMatrix<double>& weights) {
    check_weights(weights);
    SparseMatrix<double> A = without_zeros(weights);
    check_symmetry(A);

    ListWeights scale;
    scale.facts.edges = A.nonzeros() / 2;
    scale.facts.degrees.resize(A.cols);
    for (Index j = 0; j < A.cols; ++j) {
        double degree = 0.0;
        for (auto e = A.start[j]; e < A.start[j + 1]; ++e) {
            degree += A.value[e];
        }
        scale.facts.degrees[j] = degree;
    }
    scale.first = A.start;
    scale.weight = std::move(A.value);

    NeighborLists lists;
    lists.start = std::move(A.start);
    lists.cell = std::move(A.row);
    forest_ = spanning_forest(lists);
    lists_ = std::make_shared<const NeighborLists>(std::move(lists));
    weights_ = std::make_shared<const ListWeights>(std::move(scale));
}

std::unique_ptr<MultiscaleGraph::Scale> FixedGraph::at(double) const {
    return std::make_unique<ListScale>(lists_, weights_);
}

SparseView<double> FixedGraph::weights() const {
    return {cells(), cells(), lists_->start, lists_->cell, weights_->weight};
}

FixedGraph empty_graph(Index cells) {
    require(cells >= 1, "a graph must have at least one cell, got {}", cells);
    SparseMatrix<double> weights;
    weights.rows = cells;
    weights.cols = cells;
    weights.start.assign(static_cast<std::size_t>(cells) + 1, 0);
    return FixedGraph(weights);
}

} // namespace pnmf
