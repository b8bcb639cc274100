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

    Index spare = 0; ///< beside the neighbours, where no feature is left out (0: as many as else)

    /// Candidates of one cell, for k neighbours among n cells of so many features.
    Index candidates_of(Index n, Index k, Index features) const;
};
inline constexpr SearchSettings screened_search{
    .dimension = 200, .candidates = 240, .for_a_neighbor = 8, .among = 100, .spare = 0};
inline constexpr SearchSettings clustered_search{
    .dimension = 200, .candidates = 600, .for_a_neighbor = 20, .among = 0, .spare = 16};

/// Cells that the basis of the search space is computed from.
inline constexpr Index basis_sample = 4096;

/// What is done where the choice is left open.
NeighborSearch chosen_search(NeighborSearch asked, Index cells, bool have_coordinates);

/// InputError unless 1 ≤ k < cells.
void check_neighbors(Index k, Index cells);

using CellAtDistance = std::pair<double, Index>;

/// The k nearest among candidate cells by canonical distance, equal ones by the smaller cell.
void keep_nearest(std::vector<CellAtDistance>& candidates, Index k);

/// The k neighbours of each cell that a search has found so far.
class NeighborTable {
  public:
    /// Of no cell yet.
    NeighborTable(Index cells, Index k);
    NeighborTable(const std::vector<std::vector<CellAtDistance>>& nearest, Index k);

    void set(Index cell, std::span<const std::int32_t> neighbors);
    /// The neighbours of a cell and their neighbours, ascending, without the cell itself.
    void two_steps_from(Index cell, std::vector<std::int32_t>& others) const;

  private:
    DenseMatrix<std::int32_t> neighbors_; ///< k × cells
};

/// After a clustered search each cell is compared with the neighbours of its neighbours, so many times: all
/// cells by the neighbours of the round before.
inline constexpr int clustered_rounds = 1;

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
    Index looked_at = 32000; ///< cells nearest to a centre, that those about it are compared with, about
};

/// Those of a device, which looks at more pairs in less time.
inline constexpr ClusterSettings clusters_of_device{.looked_at = 400000};

class PairSearcher;

/// About those, with fewer comparisons. Cells about common centres form lists, and the cells of a list are
/// compared with the cells nearest to its centre. Cost 2q·(looked_at + n / in_a_list)·n.
///
/// A `searcher` compares the cells in place of the CPU.
void visit_clustered_candidates(const SearchSpace& space, Index count, const ClusterSettings& settings,
                                std::uint64_t seed, const CandidateVisitor& visit,
                                PairSearcher* searcher = nullptr);

} // namespace pnmf
