#include "devices/cuda/kmeans_steps.hpp"
#include "devices/cuda/reduce.cuh"

#include <algorithm>
#include <numeric>

namespace pnmf::cuda {
namespace {

constexpr int threads = 256;
constexpr int cells_of_block = 2048;

__global__ void by_features(const double* in, std::int64_t rows, std::int64_t cells, double* out) {
    const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (j < cells) {
        for (std::int64_t f = 0; f < rows; ++f) {
            out[f * cells + j] = in[j * rows + f];
        }
    }
}

/// to[j] = min(nearest[j], ‖x_j − x_centre‖²), or the distance itself where there is no centre yet; and the
/// sum of each block of cells.
__global__ void __launch_bounds__(threads)
    nearer(const double* X, std::int64_t rows, std::int64_t cells, std::int64_t centre, const double* nearest,
           double* to, double* parts) {
    const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * cells_of_block;
    const std::int64_t end = min(cells, begin + cells_of_block);
    double sum = 0.0;
    for (std::int64_t j = begin + threadIdx.x; j < end; j += threads) {
        double square = 0.0;
        for (std::int64_t f = 0; f < rows; ++f) {
            const double difference = X[f * cells + j] - X[f * cells + centre];
            square += difference * difference;
        }
        const double here = nearest != nullptr ? fmin(nearest[j], square) : square;
        to[j] = here;
        sum += here;
    }
    sum = sum_over_block<threads>(sum);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
    }
}

/// Each cell to the nearest centre, argmin_c ‖c‖² − 2c·x; then sums and counts of this block's cells in each
/// cluster. A thread adds up a feature of a cluster, cell after cell.
__global__ void __launch_bounds__(threads)
    assign_cells(const double* X, std::int64_t rows, std::int64_t cells, const double* centres, int clusters,
                 std::int32_t* labels, double* parts, std::int32_t* counts) {
    extern __shared__ double centre[]; // rows × clusters, then ‖c‖²
    __shared__ std::int32_t label[cells_of_block];
    const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * cells_of_block;
    const int here = static_cast<int>(min(cells - begin, static_cast<std::int64_t>(cells_of_block)));
    double* const square = centre + rows * clusters;
    for (std::int64_t i = threadIdx.x; i < rows * clusters; i += threads) {
        centre[i] = centres[i];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < clusters; c += threads) {
        double sum = 0.0;
        for (std::int64_t f = 0; f < rows; ++f) {
            sum += centre[c * rows + f] * centre[c * rows + f];
        }
        square[c] = sum;
    }
    __syncthreads();
    double changed = 0.0;
    for (int i = threadIdx.x; i < here; i += threads) {
        double best = 0.0;
        std::int32_t nearest = -1;
        for (int c = 0; c < clusters; ++c) {
            double product = 0.0;
            for (std::int64_t f = 0; f < rows; ++f) {
                product += centre[c * rows + f] * X[f * cells + begin + i];
            }
            const double score = square[c] - 2.0 * product;
            if (nearest < 0 || score < best) {
                best = score;
                nearest = c;
            }
        }
        label[i] = nearest;
        changed += labels[begin + i] != nearest ? 1.0 : 0.0;
        labels[begin + i] = nearest;
    }
    changed = sum_over_block<threads>(changed); // and all labels of the block are known
    const std::int64_t pairs = rows * clusters;
    for (std::int64_t p = threadIdx.x; p < pairs; p += threads) {
        const std::int64_t f = p / clusters;
        const int c = static_cast<int>(p % clusters);
        const double* const values = X + f * cells + begin;
        double sum = 0.0;
        for (int i = 0; i < here; ++i) {
            sum += label[i] == c ? values[i] : 0.0;
        }
        parts[blockIdx.x * pairs + c * rows + f] = sum;
    }
    for (int c = threadIdx.x; c <= clusters; c += threads) {
        std::int32_t count = 0;
        for (int i = 0; i < here && c < clusters; ++i) {
            count += label[i] == c ? 1 : 0;
        }
        counts[static_cast<std::int64_t>(blockIdx.x) * (clusters + 1) + c] =
            c < clusters ? count : static_cast<std::int32_t>(changed);
    }
}

__global__ void __launch_bounds__(threads)
    distances_to_own(const double* X, std::int64_t rows, std::int64_t cells, const double* centres,
                     const std::int32_t* labels, double* parts) {
    const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * cells_of_block;
    const std::int64_t end = min(cells, begin + cells_of_block);
    double sum = 0.0;
    for (std::int64_t j = begin + threadIdx.x; j < end; j += threads) {
        const double* const own = centres + labels[j] * rows;
        for (std::int64_t f = 0; f < rows; ++f) {
            const double difference = X[f * cells + j] - own[f];
            sum += difference * difference;
        }
    }
    sum = sum_over_block<threads>(sum);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
    }
}

} // namespace

KMeansCells::KMeansCells(const double* X, std::int64_t rows, std::int64_t cells)
    : rows_(rows), cells_(cells), blocks_(blocks_of(cells, cells_of_block)), X_(rows * cells),
      nearest_(cells), labels_(cells) {
    DeviceArray<double> as_given(rows * cells);
    as_given.upload_part(X, 0, rows * cells);
    by_features<<<static_cast<unsigned>(blocks_of(cells, threads)), threads>>>(as_given.get(), rows, cells,
                                                                               X_.get());
    check_launch("cells of k-means");
    check(cudaDeviceSynchronize(), "cells of k-means"); // before the copy is given back
}

