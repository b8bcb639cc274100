#include <pnmf/metrics/kmeans.hpp>

#include "cells/cell_sums.hpp"
#include "linalg/kernels/kernels.hpp"
#include "metrics/kmeans_parts.hpp"
#include "metrics/numpy_random.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <mutex>
#include <numeric>

namespace pnmf {
namespace {

constexpr Index block_of_cells = 1024;

/// The nearest centre of a cell, the first among equals: argmin_c ½‖c‖² − c·x.
class NearestCentre {
  public:
    NearestCentre() = default;
    explicit NearestCentre(const Matrix& centres) { set(centres); }

    void set(const Matrix& centres) {
        count_ = centres.cols();
        side_by_side_.setZero((count_ + lanes - 1) / lanes * lanes, centres.rows());
        half_squares_.setZero(side_by_side_.rows());
        side_by_side_.topRows(count_) = centres.transpose();
        half_squares_.head(count_) = 0.5 * centres.colwise().squaredNorm().transpose();
    }

    /// Of cells [begin, end); `labels` begins at the first of them.
    void of(const Matrix& X, Index begin, Index end, Index* labels) const {
        const CentreTable table{side_by_side_.data(), half_squares_.data(), count_, side_by_side_.rows()};
        // Here and below kept from call to call: threads that ask for memory all the time wait for each
        // other.
        thread_local std::vector<double> buffer;
        buffer.resize(static_cast<std::size_t>(centre_buffer_cells * table.stride));
        kernels().nearest_centres(X.col(begin).data(), X.rows(), end - begin, table, buffer.data(), labels);
    }

  private:
    static constexpr Index lanes = 8;
    Matrix side_by_side_; ///< a centre is a row
    Vector half_squares_;
    Index count_ = 0;
};

void assign(const Matrix& X, const Matrix& centres, std::vector<Index>& labels) {
    const NearestCentre nearest(centres);
    parallel_blocks(X.cols(), block_of_cells,
                    [&](Index begin, Index end) { nearest.of(X, begin, end, labels.data() + begin); });
}

/// What the clusters of some cells hold.
struct ClusterContents {
    Matrix sums; ///< of the cells of each cluster
    std::vector<Index> counts;
};

/// Memory for the contents of clusters, which serves again once it is given back. Threads share it: what one
/// has summed another adds to its own.
class ContentsBuffer {
  public:
    ContentsBuffer(Index coordinates, Index clusters) : coordinates_(coordinates), clusters_(clusters) {}

    /// Clusters without cells.
    ClusterContents* take() {
        ClusterContents* const contents = any();
        contents->sums.setZero(coordinates_, clusters_);
        contents->counts.assign(static_cast<std::size_t>(clusters_), 0);
        return contents;
    }

    void give_back(ClusterContents* contents) {
        const std::lock_guard lock(mutex_);
        spare_.push_back(contents);
    }

  private:
    ClusterContents* any() {
        const std::lock_guard lock(mutex_);
        if (spare_.empty()) {
            return &all_.emplace_back();
        }
        ClusterContents* const contents = spare_.back();
        spare_.pop_back();
        return contents;
    }

    Index coordinates_;
    Index clusters_;
    std::mutex mutex_;
    std::deque<ClusterContents> all_;
    std::vector<ClusterContents*> spare_;
};

/// A part of an assignment, as `BlockSum` adds them. What was added to another goes back to the memory.
struct AssignedPart {
    ClusterContents* contents = nullptr;
    Index moved = 0; ///< cells with another cluster than before
    ContentsBuffer* buffer = nullptr;

    AssignedPart& operator+=(const AssignedPart& other) {
        contents->sums += other.contents->sums;
        std::transform(contents->counts.begin(), contents->counts.end(), other.contents->counts.begin(),
                       contents->counts.begin(), std::plus<>());
        moved += other.moved;
        buffer->give_back(other.contents);
        return *this;
    }
};

/// As `assign`, with the sums of the clusters: a block of cells is still in the cache when these are made.
/// Its memory serves from iteration to iteration: threads that ask for memory all the time wait for each
/// other.
class Assignment {
  public:
    Assignment(const Matrix& X, Index clusters)
        : X_(X), blocks_(usual_blocks(X.cols())), buffer_(X.rows(), clusters) {}

