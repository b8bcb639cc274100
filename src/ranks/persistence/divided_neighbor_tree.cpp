#include "cells/cell_blocks.hpp"
#include "cells/shared_work.hpp"
#include "persistence/join_components.hpp"
#include "persistence/neighbor_candidates.hpp"
#include "persistence/neighbors_of.hpp"
#include "ranks/persistence/divided_search.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace pnmf {
namespace {

/// Edges [first, past) of a tree of components, and the cells at which they may end, ascending.
struct EdgeBatch {
    Index first = 0;
    Index past = 0;
    std::vector<Index> cells{};
};

/// The edges of this process, as many at a time as need no more than about `fetched` points.
std::vector<EdgeBatch> batches_of(const SpanningTree& tree, const std::vector<std::vector<Index>>& components,
                                  const Processes& processes, Index fetched) {
    const auto count = std::ssize(tree.edges);
    const Index past = first_of_process(count, processes.place() + 1, processes.count());
    std::vector<EdgeBatch> batches;
    for (Index e = first_of_process(count, processes.place(), processes.count()); e < past; ++e) {
        if (batches.empty() || std::ssize(batches.back().cells) >= fetched) {
            batches.push_back({.first = e, .past = e});
        }
        EdgeBatch& batch = batches.back();
        batch.past = e + 1;
        for (const Index component : {tree.edges[e].i, tree.edges[e].j}) {
            const std::vector<Index> tried = tried_of(components[component]);
            batch.cells.insert(batch.cells.end(), tried.begin(), tried.end());
        }
    }
    for (EdgeBatch& batch : batches) {
        std::sort(batch.cells.begin(), batch.cells.end());
        batch.cells.erase(std::unique(batch.cells.begin(), batch.cells.end()), batch.cells.end());
    }
    return batches;
}

/// The edges between components: a spanning tree of their first cells, each edge then made shorter.
std::vector<Edge> joining_edges(const DividedPoints& points,
                                const std::vector<std::vector<Index>>& components) {
    std::vector<Index> first;
    first.reserve(components.size());
    for (const std::vector<Index>& component : components) {
        first.push_back(component.front());
    }
    const SpanningTree tree = tree_of_firsts(*points.fetch(first));
    Processes& processes = points.processes();
    const std::vector<EdgeBatch> batches = batches_of(tree, components, processes, usual_fetched(points));
    const auto turns = static_cast<Index>(most_of(processes, static_cast<double>(batches.size())));
    std::vector<Edge> edges(tree.edges.size());
    for (Index round = 0; round < turns; ++round) {
        const EdgeBatch batch = round < std::ssize(batches) ? batches[round] : EdgeBatch{};
        const std::optional<Points> here = points.fetch(batch.cells);
        if (!here) {
            continue;
        }
        // Ascending cells have ascending numbers here, so that edges have the order of all.
        const auto numbers = [&](std::vector<Index> cells) {
            for (Index& cell : cells) {
                cell = std::lower_bound(batch.cells.begin(), batch.cells.end(), cell) - batch.cells.begin();
            }
            return cells;
        };
        parallel_for(batch.past - batch.first, [&](Index b) {
            const auto [length, i, j] = tree.edges[batch.first + b];
            const Edge edge =
                shortened_edge(*here, numbers(tried_of(components[i])), numbers(tried_of(components[j])));
            edges[batch.first + b] = {edge.length, batch.cells[edge.i], batch.cells[edge.j]};
        });
    }
    gather_blocks(1, std::span(edges));
    return edges;
}

/// The largest distance from a few cells and from the cells farthest from them.
double largest_seen(const DividedPoints& points) {
    std::vector<Index> from = starts_of_distances(points.count());
    const auto starts = std::ssize(from);
    const Index own = points.local().count;
    double largest = 0.0;
    for (int step = 0; step < steps_from_start; ++step) {
        const Points here = points.beside_own(from);
        struct Far {
            double distance;
            Index cell;
        };
        std::vector<Far> mine(from.size(), Far{-1.0, 0});
        parallel_for(starts, [&](Index s) {
            for (Index cell = 0; cell < own; ++cell) {
                if (const double d = here.distance(s, starts + cell); d > mine[s].distance) {
                    mine[s] = {d, points.local().first + cell};
                }
            }
        });
        const auto size = static_cast<std::size_t>(points.processes().count());
        const std::vector<Far> all =
            gather_to_all(points.processes(), std::span<const Far>(mine), std::vector<Index>(size, starts));
        for (Index s = 0; s < starts; ++s) {
            Far farthest{-1.0, 0};
            for (std::size_t r = 0; r < size; ++r) { // of equal ones the first cell
                const Far& one = all[r * from.size() + static_cast<std::size_t>(s)];
                farthest = one.distance > farthest.distance ? one : farthest;
            }
            from[s] = farthest.cell;
            largest = std::max(largest, farthest.distance);
        }
    }
    return largest;
}

/// Finite, and such that `Points` takes any selection of them; and points that differ are not at distance 0,
/// as they are where the squares of differences vanish.
bool are_ordinary(const DividedPoints& points) {
    const auto is_ordinary = [](const auto& values) {
        return std::all_of(values.begin(), values.end(), [](double value) {
            constexpr double largest = 1e150;
            constexpr double smallest = 1e-140;
            const double size = std::abs(value);
            return size == 0.0 || (size >= smallest && size <= largest); // no NaN
        });
    };
    bool ordinary = true;
    for (Index j = 0; j < points.local().count && ordinary; ++j) {
        if (const auto* dense = std::get_if<DenseView<double>>(&points.mine())) {
            ordinary = is_ordinary(dense->col(j));
        } else {
            const auto& X = std::get<SparseView<double>>(points.mine());
            ordinary = is_ordinary(
                Eigen::Map<const Vector>(X.value.data() + X.start[j], X.start[j + 1] - X.start[j]));
        }
    }
    return least_of(points.processes(), ordinary ? 1.0 : 0.0) > 0.0;
}

} // namespace

