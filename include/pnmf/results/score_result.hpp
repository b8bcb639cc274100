#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/assess/neighborhoods.hpp>
#include <pnmf/metrics/scoring.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// What is scored: one embedding, or one for each scale of a fit.
struct ScoredEmbeddings {
    Index scales = 1;
    std::function<Matrix(Index)> at; ///< d × n
    std::vector<double> epsilon{};   ///< of a fit
    std::vector<double> deaths{};    ///< of a fit
    std::optional<Index> clusters{}; ///< k that the fit chose
};

ScoredEmbeddings embeddings_of(const StoredResult& result);

/// Scores of all scales.
struct ResultScores {
    Index clusters = 0;                  ///< k
    std::vector<EmbeddingScores> scales; ///< T
    Assessment assessment;               ///< with this k; recommends without labels
    std::vector<Index> consensus; ///< clusters by all scales together; empty for one scale or too many cells
    std::vector<Index> hierarchy; ///< the same by the hierarchy along the scales
};

/// k-means of every scale over seeds, and what it says with and without labels (`score_scales`,
/// `assess_scales`). `labels` is empty or has one for each cell. k is that of the options, else the number of
/// different labels, else what the fit chose, else the most stable one. With another k than the fit's,
/// another scale may be recommended.
ResultScores score_embeddings(const ScoredEmbeddings& embeddings, const std::vector<Index>& labels,
                              const ScoringOptions& options = {});

/// The same of a stored result; the cells are those of its file.
ResultScores score_result(const StoredResult& result, const std::vector<Index>& labels = {},
                          const ScoringOptions& options = {});

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
