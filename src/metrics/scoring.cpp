#include <pnmf/metrics/scoring.hpp>

#include <pnmf/error.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace pnmf {
namespace {

Index number_of_kinds(const std::vector<Index>& labels) {
    std::set<Index> kinds(labels.begin(), labels.end());
    kinds.erase(unlabelled);
    return std::ssize(kinds);
}

Index chosen_clusters(const std::vector<Index>& labels, const ScoringOptions& options) {
    require(options.clusters || !labels.empty(), "without labels the number of clusters must be given");
    return options.clusters ? *options.clusters : number_of_kinds(labels);
}

Agreement agreement(const std::vector<Index>& labels, const std::vector<KMeansResult>& runs) {
    const auto over_seeds = [&](auto score) {
        std::vector<double> values;
        values.reserve(runs.size());
        for (const KMeansResult& run : runs) {
            values.push_back(score(labels, run.labels));
        }
        return mean_and_deviation(values);
    };
    return {.ari = over_seeds(adjusted_rand_index),
            .nmi = over_seeds(normalized_mutual_information),
            .ami = over_seeds(adjusted_mutual_information),
            .purity = over_seeds(purity),
            .accuracy = over_seeds(accuracy)};
}

double mean_pairwise_ari(const std::vector<KMeansResult>& runs) {
    double sum = 0.0;
    Index pairs = 0;
    for (std::size_t a = 0; a < runs.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            sum += adjusted_rand_index(runs[a].labels, runs[b].labels);
            ++pairs;
        }
    }
    return pairs == 0 ? 1.0 : sum / static_cast<double>(pairs);
}

} // namespace

MeanAndDeviation mean_and_deviation(const std::vector<double>& values) {
    require(!values.empty(), "a mean needs at least one value");
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0.0;
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    return {.mean = mean, .deviation = values.size() > 1 ? std::sqrt(squares / (n - 1.0)) : 0.0};
}

EmbeddingScores score_embedding(const Matrix& H, const std::vector<Index>& labels,
                                const ScoringOptions& options) {
    require(labels.empty() || std::ssize(labels) == H.cols(), "{} cells need as many labels, got {}",
            H.cols(), labels.size());
    require(options.seeds >= 1, "scores need at least 1 seed, got {}", options.seeds);
    const Index clusters = chosen_clusters(labels, options);
    std::vector<KMeansResult> runs(static_cast<std::size_t>(options.seeds));
    parallel_for(options.seeds, [&](Index s) {
        const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(s);
        runs[s] = kmeans(H, {.clusters = clusters, .starts = options.starts, .seed = seed});
    });
    EmbeddingScores result;
    if (!labels.empty()) {
        result.agreement = agreement(labels, runs);
    }
    result.seed_agreement = mean_pairwise_ari(runs);
    auto best = std::min_element(runs.begin(), runs.end(), [](const KMeansResult& a, const KMeansResult& b) {
        return a.inertia < b.inertia;
    });
    result.clusters = std::move(best->labels);
    result.inertia = best->inertia;
    if (options.silhouette && number_of_kinds(result.clusters) >= 2) {
        result.silhouette = mean_silhouette(H, result.clusters);
    }
    return result;
}

std::vector<EmbeddingScores> score_scales(Index scales, const std::function<Matrix(Index)>& embedding,
                                          const std::vector<Index>& labels, const ScoringOptions& options) {
    std::vector<EmbeddingScores> result;
    for (Index t = 0; t < scales; ++t) {
        result.push_back(score_embedding(embedding(t), labels, options));
    }
    return result;
}

std::optional<Index> best_scale(const std::vector<EmbeddingScores>& scales) {
    std::optional<Index> best;
    for (Index t = 0; t < std::ssize(scales); ++t) {
        if (!scales[t].agreement) {
            return std::nullopt;
        }
        if (!best || scales[t].agreement->average() > scales[*best].agreement->average()) {
            best = t;
        }
    }
    return best;
}

} // namespace pnmf