SpanningTree divided_neighbor_tree(const DividedPoints& points, const std::vector<Edge>& edges) {
    return tree_of_neighbors(
        points.count(), edges,
        [&](const Components& components) { return joining_edges(points, components); },
        largest_seen(points));
}

Index usual_fetched(const DividedPoints& points) {
    constexpr double bytes = 1e8;
    const auto entries = [&] { // of this process, with what says where they belong
        const auto* dense = std::get_if<DenseView<double>>(&points.mine());
        return dense != nullptr
                   ? 8.0 * static_cast<double>(dense->size())
                   : 12.0 * static_cast<double>(std::get<SparseView<double>>(points.mine()).value.size());
    };
    const double of_cell = sum_of(points.processes(), entries()) / static_cast<double>(points.count());
    return static_cast<Index>(std::clamp(bytes / std::max(of_cell, 1.0), 1024.0, 65536.0));
}

bool can_search_divided(const DividedPoints& points, NeighborSearch search) {
    const Index panel = usual_blocks(points.count()).panel(); // cells whose products are made together
    const NeighborSearch chosen = chosen_search(search, points.count(), true);
    const bool whole_panels =
        std::all_of(points.ranges().begin(), points.ranges().end(),
                    [&](const CellRange& range) { return range.count == 0 || range.first % panel == 0; });
    const bool possible =
        chosen == NeighborSearch::exact || (chosen == NeighborSearch::clustered && whole_panels);
    return possible && points.dimensions() > 0 && are_ordinary(points);
}

TreeAndNeighbors divided_tree_and_neighbors(const DividedPoints& points, Index neighbors,
                                            NeighborSearch search, std::uint64_t seed) {
    check_neighbors(neighbors, points.count());
    TreeAndNeighbors found;
    if (chosen_search(search, points.count(), true) == NeighborSearch::exact) {
        found.neighbors = NeighborEdges{
            .edges = distinct_edges(gather_any(points.processes(), divided_exact_edges(points, neighbors)))};
        found.tree = divided_spanning_tree(points);
    } else {
        found.neighbors = divided_clustered_edges(points, neighbors, seed, usual_fetched(points));
        found.tree = divided_neighbor_tree(points, found.neighbors->edges);
    }
    return found;
}

} // namespace pnmf
