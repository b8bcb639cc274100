#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// Mean over seeds, and the standard deviation of one seed (n − 1 in the denominator; 0 for a single seed).
struct MeanAndDeviation {
    double mean = 0.0;
    double deviation = 0.0;
};
MeanAndDeviation mean_and_deviation(const std::vector<double>& values);

struct ScoringOptions {
    std::optional<Index> clusters{}; ///< k; default: the number of different labels
    Index starts = 10;               ///< of each k-means
    Index seeds = 10;                ///< k-means is run with the seeds first_seed, first_seed + 1, …
    std::uint64_t first_seed = 0;
    bool silhouette = true; ///< costs n²d
};

/// How well clusters agree with known labels.
struct Agreement {
    MeanAndDeviation ari;
    MeanAndDeviation nmi;
    MeanAndDeviation ami;
    MeanAndDeviation purity;
    MeanAndDeviation accuracy;

    /// Mean of ARI, NMI, purity and accuracy: what "pNMF-best" is the best of in the paper.
    double average() const { return (ari.mean + nmi.mean + purity.mean + accuracy.mean) / 4.0; }
};

/// Scores of one embedding.
struct EmbeddingScores {
    std::vector<Index> clusters;        ///< of each cell, from the seed with the smallest inertia
    double inertia = 0.0;               ///< of that seed
    std::optional<Agreement> agreement; ///< when labels are known
    double seed_agreement = 1.0;        ///< mean ARI between the clusters of two seeds; 1 for a single seed
    std::optional<double> silhouette;   ///< mean, of `clusters` in the embedding; none for a single cluster
};

/// k-means of the columns of H, d × n, once for each seed, and what it says. `labels` is empty or has one
/// label for each cell, `unlabelled` for those that agreements leave out. One seed processes methods by luck:
/// the scores are means over seeds.
EmbeddingScores score_embedding(const Matrix& H, const std::vector<Index>& labels,
                                const ScoringOptions& options = {});

/// The same for each of several scales, finest first; `embedding(t)` is asked for once each, in order.
std::vector<EmbeddingScores> score_scales(Index scales, const std::function<Matrix(Index)>& embedding,
                                          const std::vector<Index>& labels,
                                          const ScoringOptions& options = {});

/// The scale whose agreement with the labels has the largest average, the finest among equals: "pNMF-best" of
/// the paper. It is chosen with the labels, and as the largest of many noisy numbers it flatters. None
/// without labels.
std::optional<Index> best_scale(const std::vector<EmbeddingScores>& scales);

/// Coarser labels: "72h+96h,12h+24h" gives the cells of 72h and 96h one label, "72h+96h", and so on; labels
/// that are not named stay. A label may itself contain "+" ("CD34+"); it must not contain ",". InputError
/// when a part is no label, when a label is named twice, or when a group can be read in two ways.
std::vector<std::string> merge_labels(const std::vector<std::string>& labels, const std::string& groups);

} // namespace pnmf
