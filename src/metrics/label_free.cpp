#include <pnmf/metrics/clustering_scores.hpp>

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
std::vector<double> gap_prominence(const std::vector<double>& epsilon, const std::vector<double>& deaths) {
    require(std::is_sorted(deaths.begin(), deaths.end()), "deaths must ascend");
    std::vector<double> result;
    for (const double scale : epsilon) {
        const auto upper = std::lower_bound(deaths.begin(), deaths.end(), scale);
        if (upper == deaths.end() || deaths.back() <= 0.0) {
            result.push_back(0.0);
            continue;
        }
        const double lower = upper == deaths.begin() ? 0.0 : *(upper - 1);
        result.push_back((*upper - lower) / deaths.back());
    }
    return result;
}

std::vector<double> neighbor_stability(const std::vector<std::vector<Index>>& clusters, Index window) {
    require(window >= 1, "the window must be at least 1 scale, got {}", window);
    const auto T = std::ssize(clusters);
    // ARI of t with t + w, each computed once.
    Matrix ahead = Matrix::Zero(window, T);
    parallel_for(T, [&](Index t) {
        for (Index w = 1; w <= window && t + w < T; ++w) {
            ahead(w - 1, t) = adjusted_rand_index(clusters[t], clusters[t + w]);
        }
    });
    std::vector<double> result;
    for (Index t = 0; t < T; ++t) {
        double sum = 0.0;
        Index count = 0;
        for (Index w = 1; w <= window; ++w) {
            if (t + w < T) {
                sum += ahead(w - 1, t);
                ++count;
            }
            if (t >= w) {
                sum += ahead(w - 1, t - w);
                ++count;
            }
        }
        result.push_back(count == 0 ? 1.0 : sum / static_cast<double>(count));
    }
    return result;
}

double resampling_stability(const Matrix& H, const ResamplingOptions& options) {
    require(options.repeats >= 1, "resampling needs at least 1 subset, got {}", options.repeats);
    require(options.fraction > 0.0 && options.fraction <= 1.0,
            "the fraction of cells must be in (0, 1], got {}", options.fraction);
    const auto count = static_cast<Index>(std::lround(options.fraction * static_cast<double>(H.cols())));
    require(count >= options.clusters, "{} of {} cells are too few for {} clusters", count, H.cols(),
            options.clusters);
    const auto cluster = [&](const Matrix& cells) {
        return kmeans(cells, {.clusters = options.clusters, .starts = options.starts, .seed = options.seed})
            .labels;
    };
    const std::vector<Index> whole = cluster(H);
    Vector agreement(options.repeats);
    parallel_for(options.repeats, [&](Index r) {
        const std::vector<Index> subset =
            random_subset(H.cols(), count, Random(options.seed).fork(static_cast<std::uint64_t>(r)));
        std::vector<Index> expected;
        expected.reserve(subset.size());
        for (const Index cell : subset) {
            expected.push_back(whole[cell]);
        }
        agreement(r) = adjusted_rand_index(expected, cluster(H(Eigen::all, subset)));
    });
    return agreement.mean();
}

} // namespace pnmf
