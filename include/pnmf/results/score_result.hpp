#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/metrics/scoring.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <optional>
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

} // namespace pnmf
