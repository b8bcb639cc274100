#pragma once

#include <pnmf/names.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// How nearest neighbours are found. What the approximate searches find is ranked by true distances, and
/// their recall is measured.
enum class NeighborSearch {
    automatic, ///< by size, see below; exact where the distances were given
    exact,     ///< all pairs, by blocked products
    screened, ///< approximate: all pairs in about 200 principal components and the length of what these leave
    clustered, ///< approximate: cells about the nearest of many centres, and central cells
};

template <>
struct EnumNames<NeighborSearch> {
    static constexpr auto values = name_table<NeighborSearch>({{"automatic", NeighborSearch::automatic},
                                                               {"exact", NeighborSearch::exact},
                                                               {"screened", NeighborSearch::screened},
                                                               {"clustered", NeighborSearch::clustered}});
};

/// Cells up to which the automatic choice is exact, and screened; above, it is clustered
/// (docs/decisions/0080-approximate-neighbours.md).
inline constexpr Index largest_exact_search = 20000;
inline constexpr Index largest_screened_search = 50000;

class PairSearcher;

struct NeighborOptions {
    Index neighbors = 15; ///< k, 1 ≤ k < n
    NeighborSearch search = NeighborSearch::automatic;
    std::uint64_t seed = 0; ///< of the approximate search and of the cells its recall is measured on
    PairSearcher* searcher = nullptr; ///< of a device, which makes a clustered search; null: the CPU does
};

/// The edges between each cell and its k nearest, with canonical lengths.
struct NeighborEdges {
    std::vector<Edge> edges;                       ///< ascending, each once
    NeighborSearch search = NeighborSearch::exact; ///< what was done, never `automatic`
    double recall = 1.0;                           ///< share of the true neighbours found, on the sample
    Index sampled = 0;                             ///< cells in the sample; 0 after an exact search
};

/// The same for any number of threads.
NeighborEdges neighbor_edges(const Points& points, const NeighborOptions& options = {});

} // namespace pnmf
