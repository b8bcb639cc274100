#include "metrics/kmeans_parts.hpp"

#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>

namespace pnmf {
namespace {

constexpr Index cells_for_centres = 10000; ///< more are not looked at before the last Lloyd iteration
constexpr Index exchanges_tried = 3;       ///< the most promising ones; none of them helps: the end
constexpr Index most_exchanges = 100;
constexpr double least_gain = 1e-6;    ///< of the inertia
constexpr double as_good = 1.0 + 5e-4; ///< times the smallest inertia: rounding may decide which is smaller

/// A centre leaves its cluster, and another cluster gets it as its second one.
struct Exchange {
    Index from = 0;
    Index to = 0;
    double gain = 0.0; ///< by how much the inertia falls if all other centres stay
};

/// For each cluster what the inertia grows by when its cells go to their second nearest centres.
Vector losses_without(const Matrix& X, const KMeansResult& found) {
    const Index k = found.centres.cols();
    Matrix squared;
    squared_distances_to(X, found.centres, squared);
    Vector losses = Vector::Zero(k);
    for (Index j = 0; j < X.cols(); ++j) {
        double second = std::numeric_limits<double>::infinity();
        for (Index c = 0; c < k; ++c) {
            second = c == found.labels[j] ? second : std::min(second, squared(j, c));
        }
        losses[found.labels[j]] += second - squared(j, found.labels[j]);
    }
    return losses;
}

/// A cluster in two parts: cut at the mean of the coordinate that varies most, then two-means.
struct Split {
    Matrix centres; ///< two, or none where all cells are equal
    double gain = 0.0;
};

Split split(const Matrix& cells, const KMeansLimits& limits) {
    if (cells.cols() < 2) {
        return {};
    }
    const Vector mean = cells.rowwise().mean();
    Index widest = 0;
    const double spread = (cells.colwise() - mean).rowwise().squaredNorm().maxCoeff(&widest);
    if (!(spread > 0.0)) {
        return {};
    }
    Matrix centres = Matrix::Zero(cells.rows(), 2);
    Eigen::Array2d counts = Eigen::Array2d::Zero();
    for (Index j = 0; j < cells.cols(); ++j) {
        const Index side = cells(widest, j) > mean[widest] ? 1 : 0;
        centres.col(side) += cells.col(j);
        counts[side] += 1.0;
    }
    if (counts.minCoeff() == 0.0) { // values that differ by rounding only
        return {};
    }
    centres.array().rowwise() /= counts.transpose();
    KMeansResult halves = lloyd(cells, std::move(centres), limits);
    const double whole = (cells.colwise() - mean).squaredNorm();
    return {std::move(halves.centres), whole - halves.inertia};
}

std::vector<Split> splits_of(const Matrix& X, const KMeansResult& found, const KMeansLimits& limits) {
    std::vector<Index> sizes(static_cast<std::size_t>(found.centres.cols()), 0);
    for (const Index label : found.labels) {
        ++sizes[label];
    }
    std::vector<std::vector<Index>> members(sizes.size());
    for (std::size_t c = 0; c < sizes.size(); ++c) {
        members[c].reserve(static_cast<std::size_t>(sizes[c]));
    }
    for (Index j = 0; j < X.cols(); ++j) {
        members[static_cast<std::size_t>(found.labels[j])].push_back(j);
    }
    std::vector<Split> splits(members.size());
    parallel_for(std::ssize(members), [&](Index c) { splits[c] = split(X(Eigen::all, members[c]), limits); });
    return splits;
}

/// The most promising first.
std::vector<Exchange> exchanges_of(const Vector& losses, const std::vector<Split>& splits) {
    std::vector<Exchange> all;
    for (Index to = 0; to < std::ssize(splits); ++to) {
        for (Index from = 0; splits[to].centres.size() > 0 && from < losses.size(); ++from) {
            if (from != to) {
                all.push_back({from, to, splits[to].gain - losses[from]});
            }
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Exchange& a, const Exchange& b) { return a.gain > b.gain; });
    all.resize(std::min(all.size(), static_cast<std::size_t>(exchanges_tried)));
    return all;
}

/// Does the first exchange that helps; false when none of those tried does.
bool exchange(const Matrix& X, const KMeansLimits& limits, KMeansResult& found) {
    const std::vector<Split> splits = splits_of(X, found, limits);
    for (const Exchange& tried : exchanges_of(losses_without(X, found), splits)) {
        Matrix centres = found.centres;
        centres.col(tried.to) = splits[tried.to].centres.col(0);
        centres.col(tried.from) = splits[tried.to].centres.col(1);
        KMeansResult after = lloyd(X, std::move(centres), limits);
        if (after.inertia < (1.0 - least_gain) * found.inertia) {
            found = std::move(after);
            return true;
        }
    }
    return false;
}

KMeansResult& first_good(std::vector<KMeansResult>& results) {
    double smallest = std::numeric_limits<double>::infinity();
    for (const KMeansResult& result : results) {
        smallest = std::min(smallest, result.inertia);
    }
    return *std::find_if(results.begin(), results.end(),
                         [&](const KMeansResult& result) { return result.inertia <= as_good * smallest; });
}

} // namespace

Matrix centres_by_exchanges(const Matrix& X, const KMeansOptions& options, const KMeansLimits& limits) {
    const std::vector<Index> cells =
        random_subset(X.cols(), std::min(X.cols(), cells_for_centres), Random(options.seed));
    const Matrix part = X(Eigen::all, cells);
    const std::vector<SeedingDraws> draws = draw_seedings(part.cols(), options);
    std::vector<KMeansResult> results(draws.size());
    parallel_for(std::ssize(draws), [&](Index s) {
        results[s] = lloyd(part, seed_centres(part, draws[s]), limits);
        for (Index count = 0; count < most_exchanges && results[s].inertia > 0.0; ++count) {
            if (!exchange(part, limits, results[s])) {
                break;
            }
        }
    });
    return std::move(first_good(results).centres);
}

} // namespace pnmf
