#include "over_ranks.hpp"
#include "persistence/kruskal.hpp"
#include "persistence/search_space.hpp"
#include "persistence/searched_pairs.hpp"

#include <pnmf/persistence/neighbor_tree.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace pnmf {
namespace {

constexpr Index tried_cells = 1000; // of a component, when the edge to another is made shorter
constexpr int most_rounds = 8;
constexpr Index distance_starts = 8;

Edge edge_between(const Points& points, Index a, Index b) {
    return {points.distance(a, b), std::min(a, b), std::max(a, b)};
}

/// The cells of each component of a forest, components by their first cell.
std::vector<std::vector<Index>> cells_of_components(Index cells, const std::vector<Edge>& forest) {
    UnionFind sets(cells);
    for (const Edge& edge : forest) {
        sets.join(edge.i, edge.j);
    }
    std::vector<Index> number(static_cast<std::size_t>(cells), -1);
    std::vector<std::vector<Index>> components;
    for (Index cell = 0; cell < cells; ++cell) {
        Index& component = number[sets.find(cell)];
        if (component < 0) {
            component = static_cast<Index>(components.size());
            components.emplace_back();
        }
        components[component].push_back(cell);
    }
    return components;
}

/// The nearest to a cell among some of a component's.
Index nearest_of(const Points& points, Index cell, const std::vector<Index>& component) {
    const auto size = static_cast<Index>(component.size());
    const Index tried = std::min(size, tried_cells);
    Index nearest = component.front();
    double distance = std::numeric_limits<double>::infinity();
    for (Index s = 0; s < tried; ++s) {
        const Index other = component[s * size / tried];
        if (const double d = points.distance(cell, other); d < distance) {
            distance = d;
            nearest = other;
        }
    }
    return nearest;
}

/// From a cell of A and one of B to a nearer pair, by turns.
Edge shortened(const Points& points, Index a, const std::vector<Index>& A, Index b,
               const std::vector<Index>& B) {
    Edge best = edge_between(points, a, b);
    for (int round = 0; round < most_rounds; ++round) {
        b = nearest_of(points, a, B);
        a = nearest_of(points, b, A);
        const Edge edge = edge_between(points, a, b);
        if (edge >= best) {
            break;
        }
        best = edge;
    }
    return best;
}

/// The edges between components: a spanning tree of their first cells, each edge then made shorter.
std::vector<Edge> joining_edges(const Points& points, const std::vector<std::vector<Index>>& components) {
    std::vector<Index> first;
    first.reserve(components.size());
    for (const std::vector<Index>& component : components) {
        first.push_back(component.front());
    }
    const Points some = points.subset(first);
    const SpanningTree tree =
        some.count() <= largest_exact_search
            ? minimum_spanning_tree(some)
            : neighbor_tree(some, neighbor_edges(some, {.search = NeighborSearch::clustered}).edges);
    std::vector<Edge> edges(tree.edges.size());
    Communicator& ranks = communicator();
    over_items_of_rank(ranks, std::ssize(edges), [&](Index e) {
        const auto [length, i, j] = tree.edges[e];
        edges[e] = shortened(points, first[i], components[i], first[j], components[j]);
    });
    gather_blocks(ranks, 1, std::span(edges));
    return edges;
}

double longest(const std::vector<Edge>& ascending) {
    return ascending.empty() ? 0.0 : ascending.back().length;
}

/// The largest distance from a few cells and from the cells farthest from them.
double largest_seen(const Points& points) {
    const Index n = points.count();
    const std::vector<Index> starts = sample_of_cells(n, std::min(n, distance_starts), 0);
    std::vector<double> largest(starts.size(), 0.0);
    Communicator& ranks = communicator();
    over_items_of_rank(ranks, std::ssize(starts), [&](Index s) {
        Vector distances(n);
        Index farthest = starts[s];
        for (int step = 0; step < 3; ++step) {
            points.distances_from(farthest, distances);
            largest[s] = std::max(largest[s], distances.maxCoeff(&farthest));
        }
    });
    gather_blocks(ranks, 1, std::span(largest));
    return *std::max_element(largest.begin(), largest.end());
}

} // namespace

SpanningTree neighbor_tree(const Points& points, const std::vector<Edge>& edges) {
    SpanningTree tree;
    tree.cells = points.count();
    tree.edges = kruskal(tree.cells, edges);
    const std::vector<std::vector<Index>> components = cells_of_components(tree.cells, tree.edges);
    if (components.size() > 1) {
        const std::vector<Edge> joining = joining_edges(points, components);
        tree.edges.insert(tree.edges.end(), joining.begin(), joining.end());
        std::sort(tree.edges.begin(), tree.edges.end());
    }
    tree.largest_distance = std::max({largest_seen(points), longest(edges), longest(tree.edges)});
    return tree;
}

TreeAndNeighbors tree_and_neighbors(const Points& points, std::optional<Index> neighbors,
                                    NeighborSearch search, std::uint64_t seed, PairSearcher* searcher) {
    const bool all_pairs = search == NeighborSearch::automatic || search == NeighborSearch::exact;
    if (searcher != nullptr && neighbors && all_pairs) {
        return searched_tree_and_neighbors(points, *neighbors, *searcher);
    }
    TreeAndNeighbors found;
    if (neighbors) {
        found.neighbors = neighbor_edges(points, {.neighbors = *neighbors, .search = search, .seed = seed});
    }
    found.tree =
        found.tree_is_exact() ? minimum_spanning_tree(points) : neighbor_tree(points, found.neighbors->edges);
    return found;
}

} // namespace pnmf
