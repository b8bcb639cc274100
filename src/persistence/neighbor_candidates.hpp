#pragma once

#include "persistence/search_space.hpp"

#include <pnmf/persistence/neighbor_edges.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace pnmf {

/// Sizes of an approximate search; docs/decisions/0080-approximate-neighbours.md says what they give in
/// recall and time.
struct SearchSettings {
    Index dimension = 0;      ///< of the search space
    Index candidates = 0;     ///< ranked by true distances
    Index for_a_neighbor = 0; ///< and no fewer than so many for each neighbour asked for,
    Index among =
        0; ///< and one for so many cells (0: none), as the nearest of more cells are nearer together

    /// Candidates of one cell, for k neighbours among n cells.
    Index candidates_of(Index n, Index k) const;
};
inline constexpr SearchSettings screened_search{
    .dimension = 200, .candidates = 240, .for_a_neighbor = 8, .among = 100};
inline constexpr SearchSettings clustered_search{
    .dimension = 200, .candidates = 600, .for_a_neighbor = 20, .among = 0};

/// Cells that the basis of the search space is computed from.
inline constexpr Index basis_sample = 4096;

/// What is done where the choice is left open.
NeighborSearch chosen_search(NeighborSearch asked, Index cells, bool have_coordinates);

/// InputError unless 1 ≤ k < cells.
void check_neighbors(Index k, Index cells);

using CellAtDistance = std::pair<double, Index>;

/// The k nearest among candidate cells by canonical distance, equal ones by the smaller cell.
void keep_nearest(std::vector<CellAtDistance>& candidates, Index k);

/// The cells that the recall of a search is measured on.
std::vector<Index> sample_for_recall(Index cells, std::uint64_t seed);

/// Called once for each cell, from many threads, with cells that may be its nearest; itself is not among
/// them.
/// With several processes each visits its share of the cells.
using CandidateVisitor = std::function<void(Index cell, std::span<const std::int32_t> candidates)>;

/// The `count` nearest in the search space, all pairs by blocked products in float. Cost 2q·n².
void visit_screened_candidates(const SearchSpace& space, Index count, const CandidateVisitor& visit);

/// Sizes of a clustered search; docs/decisions/0080-approximate-neighbours.md says what they give.
struct ClusterSettings {
    Index in_a_list = 1000;  ///< cells about one centre, on average
    Index looked_at = 24000; ///< cells of the nearest lists that a cell is compared with, at least
    Index central = 8000;    ///< cells compared with every cell: those nearest to all
};

/// About those, with fewer comparisons. Cells about common centres form lists, and the cells of a list are
/// compared with those of the lists nearest to it; and every cell with a few central ones, which are near
/// everybody and which centres do not lead to. Cost 2q·(looked_at + central + n / in_a_list)·n.
void visit_clustered_candidates(const SearchSpace& space, Index count, const ClusterSettings& settings,
                                std::uint64_t seed, const CandidateVisitor& visit);

class PairSearcher;

/// The same by a device, which looks at more pairs in less time.
inline constexpr ClusterSettings clusters_of_device{.looked_at = 400000};
void visit_clustered_candidates(const SearchSpace& space, Index count, const ClusterSettings& settings,
                                std::uint64_t seed, PairSearcher& searcher, const CandidateVisitor& visit);

} // namespace pnmf
