#include "devices/cuda/cuda_kmeans.hpp"
#include "devices/cuda/kmeans_steps.hpp"
#include "metrics/kmeans_parts.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <optional>

namespace pnmf {
namespace {

constexpr Index cells_at_a_time = 8192;

Index blocks_of_cells(const Matrix& X) {
    return (X.cols() + cells_at_a_time - 1) / cells_at_a_time;
}

/// Sums of blocks of cells, added in order.
Vector mean_of(const Matrix& X) {
    Matrix sums = Matrix::Zero(X.rows(), blocks_of_cells(X));
    parallel_blocks(X.cols(), cells_at_a_time, [&](Index begin, Index end) {
        sums.col(begin / cells_at_a_time) = X.middleCols(begin, end - begin).rowwise().sum();
    });
    return sums.rowwise().sum() / static_cast<double>(X.cols());
}

std::vector<double> numbers_of(const Matrix& centres) {
    return {centres.data(), centres.data() + centres.size()};
}

/// k-means of the CPU (src/metrics/kmeans.cpp), start by start, with all that looks at every cell on the
/// device.
class DeviceKMeans {
  public:
    DeviceKMeans(const Matrix& centred, const KMeansLimits& limits)
        : X_(centred), limits_(limits), cells_(centred.data(), centred.rows(), centred.cols()) {}

    KMeansResult run(const SeedingDraws& draws) { return run(seed(draws)); }

    KMeansResult run(Matrix centres) {
        KMeansResult result;
        cells_.forget_labels();
        bool labels_stayed = false;
        while (!result.converged && result.iterations < limits_.max_iterations) {
            const auto assigned = cells_.assign(numbers_of(centres), centres.cols());
            Matrix means = means_of(assigned, centres);
            const double move = (means - centres).squaredNorm();
            centres = std::move(means);
            ++result.iterations;
            labels_stayed = assigned.changed == 0;
            result.converged = labels_stayed || move <= limits_.least_move;
        }
        if (!labels_stayed) {
            cells_.assign(numbers_of(centres), centres.cols());
        }
        result.inertia = cells_.inertia(numbers_of(centres));
        result.centres = std::move(centres);
        return result;
    }

    /// Of the start that was run last.
    std::vector<Index> labels() const {
        const std::vector<std::int32_t> found = cells_.labels();
        return {found.begin(), found.end()};
    }

  private:
    Matrix seed(const SeedingDraws& draws) {
        const Index k = draws.uniform.cols() + 1;
        Matrix centres(X_.rows(), k);
        centres.col(0) = X_.col(draws.first);
        double total = cells_.begin_seeding(draws.first);
        for (Index c = 1; c < k; ++c) {
            std::vector<std::int64_t> candidates;
            for (const double u : draws.uniform.col(c - 1)) {
                candidates.push_back(cells_.find_place(u * total));
            }
            const std::vector<double> totals = cells_.try_centres(candidates);
            const auto best = std::min_element(totals.begin(), totals.end()) - totals.begin();
            cells_.take_centre(best);
            total = totals[static_cast<std::size_t>(best)];
            centres.col(c) = X_.col(candidates[static_cast<std::size_t>(best)]);
        }
        return centres;
    }

    Matrix means_of(const cuda::KMeansCells::Assigned& assigned, const Matrix& centres) const {
        const Matrix sums = Eigen::Map<const Matrix>(assigned.sums.data(), centres.rows(), centres.cols());
        const std::vector<Index> counts(assigned.counts.begin(), assigned.counts.end());
        // Labels are asked for only where a cluster has lost its cells.
        const bool empty = std::find(counts.begin(), counts.end(), 0) != counts.end();
        return means_of_clusters(X_, centres, empty ? labels() : std::vector<Index>{}, sums, counts);
    }

    const Matrix& X_;
    KMeansLimits limits_;
    cuda::KMeansCells cells_;
};

} // namespace

KMeansResult cuda_kmeans(const Matrix& X, const KMeansOptions& options) {
    check_kmeans(X, options);
    if (!cuda::KMeansCells::fits(X.rows(), options.clusters)) {
        return kmeans(X, options);
    }
    const Vector mean = mean_of(X);
    Matrix centred(X.rows(), X.cols());
    Vector squares = Vector::Zero(blocks_of_cells(X));
    parallel_blocks(X.cols(), cells_at_a_time, [&](Index begin, Index end) {
        auto block = centred.middleCols(begin, end - begin);
        block = X.middleCols(begin, end - begin).colwise() - mean;
        squares[begin / cells_at_a_time] = block.squaredNorm();
    });
    const double mean_variance = X.rows() == 0 ? 0.0 : squares.sum() / static_cast<double>(X.size());
    const KMeansLimits limits{options.tolerance * mean_variance, options.max_iterations};
    DeviceKMeans device(centred, limits);
    std::optional<KMeansResult> best;
    if (options.exchanges && options.clusters > 1) {
        best = device.run(centres_by_exchanges(centred, options, limits));
        best->labels = device.labels();
    }
    const Index starts = options.clusters == 1 ? 1 : options.starts;
    for (const SeedingDraws& draws : best ? std::vector<SeedingDraws>{} : draw_seedings(X.cols(), options)) {
        KMeansResult found = device.run(draws);
        if (!best || found.inertia < best->inertia) {
            found.labels = device.labels();
            best = std::move(found);
        }
        if (starts == 1) {
            break; // one cluster's centre is the mean, whatever the seeding
        }
    }
    best->centres.colwise() += mean;
    return std::move(*best);
}

} // namespace pnmf
