#include <pnmf/diagnostics/theorems.hpp>

#include "persistence/union_find.hpp"

#include <algorithm>
#include <cmath>

namespace pnmf {

Index ComponentCounts::at(double epsilon) const {
    // The first merge at a length that is not shorter than ε has not happened yet.
    const auto merge = std::lower_bound(length.begin(), length.end(), epsilon);
    return merge == length.end() ? last : before[merge - length.begin()];
}

ComponentCounts component_counts(const SortedEdges& sorted) {
    UnionFind sets(sorted.cells);
    ComponentCounts counts;
    for (const Edge& edge : sorted.edges) {
        const Index before = sets.sets();
        if (sets.join(edge.i, edge.j) && (counts.length.empty() || counts.length.back() < edge.length)) {
            counts.length.push_back(edge.length);
            counts.before.push_back(before);
        }
    }
    counts.last = sets.sets();
    return counts;
}

LaplacianIncrement laplacian_increment(const SortedEdges& sorted, double alpha, double epsilon,
                                       double next_epsilon) {
    const EdgeWeight next(next_epsilon, alpha);
    const EdgeWeight now(epsilon > 0.0 ? epsilon : next_epsilon, alpha);
    const Index old_edges = epsilon > 0.0 ? sorted.edges_below(epsilon) : 0;
    const Index edges = sorted.edges_below(next_epsilon);
    LaplacianIncrement increment;
    increment.new_edges = edges - old_edges;
    Vector degrees = Vector::Zero(sorted.cells);
    double weights = 0.0;
    for (Index e = 0; e < edges; ++e) {
        const Edge& edge = sorted.edges[e];
        const double change = next.of_edge(edge.length) - (e < old_edges ? now.of_edge(edge.length) : 0.0);
        weights += 2.0 * change * change;
        degrees(edge.i) += change;
        degrees(edge.j) += change;
        increment.smallest_change = std::min(increment.smallest_change, change);
    }
    increment.norm = std::sqrt(degrees.squaredNorm() + weights);
    return increment;
}

Matrix laplacian(const SortedEdges& sorted, double alpha, double epsilon) {
    const EdgeWeight weight(epsilon, alpha);
    Matrix L = Matrix::Zero(sorted.cells, sorted.cells);
    const Index edges = sorted.edges_below(epsilon);
    for (Index e = 0; e < edges; ++e) {
        const Edge& edge = sorted.edges[e];
        const double value = weight.of_edge(edge.length);
        L(edge.i, edge.j) = L(edge.j, edge.i) = -value;
        L(edge.i, edge.i) += value;
        L(edge.j, edge.j) += value;
    }
    return L;
}

} // namespace pnmf
