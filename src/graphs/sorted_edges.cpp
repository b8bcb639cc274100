#include <pnmf/error.hpp>
#include <pnmf/graphs/sorted_edges.hpp>

#include <algorithm>

namespace pnmf {

Index SortedEdges::edges_below(double epsilon) const {
    return std::partition_point(edges.begin(), edges.end(),
                                [&](const Edge& edge) { return edge.length < epsilon; }) -
           edges.begin();
}

std::vector<double> SortedEdges::distance_scales(double complete) const {
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

SortedEdges all_pairs(const Points& points) {
    const Index n = points.count();
    require(n <= largest_set_of_pairs,
            "all pairs of {} cells do not fit: at most {} cells, or a graph of nearest neighbours", n,
            largest_set_of_pairs);
    SortedEdges sorted{.cells = n, .edges = {}};
    sorted.edges.reserve(static_cast<std::size_t>(n * (n - 1) / 2));
    Vector distances(n);
    for (Index i = 0; i < n; ++i) {
        points.distances_from(i, distances);
        for (Index j = i + 1; j < n; ++j) {
            sorted.edges.push_back({.length = distances(j), .i = i, .j = j});
        }
    }
    std::sort(sorted.edges.begin(), sorted.edges.end());
    return sorted;
}

} // namespace pnmf
