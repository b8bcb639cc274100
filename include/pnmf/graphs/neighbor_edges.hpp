#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// How nearest neighbours are found.
enum class NeighborSearch {
    automatic,   ///< exact up to `largest_exact_search` cells and where the distances were given, else
                 ///< approximate
    exact,       ///< all pairs, by blocked products
    approximate, ///< a hierarchical navigable small world (hnswlib); candidates are ranked by their true
                 ///< distances
};

/// Cells up to which the automatic choice is exact. High, because on real cells the approximate search has so
/// far found only half of the neighbours (docs/decisions/0041-approximate-neighbours.md).
inline constexpr Index largest_exact_search = 100000;

struct NeighborOptions {
    Index neighbors = 15; ///< k, 1 ≤ k < n
    NeighborSearch search = NeighborSearch::automatic;
    std::uint64_t seed = 0; ///< of the approximate search and of the cells its recall is measured on
};

/// The edges between each cell and its k nearest, with canonical lengths.
struct NeighborEdges {
    std::vector<Edge> edges;                       ///< ascending, each once
    NeighborSearch search = NeighborSearch::exact; ///< what was done: exact or approximate
    double recall = 1.0;                           ///< share of the true neighbours found, on the sample
    Index sampled = 0;                             ///< cells in the sample; 0 after an exact search
};

/// The same for any number of threads; the approximate search builds its index on one.
NeighborEdges neighbor_edges(const Points& points, const NeighborOptions& options = {});

} // namespace pnmf
