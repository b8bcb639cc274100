#include <pnmf/metrics/consensus.hpp>
#include <pnmf/results/score_result.hpp>

#include <algorithm>
#include <memory>
#include <mutex>

namespace pnmf {

ScoredEmbeddings embeddings_of(const StoredResult& result) {
    return {.scales = result.scales,
            .at =
                [&result, alone = std::make_shared<std::mutex>()](Index t) {
                    const std::lock_guard lock(*alone); // it may read a file
                    return result.H(t);
                },
            .epsilon = result.epsilon,
            .deaths = result.deaths,
            .clusters = result.cluster_count};
}

ResultScores score_embeddings(const ScoredEmbeddings& embeddings, const std::vector<Index>& labels,
                              const ScoringOptions& options) {
    ScoringOptions scoring = options;
    if (!scoring.clusters) {
        scoring.clusters =
            labels.empty() ? embeddings.clusters : *std::max_element(labels.begin(), labels.end()) + 1;
    }
    ResultScores result;
    result.assessment = assess_scales(embeddings.scales, embeddings.at, embeddings.epsilon, embeddings.deaths,
                                      {.clusters = scoring.clusters, .seed = scoring.first_seed});
    result.clusters = result.assessment.cluster_count;
    scoring.clusters = result.clusters;
    result.scales = score_scales(embeddings.scales, embeddings.at, labels, scoring);
    const Index cells = std::ssize(result.scales.front().clusters);
    if (embeddings.scales > 1 && cells <= largest_hierarchy) {
        std::vector<std::vector<Index>> clusters;
        for (const EmbeddingScores& scores : result.scales) {
            clusters.push_back(scores.clusters);
        }
        result.consensus = cut(consensus_over_scales(clusters), result.clusters);
        result.hierarchy = cut(hierarchy_along_scales(embeddings.scales, embeddings.at), result.clusters);
    }
    return result;
}

ResultScores score_result(const StoredResult& result, const std::vector<Index>& labels,
                          const ScoringOptions& options) {
    return score_embeddings(embeddings_of(result), labels, options);
}

} // namespace pnmf