    /// Returns how many cells have another cluster than before; `use` gets the contents of the clusters.
    template <class Use>
    Index operator()(const Matrix& centres, std::vector<Index>& labels, const Use& use) {
        nearest_.set(centres);
        const auto found = sum_of_node<AssignedPart>({0, blocks_.count()}, pieces_for_threads(1),
                                                     [&](Index b) { return of_block(b, labels); });
        use(*found.contents);
        buffer_.give_back(found.contents);
        return found.moved;
    }

  private:
    AssignedPart of_block(Index b, std::vector<Index>& labels) {
        const Index begin = blocks_.begin(b);
        const Index end = blocks_.end(b);
        thread_local std::vector<Index> found;
        found.resize(static_cast<std::size_t>(end - begin));
        nearest_.of(X_, begin, end, found.data());
        AssignedPart part{.contents = buffer_.take(), .buffer = &buffer_};
        for (Index j = begin; j < end; ++j) {
            const Index cluster = found[j - begin];
            part.contents->sums.col(cluster) += X_.col(j);
            ++part.contents->counts[cluster];
            part.moved += labels[j] == cluster ? 0 : 1;
            labels[j] = cluster;
        }
        return part;
    }

    const Matrix& X_;
    CellBlocks blocks_;
    NearestCentre nearest_;
    ContentsBuffer buffer_;
};

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

double inertia(const Matrix& X, const Matrix& centres, const std::vector<Index>& labels) {
    return sum_of_blocks<double>(X.cols(), [&](Index begin, Index end) {
        double sum = 0.0;
        for (Index j = begin; j < end; ++j) {
            sum += (X.col(j) - centres.col(labels[j])).squaredNorm();
        }
        return sum;
    });
}

/// `means_of_clusters` in the place of the sums.
void make_means(const Matrix& X, const Matrix& centres, const std::vector<Index>& labels, Matrix& sums,
                std::vector<Index>& counts) {
    fill_empty_clusters(X, centres, labels, sums, counts);
    for (Index c = 0; c < centres.cols(); ++c) {
        if (counts[c] > 0) {
            sums.col(c) /= static_cast<double>(counts[c]);
        } else {
            sums.col(c) = centres.col(c);
        }
    }
}

/// Moves the cells to lie about their mean, where products cancel less; returns the mean.
Vector centre(Matrix& X) {
    const Vector mean = sum_of_cells(X) / static_cast<double>(X.cols());
    parallel_blocks(X.cols(), block_of_cells,
                    [&](Index begin, Index end) { X.middleCols(begin, end - begin).colwise() -= mean; });
    return mean;
}

KMeansResult best_start(const Matrix& X, const KMeansOptions& options, const KMeansLimits& limits) {
    const std::vector<SeedingDraws> draws = draw_seedings(X.cols(), options);
    const Index starts = options.clusters == 1 ? 1 : options.starts; // one cluster's centre is the mean
    std::vector<KMeansResult> results(static_cast<std::size_t>(starts));
    parallel_for(starts, [&](Index s) { results[s] = lloyd(X, seed_centres(X, draws[s]), limits); });
    return std::move(
        *std::min_element(results.begin(), results.end(), [](const KMeansResult& a, const KMeansResult& b) {
            return a.inertia < b.inertia;
        }));
}

} // namespace

void squared_distances_to(const Matrix& X, const Matrix& points, Matrix& result) {
    constexpr Index lanes = 4;
    const Index count = points.cols();
    result.resize((X.cols() + 1) / 2 * 2, count);
    for (Index first = 0; first < count; first += lanes) {
        const Index width = std::min(lanes, count - first);
        Matrix side_by_side = Matrix::Zero(lanes, X.rows());
        for (Index m = 0; m < width; ++m) {
            side_by_side.row(m) = points.col(first + m).transpose();
        }
        parallel_blocks(X.cols(), block_of_cells, [&](Index begin, Index end) {
            thread_local Matrix found(lanes, block_of_cells);
            kernels().squared_distances(X.col(begin).data(), X.rows(), end - begin, side_by_side.data(),
                                        found.data());
            result.block(begin, first, end - begin, width) =
                found.topLeftCorner(width, end - begin).transpose();
        });
    }
}

Matrix seed_centres(const Matrix& X, const SeedingDraws& draws) {
    const Index n = X.cols();
    const Index k = draws.uniform.cols() + 1;
    Matrix centres(X.rows(), k);
    centres.col(0) = X.col(draws.first);
    Matrix updated;
    squared_distances_to(X, X.col(draws.first), updated);
    Vector nearest = updated.col(0).head(n);
    Vector cumulative(n);
    for (Index c = 1; c < k; ++c) {
        std::partial_sum(nearest.begin(), nearest.end(), cumulative.begin());
        const double total = nearest.sum();
        std::vector<Index> candidates;
        for (const double u : draws.uniform.col(c - 1)) {
            const auto place = std::lower_bound(cumulative.begin(), cumulative.end(), u * total);
            candidates.push_back(std::min<Index>(place - cumulative.begin(), n - 1));
        }
        squared_distances_to(X, X(Eigen::all, candidates), updated);
        double best_total = 0.0;
        Index best = -1;
        Index best_place = 0;
        for (Index m = 0; m < updated.cols(); ++m) {
            auto distance = updated.col(m).head(n);
            distance = nearest.cwiseMin(distance);
            const double updated_total = distance.sum();
            if (best < 0 || updated_total < best_total) {
                best = candidates[m];
                best_total = updated_total;
                best_place = m;
            }
        }
        centres.col(c) = X.col(best);
        nearest = updated.col(best_place).head(n);
    }
    return centres;
}

KMeansResult lloyd(const Matrix& X, Matrix centres, const KMeansLimits& limits) {
    KMeansResult result;
    result.labels.assign(static_cast<std::size_t>(X.cols()), -1);
    bool labels_stayed = false;
    Assignment assign_and_sum(X, centres.cols());
    while (!result.converged && result.iterations < limits.max_iterations) {
        double move = 0.0;
        const Index moved = assign_and_sum(centres, result.labels, [&](ClusterContents& contents) {
            make_means(X, centres, result.labels, contents.sums, contents.counts);
            move = (contents.sums - centres).squaredNorm();
            centres = contents.sums;
        });
        labels_stayed = moved == 0;
        ++result.iterations;
        result.converged = labels_stayed || move <= limits.least_move;
    }
    if (!labels_stayed) {
        assign(X, centres, result.labels);
    }
    result.inertia = inertia(X, centres, result.labels);
    result.centres = std::move(centres);
    return result;
}

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
    make_means(X, centres, labels, sums, counts);
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

std::vector<std::vector<std::uint16_t>> nearest_of_each(const Matrix& X, const std::vector<Matrix>& centres) {
    std::vector<NearestCentre> nearest;
    std::vector<std::vector<std::uint16_t>> labels(centres.size());
    for (std::size_t i = 0; i < centres.size(); ++i) {
        nearest.emplace_back(centres[i]);
        labels[i].resize(centres[i].cols() > 0 ? static_cast<std::size_t>(X.cols()) : 0);
    }
    parallel_blocks(X.cols(), block_of_cells, [&](Index begin, Index end) {
        std::vector<Index> found(static_cast<std::size_t>(end - begin));
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (!labels[i].empty()) {
                nearest[i].of(X, begin, end, found.data());
                std::transform(found.begin(), found.end(), labels[i].begin() + begin,
                               [](Index label) { return static_cast<std::uint16_t>(label); });
            }
        }
    });
    return labels;
}

KMeansResult kmeans(const Matrix& X, const KMeansOptions& options) {
    return kmeans(Matrix(X), options);
}

KMeansResult kmeans(Matrix&& X, const KMeansOptions& options) {
    check_kmeans(X, options);
    Matrix centred = std::move(X);
    const Vector mean = centre(centred);
    const double squares = sum_of_blocks<double>(centred.cols(), [&](Index begin, Index end) {
        return centred.middleCols(begin, end - begin).squaredNorm();
    });
    const double mean_variance = centred.rows() == 0 ? 0.0 : squares / static_cast<double>(centred.size());
    const KMeansLimits limits{options.tolerance * mean_variance, options.max_iterations};
    KMeansResult found = options.exchanges && options.clusters > 1
                             ? lloyd(centred, centres_by_exchanges(centred, options, limits), limits)
                             : best_start(centred, options, limits);
    found.centres.colwise() += mean;
    return found;
}

} // namespace pnmf
