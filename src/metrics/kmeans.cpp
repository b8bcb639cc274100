#include <pnmf/metrics/kmeans.hpp>

#include "metrics/kmeans_parts.hpp"
#include "metrics/numpy_random.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

namespace pnmf {
namespace {

constexpr Index block_of_cells = 1024;

Vector squared_distances_to(const Matrix& X, Index cell) {
    return (X.colwise() - X.col(cell)).colwise().squaredNorm().transpose();
}

/// Greedy k-means++: each next centre is the best of a few cells drawn with probability ∝ squared distance to
/// the centres so far; best is what leaves the smallest sum of them.
Matrix seed_centres(const Matrix& X, const SeedingDraws& draws) {
    const Index n = X.cols();
    const Index k = draws.uniform.cols() + 1;
    Matrix centres(X.rows(), k);
    centres.col(0) = X.col(draws.first);
    Vector nearest = squared_distances_to(X, draws.first);
    Vector cumulative(n);
    for (Index c = 1; c < k; ++c) {
        std::partial_sum(nearest.begin(), nearest.end(), cumulative.begin());
        const double total = nearest.sum();
        double best_total = 0.0;
        Index best = -1;
        Vector best_nearest;
        for (const double u : draws.uniform.col(c - 1)) {
            const auto place = std::lower_bound(cumulative.begin(), cumulative.end(), u * total);
            const Index candidate = std::min<Index>(place - cumulative.begin(), n - 1);
            Vector updated = nearest.cwiseMin(squared_distances_to(X, candidate));
            const double updated_total = updated.sum();
            if (best < 0 || updated_total < best_total) {
                best = candidate;
                best_total = updated_total;
                best_nearest = std::move(updated);
            }
        }
        centres.col(c) = X.col(best);
        nearest = std::move(best_nearest);
    }
    return centres;
}

/// The nearest centre of each cell, the first among equals: argmin_c ‖c‖² − 2 c·x.
void assign(const Matrix& X, const Matrix& centres, std::vector<Index>& labels) {
    const Vector squared_norms = centres.colwise().squaredNorm().transpose();
    parallel_blocks(X.cols(), block_of_cells, [&](Index begin, Index end) {
        Matrix score = -2.0 * centres.transpose() * X.middleCols(begin, end - begin);
        score.colwise() += squared_norms;
        for (Index j = begin; j < end; ++j) {
            score.col(j - begin).minCoeff(&labels[j]);
        }
    });
}

/// Gives each cluster without cells the cell farthest from its own centre, one that leaves others behind.
/// `sums` and `counts` are those of the clusters; labels follow at the next assignment.
void fill_empty_clusters(const Matrix& X, const Matrix& centres, const std::vector<Index>& labels,
                         Matrix& sums, std::vector<Index>& counts) {
    if (std::find(counts.begin(), counts.end(), 0) == counts.end()) {
        return;
    }
    Vector distance(X.cols());
    for (Index j = 0; j < X.cols(); ++j) {
        distance(j) = (X.col(j) - centres.col(labels[j])).squaredNorm();
    }
    for (std::size_t c = 0; c < counts.size(); ++c) {
        if (counts[c] > 0) {
            continue;
        }
        Index farthest = -1;
        for (Index j = 0; j < X.cols(); ++j) {
            const double least = farthest < 0 ? 0.0 : distance(farthest);
            if (distance(j) > least && counts[labels[j]] > 1) {
                farthest = j;
            }
        }
        if (farthest < 0) {
            return; // every cell sits on its centre: fewer distinct cells than clusters
        }
        const Index from = labels[farthest];
        sums.col(from) -= X.col(farthest);
        --counts[from];
        sums.col(static_cast<Index>(c)) = X.col(farthest);
        counts[c] = 1;
        distance(farthest) = 0.0;
    }
}

Matrix cluster_means(const Matrix& X, const Matrix& centres, const std::vector<Index>& labels) {
    Matrix sums = Matrix::Zero(X.rows(), centres.cols());
    std::vector<Index> counts(static_cast<std::size_t>(centres.cols()), 0);
    for (Index j = 0; j < X.cols(); ++j) {
        sums.col(labels[j]) += X.col(j);
        ++counts[labels[j]];
    }
    return means_of_clusters(X, centres, labels, std::move(sums), std::move(counts));
}

double inertia(const Matrix& X, const Matrix& centres, const std::vector<Index>& labels) {
    double sum = 0.0;
    for (Index j = 0; j < X.cols(); ++j) {
        sum += (X.col(j) - centres.col(labels[j])).squaredNorm();
    }
    return sum;
}

/// Lloyd's iteration from the given centres.
KMeansResult lloyd(const Matrix& X, Matrix centres, double least_move, Index max_iterations) {
    KMeansResult result;
    result.labels.assign(static_cast<std::size_t>(X.cols()), -1);
    std::vector<Index> previous;
    bool labels_stayed = false;
    while (!result.converged && result.iterations < max_iterations) {
        previous = result.labels;
        assign(X, centres, result.labels);
        Matrix means = cluster_means(X, centres, result.labels);
        const double move = (means - centres).squaredNorm();
        centres = std::move(means);
        ++result.iterations;
        labels_stayed = result.labels == previous;
        result.converged = labels_stayed || move <= least_move;
    }
    if (!labels_stayed) {
        assign(X, centres, result.labels);
    }
    result.inertia = inertia(X, centres, result.labels);
    result.centres = std::move(centres);
    return result;
}

} // namespace

std::vector<SeedingDraws> draw_seedings(Index cells, const KMeansOptions& options) {
    const Index candidates = 2 + static_cast<Index>(std::log(static_cast<double>(options.clusters)));
    NumpyRandom random(options.seed);
    std::vector<SeedingDraws> draws(static_cast<std::size_t>(options.starts));
    for (SeedingDraws& draw : draws) {
        draw.first = random.below(cells);
        draw.uniform.resize(candidates, options.clusters - 1);
        for (double& u : draw.uniform.reshaped()) {
            u = random.uniform();
        }
    }
    return draws;
}

void check_kmeans(const Matrix& X, const KMeansOptions& options) {
    require(options.clusters >= 1 && options.clusters <= X.cols(),
            "the number of clusters must be between 1 and the number of cells, {}; got {}", X.cols(),
            options.clusters);
    require(options.starts >= 1, "k-means needs at least 1 start, got {}", options.starts);
    require(options.max_iterations >= 1, "k-means needs at least 1 iteration, got {}",
            options.max_iterations);
    require(options.tolerance >= 0.0, "the tolerance of k-means must be at least 0, got {}",
            options.tolerance);
    std::atomic<bool> finite = true;
    parallel_blocks(X.cols(), 8192, [&](Index begin, Index end) {
        if (!X.middleCols(begin, end - begin).allFinite()) {
            finite = false;
        }
    });
    require(finite, "k-means needs finite values");
}

Matrix means_of_clusters(const Matrix& X, const Matrix& centres, const std::vector<Index>& labels,
                         Matrix sums, std::vector<Index> counts) {
    fill_empty_clusters(X, centres, labels, sums, counts);
    for (Index c = 0; c < centres.cols(); ++c) {
        if (counts[c] > 0) {
            sums.col(c) /= static_cast<double>(counts[c]);
        } else {
            sums.col(c) = centres.col(c);
        }
    }
    return sums;
}

std::vector<Index> nearest_centres(const Matrix& X, const Matrix& centres) {
    require(centres.cols() >= 1 && centres.rows() == X.rows(),
            "there must be at least 1 centre with {} coordinates, got {} with {}", X.rows(), centres.cols(),
            centres.rows());
    std::vector<Index> labels(static_cast<std::size_t>(X.cols()));
    assign(X, centres, labels);
    return labels;
}

KMeansResult kmeans(const Matrix& X, const KMeansOptions& options) {
    check_kmeans(X, options);
    // About the mean the products cancel less.
    const Vector mean = X.rowwise().mean();
    const Matrix centred = X.colwise() - mean;
    const double mean_variance = X.rows() == 0 ? 0.0 : centred.squaredNorm() / static_cast<double>(X.size());
    const std::vector<SeedingDraws> draws = draw_seedings(X.cols(), options);
    const Index starts = options.clusters == 1 ? 1 : options.starts; // one cluster's centre is the mean
    std::vector<KMeansResult> results(static_cast<std::size_t>(starts));
    parallel_for(starts, [&](Index s) {
        results[s] = lloyd(centred, seed_centres(centred, draws[s]), options.tolerance * mean_variance,
                           options.max_iterations);
    });
    auto best =
        std::min_element(results.begin(), results.end(),
                         [](const KMeansResult& a, const KMeansResult& b) { return a.inertia < b.inertia; });
    best->centres.colwise() += mean;
    return std::move(*best);
}

} // namespace pnmf
