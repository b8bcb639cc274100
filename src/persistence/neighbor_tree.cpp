#include "cells/shared_work.hpp"
#include "persistence/join_components.hpp"
#include "persistence/kruskal.hpp"
#include "persistence/search_space.hpp"
#include "persistence/searched_pairs.hpp"

#include "persistence/neighbor_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace pnmf {
namespace {

/// The edges between components: a spanning tree of their first cells, each edge then made shorter.
std::vector<Edge> joining_edges(const Points& points, const std::vector<std::vector<Index>>& components) {
    std::vector<Index> first;
    first.reserve(components.size());
    for (const std::vector<Index>& component : components) {
        first.push_back(component.front());
    }
    const SpanningTree tree = tree_of_firsts(points.subset(first));
    std::vector<Edge> edges(tree.edges.size());
    over_shared_items(std::ssize(edges), [&](Index e) {
        const auto [length, i, j] = tree.edges[e];
        edges[e] = shortened_edge(points, tried_of(components[i]), tried_of(components[j]));
    });
    gather_blocks(1, std::span(edges));
    return edges;
}

/// The largest distance from a few cells and from the cells farthest from them.
double largest_seen(const Points& points) {
    const Index n = points.count();
    const std::vector<Index> starts = starts_of_distances(n);
    std::vector<double> largest(starts.size(), 0.0);
    over_shared_items(std::ssize(starts), [&](Index s) {
        Vector distances(n);
        Index farthest = starts[s];
        for (int step = 0; step < steps_from_start; ++step) {
            points.distances_from(farthest, distances);
            largest[s] = std::max(largest[s], distances.maxCoeff(&farthest));
        }
    });
    gather_blocks(1, std::span(largest));
    return *std::max_element(largest.begin(), largest.end());
}

/// The nearest to a cell among some others.
Index nearest_of(const Points& points, Index cell, const std::vector<Index>& others) {
    Index nearest = others.front();
    double distance = std::numeric_limits<double>::infinity();
    for (const Index other : others) {
        if (const double d = points.distance(cell, other); d < distance) {
            distance = d;
            nearest = other;
        }
    }
    return nearest;
}

} // namespace

Components cells_of_components(Index cells, const std::vector<Edge>& forest) {
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

std::vector<Index> tried_of(const std::vector<Index>& component) {
    constexpr Index most = 1000;
    const Index size = std::ssize(component);
    const Index tried = std::min(size, most);
    std::vector<Index> cells;
    cells.reserve(static_cast<std::size_t>(tried));
    for (Index s = 0; s < tried; ++s) {
        cells.push_back(component[s * size / tried]);
    }
    return cells;
}

Edge shortened_edge(const Points& points, const std::vector<Index>& A, const std::vector<Index>& B) {
    constexpr int most_rounds = 8;
    Index a = A.front();
    Index b = B.front();
    const auto edge_between = [&] { return Edge{points.distance(a, b), std::min(a, b), std::max(a, b)}; };
    Edge best = edge_between();
    for (int round = 0; round < most_rounds; ++round) {
        b = nearest_of(points, a, B);
        a = nearest_of(points, b, A);
        const Edge edge = edge_between();
        if (edge >= best) {
            break;
        }
        best = edge;
    }
    return best;
}

SpanningTree tree_of_firsts(const Points& first) {
    return first.count() <= largest_exact_search
               ? minimum_spanning_tree(first)
               : neighbor_tree(first, neighbor_edges(first, {.search = NeighborSearch::clustered}).edges);
}

std::vector<Index> starts_of_distances(Index cells) {
    constexpr Index starts = 8;
    return sample_of_cells(cells, std::min(cells, starts), 0);
}

SpanningTree tree_of_neighbors(Index cells, const std::vector<Edge>& edges,
                               const std::function<std::vector<Edge>(const Components&)>& joining,
                               double largest_seen) {
    SpanningTree tree;
    tree.cells = cells;
    tree.edges = kruskal(cells, edges);
    if (const Components components = cells_of_components(cells, tree.edges); components.size() > 1) {
        const std::vector<Edge> between = joining(components);
        tree.edges.insert(tree.edges.end(), between.begin(), between.end());
        std::sort(tree.edges.begin(), tree.edges.end());
    }
    tree.largest_distance = std::max({largest_seen, longest(edges), longest(tree.edges)});
    return tree;
}

SpanningTree neighbor_tree(const Points& points, const std::vector<Edge>& edges) {
    return tree_of_neighbors(
        points.count(), edges,
        [&](const Components& components) { return joining_edges(points, components); },
        largest_seen(points));
}

TreeAndNeighbors tree_and_neighbors(const Points& points, std::optional<Index> neighbors,
                                    NeighborSearch search, std::uint64_t seed, PairSearcher* searcher) {
    if (searcher != nullptr && neighbors) {
        search = chosen_search_of_device(search, points.count());
        if (search == NeighborSearch::exact) {
            return searched_tree_and_neighbors(points, *neighbors, *searcher);
        }
    }
    TreeAndNeighbors found;
    if (neighbors) {
        found.neighbors = neighbor_edges(
            points, {.neighbors = *neighbors, .search = search, .seed = seed, .searcher = searcher});
    }
    found.tree =
        found.tree_is_exact() ? minimum_spanning_tree(points) : neighbor_tree(points, found.neighbors->edges);
    return found;
}

} // namespace pnmf
