#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// What can be said about a scale without labels, each a number for each scale, larger is better.
/// The silhouette is in silhouette.hpp. None of them is a recommendation by itself: see docs/decisions/0086.

/// How long the components at a scale last: ε lies in an interval (d, d′] between consecutive different
/// deaths (or 0 and the first) in which the graph's components do not change; its length over the largest
/// death. 0 where ε is larger than every death: one component lasts for ever. `deaths` ascend.
std::vector<double> gap_prominence(const std::vector<double>& epsilon, const std::vector<double>& deaths);

/// How much clusters change along the scales: for each t the mean ARI between the clusters at t and at the
/// scales t ± 1 … t ± window that exist; 1 for a single scale. `clusters[t]` are the labels of all cells at
/// scale t.
std::vector<double> neighbor_stability(const std::vector<std::vector<Index>>& clusters, Index window = 1);

struct ResamplingOptions {
    Index clusters = 2;
    Index repeats = 20;    ///< subsets drawn
    double fraction = 0.8; ///< of the cells in each, in (0, 1]
    Index starts = 10;     ///< of each k-means
    std::uint64_t seed = 0;
};

/// How well clusters survive when cells are left out: the mean over random subsets of the cells of the ARI
/// between the clusters of the subset alone and those of all cells, on the subset. H is d × n.
double resampling_stability(const Matrix& H, const ResamplingOptions& options);

} // namespace pnmf
