#include <pnmf/metrics/assess.hpp>

#include "metrics/random_subset.hpp"

#include <pnmf/error.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/metrics/label_free.hpp>
#include <pnmf/metrics/silhouette.hpp>
#include <pnmf/parallel.hpp>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace pnmf {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr Index scales_for_count = 8; ///< scales that take part in the choice of k
constexpr double enough_rank = 0.25;  ///< share of the directions beyond the first; below, H has collapsed

/// `count` of the positions 0 … T − 1, evenly spaced, first and last included.
std::vector<Index> spread(Index count, Index T) {
    std::vector<Index> positions;
    for (Index i = 0; i < std::min(count, T); ++i) {
        positions.push_back(count >= T ? i : (i * (T - 1) + (count - 1) / 2) / (count - 1));
    }
    return positions;
}

/// The columns that take part in costly scores: all, or a random subset.
std::vector<Index> probed_cells(Index cells, const AssessOptions& options) {
    return random_subset(cells, std::min(cells, options.probed_cells), Random(options.seed));
}

template <class Value>
std::vector<Value> at(const std::vector<Value>& values, const std::vector<Index>& positions) {
    std::vector<Value> result;
    result.reserve(positions.size());
    for (const Index position : positions) {
        result.push_back(values[position]);
    }
    return result;
}

/// Cells of length 1: what a cell is made of, without how much of it there is.
Matrix unit_cells(const Matrix& H) {
    return H.array().rowwise() / H.colwise().norm().cwiseMax(std::numeric_limits<double>::min()).array();
}

double silhouette_of(const Matrix& H, const std::vector<Index>& clusters) {
    const std::set<Index> kinds(clusters.begin(), clusters.end());
    return kinds.size() < 2 ? none : mean_silhouette(H, clusters);
}

void check(Index scales, const std::vector<double>& epsilon, const AssessOptions& options) {
    require(scales >= 1, "there must be at least 1 scale, got {}", scales);
    require(epsilon.empty() || std::ssize(epsilon) == scales,
            "{} scales need as many values of epsilon, got {}", scales, epsilon.size());
    require(options.probed_scales >= 2, "at least 2 scales must be probed, got {}", options.probed_scales);
    require(options.probed_cells >= 2, "at least 2 cells must be probed, got {}", options.probed_cells);
    require(options.most_clusters >= 2, "the most clusters tried must be at least 2, got {}",
            options.most_clusters);
}

Index chosen_count(Index scales, const std::function<Matrix(Index)>& embedding, const AssessOptions& options,
                   std::vector<std::string>& notices) {
    if (options.clusters) {
        return *options.clusters;
    }
    std::vector<Matrix> embeddings;
    for (const Index t : spread(scales_for_count, scales)) {
        const Matrix H = embedding(t);
        embeddings.emplace_back(H(Eigen::all, probed_cells(H.cols(), options)));
    }
    const Index most = std::min(options.most_clusters, embeddings.front().cols() / 2);
    if (most < 2) {
        notices.emplace_back("1 cluster: too few cells for more");
        return 1;
    }
    const std::vector<double> stability =
        cluster_stability(embeddings, most, options.resamples, options.seed);
    const auto best = std::max_element(stability.begin(), stability.end());
    const Index count = best - stability.begin() + 2;
    notices.emplace_back(
        fmt::format("{} clusters: the most stable number from 2 to {} when cells are left out", count, most));
    return count;
}

/// exp of the entropy of the squared singular values, normalised to sum 1 (Roy and Vetterli 2007).
double effective_rank(const Matrix& H) {
    const Vector squares =
        Eigen::SelfAdjointEigenSolver<Matrix>(H * H.transpose(), Eigen::EigenvaluesOnly).eigenvalues();
    const double sum = squares.cwiseMax(0.0).sum();
    double entropy = 0.0;
    for (const double square : squares) {
        const double share = sum > 0.0 ? square / sum : 0.0;
        entropy -= share > 0.0 ? share * std::log(share) : 0.0;
    }
    return std::exp(entropy);
}

