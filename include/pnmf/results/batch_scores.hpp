#pragma once

#include <pnmf/assess/neighborhoods.hpp>
#include <pnmf/results/stored_result.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// How well the batches of a fit are mixed and types kept apart (`neighborhood_scores`), before and after.
struct BatchScores {
    Batches batches;                            ///< of the cells that are there
    std::optional<NeighborhoodScores> before{}; ///< in the space of the fit; none where it had no space
    NeighborhoodScores after{};                 ///< in the embedding at the recommended scale, unit cells
    double clusters = 0.0; ///< `mixing_of_groups` of the clusters at that scale; NaN without
};

/// The mixing of `neighborhood_scores` with groups of cells in place of neighbourhoods: 0 where each group is
/// of one batch, 1 where each has the batches in their shares. Both: a number for each cell, from 0.
double mixing_of_groups(const std::vector<Index>& group, const std::vector<Index>& batch);

/// Nothing for a fit that knew no batches, or where the cells that are left are of one batch. `labels`: of
/// the cells of the file, from 0, or empty.
std::optional<BatchScores> batch_scores(const StoredResult& result, const std::vector<Index>& labels = {});

/// The same as JSON: column, batches (name, cells), mixing_before, mixing,
/// mixing_of_clusters, and with labels label_purity_before and label_purity. What is not known is null.
std::string to_json(const BatchScores& scores);

} // namespace pnmf
