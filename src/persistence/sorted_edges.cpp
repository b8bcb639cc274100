#include <pnmf/error.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include "persistence/kruskal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

SortedEdges sorted_edges(Index cells, std::vector<Edge> edges) {
    require(cells >= 1, "a graph must have at least one cell, got {}", cells);
    for (const Edge& edge : edges) {
        require(0 <= edge.i && edge.i < edge.j && edge.j < cells,
                "an edge must join two of the {} cells, the smaller one first, got {} and {}", cells, edge.i,
                edge.j);
        require(std::isfinite(edge.length) && edge.length >= 0.0,
                "the length of an edge must be a finite number, at least 0, got {} between cells {} and {}",
                edge.length, edge.i, edge.j);
    }
    const auto ends = [](const Edge& edge) { return std::pair(edge.i, edge.j); };
    std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
        return std::pair(ends(a), a.length) < std::pair(ends(b), b.length);
    });
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto twice = std::adjacent_find(edges.begin(), edges.end(),
                                          [&](const Edge& a, const Edge& b) { return ends(a) == ends(b); });
    if (twice != edges.end()) {
        fail("two cells are joined by one edge, got lengths {} and {} between cells {} and {}", twice->length,
             (twice + 1)->length, twice->i, twice->j);
    }
    std::sort(edges.begin(), edges.end());
    return {cells, std::move(edges)};
}

SortedEdges all_pairs(const Points& points) {
    const Index n = points.count();
    require(n <= largest_set_of_pairs,
            "all pairs of {} cells do not fit: at most {} cells, or a graph of nearest neighbours", n,
            largest_set_of_pairs);
    SortedEdges sorted(n, {});
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

SpanningTree minimum_spanning_tree(const SortedEdges& sorted) {
    SpanningTree tree{.cells = sorted.cells, .edges = kruskal(sorted.cells, sorted.edges)};
    const Index components = sorted.cells - static_cast<Index>(tree.edges.size());
    require(
        components == 1,
        "the edges of the neighbour graph must join all cells, but leave {} components: add edges between "
        "them, or take more neighbours",
        components);
    tree.largest_distance = sorted.edges.empty() ? 0.0 : sorted.edges.back().length;
    return tree;
}

} // namespace pnmf
