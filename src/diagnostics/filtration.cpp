#include <pnmf/diagnostics/filtration.hpp>
#include <pnmf/error.hpp>

#include "persistence/union_find.hpp"

#include <algorithm>
#include <cmath>

namespace pnmf {

Index Filtration::edges_below(double epsilon) const {
    return std::partition_point(edges.begin(), edges.end(),
                                [&](const Edge& edge) { return edge.length < epsilon; }) -
           edges.begin();
}

std::vector<double> Filtration::distance_scales(double complete) const {
    std::vector<double> scales;
    for (const Edge& edge : edges) {
        if (edge.length > 0.0 && (scales.empty() || scales.back() < edge.length)) {
            scales.push_back(edge.length);
        }
    }
    if (scales.empty() || scales.back() < complete) {
        scales.push_back(complete);
    }
    return scales;
}

Filtration all_pairs(const Points& points) {
    const Index n = points.count();
    require(n <= largest_complete_filtration,
            "all pairs of {} cells do not fit: at most {} cells, or a graph of nearest neighbours", n,
            largest_complete_filtration);
    Filtration filtration{.cells = n, .edges = {}};
    filtration.edges.reserve(static_cast<std::size_t>(n * (n - 1) / 2));
    Vector distances(n);
    for (Index i = 0; i < n; ++i) {
        points.distances_from(i, distances);
        for (Index j = i + 1; j < n; ++j) {
            filtration.edges.push_back({.length = distances(j), .i = i, .j = j});
        }
    }
    std::sort(filtration.edges.begin(), filtration.edges.end());
    return filtration;
}

Filtration edges_of(const SparseMultiscaleGraph& graph) {
    const NeighborLists& lists = graph.lists();
    Filtration filtration{.cells = graph.cells(), .edges = {}};
    for (Index i = 0; i < graph.cells(); ++i) {
        for (auto e = lists.start[i]; e < lists.start[i + 1]; ++e) {
            if (lists.cell[e] > i) {
                filtration.edges.push_back({.length = lists.length[e], .i = i, .j = lists.cell[e]});
            }
        }
    }
    std::sort(filtration.edges.begin(), filtration.edges.end());
    return filtration;
}

Index ComponentCounts::at(double epsilon) const {
    // The first merge at a length that is not shorter than ε has not happened yet.
    const auto merge = std::lower_bound(length.begin(), length.end(), epsilon);
    return merge == length.end() ? last : before[merge - length.begin()];
}

ComponentCounts component_counts(const Filtration& filtration) {
    UnionFind sets(filtration.cells);
    ComponentCounts counts;
    for (const Edge& edge : filtration.edges) {
        const Index before = sets.sets();
        if (sets.join(edge.i, edge.j) && (counts.length.empty() || counts.length.back() < edge.length)) {
            counts.length.push_back(edge.length);
            counts.before.push_back(before);
        }
    }
    counts.last = sets.sets();
    return counts;
}

LaplacianIncrement laplacian_increment(const Filtration& filtration, double alpha, double epsilon,
                                       double next_epsilon) {
    const EdgeWeight next(next_epsilon, alpha);
    const EdgeWeight now(epsilon > 0.0 ? epsilon : next_epsilon, alpha);
    const Index old_edges = epsilon > 0.0 ? filtration.edges_below(epsilon) : 0;
    const Index edges = filtration.edges_below(next_epsilon);
    LaplacianIncrement increment;
    increment.new_edges = edges - old_edges;
    Vector degrees = Vector::Zero(filtration.cells);
    double weights = 0.0;
    for (Index e = 0; e < edges; ++e) {
        const Edge& edge = filtration.edges[e];
        const double change = next.of_edge(edge.length) - (e < old_edges ? now.of_edge(edge.length) : 0.0);
        weights += 2.0 * change * change;
        degrees(edge.i) += change;
        degrees(edge.j) += change;
        increment.smallest_change = std::min(increment.smallest_change, change);
    }
    increment.norm = std::sqrt(degrees.squaredNorm() + weights);
    return increment;
}

Matrix laplacian(const Filtration& filtration, double alpha, double epsilon) {
    const EdgeWeight weight(epsilon, alpha);
    Matrix L = Matrix::Zero(filtration.cells, filtration.cells);
    const Index edges = filtration.edges_below(epsilon);
    for (Index e = 0; e < edges; ++e) {
        const Edge& edge = filtration.edges[e];
        const double value = weight.of_edge(edge.length);
        L(edge.i, edge.j) = L(edge.j, edge.i) = -value;
        L(edge.i, edge.i) += value;
        L(edge.j, edge.j) += value;
    }
    return L;
}

} // namespace pnmf