/// s_t / max s: 1 for the scale whose clusters fit the finest embedding best, 0 where they do not fit at all.
std::vector<double> combine(const std::vector<double>& fit_to_finest) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const double value : fit_to_finest) {
        largest = std::isnan(value) ? largest : std::max(largest, value);
    }
    std::vector<double> combined;
    combined.reserve(fit_to_finest.size());
    for (const double value : fit_to_finest) {
        if (std::isnan(value)) {
            combined.push_back(none);
        } else if (largest <= 0.0) {
            combined.push_back(value == largest ? 1.0 : 0.0);
        } else {
            combined.push_back(std::max(0.0, value / largest));
        }
    }
    return combined;
}

/// The coarsest scale with the largest score; 0 when there is none.
Index recommendation(const std::vector<double>& combined) {
    Index best = 0;
    for (Index t = 0; t < std::ssize(combined); ++t) {
        if (!std::isnan(combined[t]) && (std::isnan(combined[best]) || combined[t] >= combined[best])) {
            best = t;
        }
    }
    return best;
}

} // namespace

std::vector<double> cluster_stability(const std::vector<Matrix>& embeddings, Index most_clusters,
                                      Index resamples, std::uint64_t seed) {
    require(!embeddings.empty(), "stability needs at least 1 embedding");
    Matrix stability(most_clusters - 1, std::ssize(embeddings));
    for (Index t = 0; t < std::ssize(embeddings); ++t) {
        parallel_for(most_clusters - 1, [&](Index i) {
            stability(i, t) = resampling_stability(
                embeddings[t], {.clusters = i + 2, .repeats = resamples, .starts = 3, .seed = seed});
        });
    }
    const Vector mean = stability.rowwise().mean();
    return {mean.begin(), mean.end()};
}

Assessment assess_scales(Index scales, const std::function<Matrix(Index)>& embedding,
                         const std::vector<double>& epsilon, const std::vector<double>& deaths,
                         const AssessOptions& options) {
    check(scales, epsilon, options);
    Assessment result;
    const Index k = chosen_count(scales, embedding, options, result.notices);
    result.cluster_count = k;
    const auto T = static_cast<std::size_t>(scales);
    const Index starts = scales > 100 ? 3 : 10;
    const std::vector<Index> probed = spread(options.probed_scales, scales);
    ScaleScores& scores = result.scores;
    scores.silhouette.assign(T, none);
    scores.resampling.assign(T, none);
    std::vector<double> fit_to_finest(T, none);
    std::vector<double> rank(T, none);
    Matrix finest;
    for (Index t = 0; t < scales; ++t) {
        const Matrix H = embedding(t);
        result.clusters.push_back(kmeans(H, {.clusters = k, .starts = starts, .seed = options.seed}).labels);
        if (!std::binary_search(probed.begin(), probed.end(), t)) {
            continue;
        }
        const std::vector<Index> cells = probed_cells(H.cols(), options);
        const Matrix part = H(Eigen::all, cells);
        const std::vector<Index> clusters = at(result.clusters.back(), cells);
        if (t == 0) {
            finest = unit_cells(part);
        }
        scores.silhouette[t] = silhouette_of(part, clusters);
        fit_to_finest[t] = silhouette_of(finest, clusters);
        rank[t] = effective_rank(part);
        if (std::lround(0.8 * static_cast<double>(part.cols())) >= k) {
            scores.resampling[t] = resampling_stability(
                part, {.clusters = k, .repeats = options.resamples, .starts = 3, .seed = options.seed});
        }
    }
    scores.gap_prominence = epsilon.empty() ? std::vector<double>(T, none) : gap_prominence(epsilon, deaths);
    scores.stability = scales > 1 ? neighbor_stability(result.clusters) : std::vector<double>(T, none);
    scores.combined = combine(fit_to_finest);
    for (std::size_t t = 0; t < T; ++t) {
        if (rank[t] - 1.0 < enough_rank * (rank.front() - 1.0)) { // a line has effective rank 1
            scores.combined[t] = 0.0;
        }
    }
    result.recommended = recommendation(scores.combined);
    return result;
}

} // namespace pnmf
