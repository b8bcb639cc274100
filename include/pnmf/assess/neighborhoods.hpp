#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <limits>
#include <vector>

namespace pnmf {

struct NeighborhoodOptions {
    Index neighbors = 30; ///< k; n − 1 where there are fewer
    Index cells = 1000;   ///< at most so many cells, evenly spaced in their order, are looked at
};

/// What the neighbourhoods of cells hold.
struct NeighborhoodScores {
    double mixing = std::numeric_limits<double>::quiet_NaN(); ///< of batches
    double purity = std::numeric_limits<double>::quiet_NaN(); ///< of types; NaN without labels
};

/// How well batches are mixed and types kept apart, by the k nearest cells of each cell i.
///
///     mixing = (mean over i of 1 / Σ_b p_ib²  −  1) / (1 / Σ_b π_b²  −  1)
///     purity = mean over i of the share of its k nearest that have its label
///
/// p_ib is the share of batch b among the k nearest of cell i, π_b its share among all cells. 1/Σp² is
/// Simpson's index turned over, the number of batches in a neighbourhood: the local inverse Simpson index of
/// Korsunsky et al. 2019 (Nat. Methods 16:1289) with all k neighbours counted alike. mixing is 0 where each
/// cell has neighbours of its own batch alone and about 1 where batches lie on each other; it cannot come to
/// 1 where batches hold different types, and should not. purity is 1 where types are kept apart.
///
/// `batch` and `labels` are numbered from 0, one for each cell; either may be empty, and its score is NaN
/// then. Cells that are `unlabelled` do not count for purity. Cost `cells` · n distances. The same for any
/// number of threads.
NeighborhoodScores neighborhood_scores(const Points& cells, const std::vector<Index>& batch,
                                       const std::vector<Index>& labels = {},
                                       const NeighborhoodOptions& options = {});

} // namespace pnmf