std::vector<double> KMeansCells::parts_of_blocks(std::int64_t first) const {
    std::vector<double> of_blocks(static_cast<std::size_t>(blocks_));
    parts_.download_part(of_blocks.data(), first, blocks_);
    return of_blocks;
}

double KMeansCells::begin_seeding(std::int64_t cell) {
    parts_.allocate(std::max(parts_.size(), blocks_));
    nearer<<<static_cast<unsigned>(blocks_), threads>>>(X_.get(), rows_, cells_, cell, nullptr,
                                                        nearest_.get(), parts_.get());
    check_launch("seeding");
    nearest_parts_ = parts_of_blocks(0);
    return std::accumulate(nearest_parts_.begin(), nearest_parts_.end(), 0.0);
}

std::vector<double> KMeansCells::try_centres(const std::vector<std::int64_t>& candidates) {
    const auto count = static_cast<std::int64_t>(candidates.size());
    tried_.allocate(std::max(tried_.size(), count * cells_));
    parts_.allocate(std::max(parts_.size(), count * blocks_));
    for (std::int64_t r = 0; r < count; ++r) {
        nearer<<<static_cast<unsigned>(blocks_), threads>>>(
            X_.get(), rows_, cells_, candidates[static_cast<std::size_t>(r)], nearest_.get(),
            tried_.get() + r * cells_, parts_.get() + r * blocks_);
        check_launch("seeding");
    }
    std::vector<double> sums;
    tried_parts_.clear();
    for (std::int64_t r = 0; r < count; ++r) {
        tried_parts_.push_back(parts_of_blocks(r * blocks_));
        sums.push_back(std::accumulate(tried_parts_.back().begin(), tried_parts_.back().end(), 0.0));
    }
    return sums;
}

void KMeansCells::take_centre(std::int64_t number) {
    nearest_parts_ = tried_parts_[static_cast<std::size_t>(number)];
    check(cudaMemcpyAsync(nearest_.get(), tried_.get() + number * cells_, nearest_.bytes(),
                          cudaMemcpyDeviceToDevice),
          "seeding");
}

std::int64_t KMeansCells::find_place(double wanted) const {
    double sum = 0.0;
    std::int64_t block = 0;
    while (block + 1 < blocks_ && sum + nearest_parts_[static_cast<std::size_t>(block)] < wanted) {
        sum += nearest_parts_[static_cast<std::size_t>(block++)];
    }
    const std::int64_t begin = block * cells_of_block;
    std::vector<double> some(
        static_cast<std::size_t>(std::min<std::int64_t>(cells_of_block, cells_ - begin)));
    nearest_.download_part(some.data(), begin, static_cast<std::int64_t>(some.size()));
    std::size_t i = 0;
    for (sum += some[0]; sum < wanted && i + 1 < some.size(); sum += some[i]) {
        ++i;
    }
    return begin + static_cast<std::int64_t>(i);
}

KMeansCells::Assigned KMeansCells::assign(const std::vector<double>& centres, std::int64_t clusters) {
    const std::int64_t pairs = rows_ * clusters;
    centres_.upload(centres);
    parts_.allocate(std::max(parts_.size(), blocks_ * pairs));
    counts_.allocate(std::max(counts_.size(), blocks_ * (clusters + 1)));
    const auto buffer = static_cast<int>((pairs + clusters) * static_cast<std::int64_t>(sizeof(double)));
    check(cudaFuncSetAttribute(assign_cells, cudaFuncAttributeMaxDynamicSharedMemorySize, buffer),
          "asking for memory of a block");
    assign_cells<<<static_cast<unsigned>(blocks_), threads, static_cast<std::size_t>(buffer)>>>(
        X_.get(), rows_, cells_, centres_.get(), static_cast<int>(clusters), labels_.get(), parts_.get(),
        counts_.get());
    check_launch("clusters of cells");
    std::vector<double> parts(static_cast<std::size_t>(blocks_ * pairs));
    parts_.download_part(parts.data(), 0, blocks_ * pairs);
    std::vector<std::int32_t> counts(static_cast<std::size_t>(blocks_ * (clusters + 1)));
    counts_.download_part(counts.data(), 0, blocks_ * (clusters + 1));
    Assigned result{std::vector<double>(static_cast<std::size_t>(pairs), 0.0),
                    std::vector<std::int64_t>(static_cast<std::size_t>(clusters), 0), 0};
    for (std::int64_t b = 0; b < blocks_; ++b) {
        for (std::int64_t p = 0; p < pairs; ++p) {
            result.sums[static_cast<std::size_t>(p)] += parts[static_cast<std::size_t>(b * pairs + p)];
        }
        for (std::int64_t c = 0; c < clusters; ++c) {
            result.counts[static_cast<std::size_t>(c)] +=
                counts[static_cast<std::size_t>(b * (clusters + 1) + c)];
        }
        result.changed += counts[static_cast<std::size_t>(b * (clusters + 1) + clusters)];
    }
    return result;
}

double KMeansCells::inertia(const std::vector<double>& centres) {
    centres_.upload(centres);
    parts_.allocate(std::max(parts_.size(), blocks_));
    distances_to_own<<<static_cast<unsigned>(blocks_), threads>>>(X_.get(), rows_, cells_, centres_.get(),
                                                                  labels_.get(), parts_.get());
    check_launch("distances to centres");
    const std::vector<double> sums = parts_of_blocks(0);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void KMeansCells::forget_labels() {
    check(cudaMemset(labels_.get(), 0xff, labels_.bytes()), "clearing labels"); // −1
}

} // namespace pnmf::cuda
