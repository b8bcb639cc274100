#include "assess/cut_stability.hpp"

#include "assess/embedding_parts.hpp"

#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

constexpr double kept_cells = 0.8;

SplitCells part_of(const SplitCells& cells, const std::vector<Index>& some) {
    return {.space = cells.space(Eigen::all, some),
            .depth = cells.depth.empty() ? cells.depth : at(cells.depth, some),
            .level = cells.level,
            .seed = cells.seed};
}

/// The clusters of each cut of a tree that is grown on some of the cells.
std::vector<std::vector<Index>> found_again(const SplitCells& cells, const Matrix& embedding, Index leaves) {
    const KMeansResult found =
        kmeans(embedding, {.clusters = leaves, .starts = 1, .seed = cells.seed, .exchanges = true});
    std::vector<double> size(static_cast<std::size_t>(leaves), 0.0);
    for (const Index leaf : found.labels) {
        size[leaf] += 1.0;
    }
    std::vector<std::vector<Index>> clusters;
    for (const std::vector<Index>& cut : grow_splits(cells, found.labels, found.centres, size).cuts) {
        clusters.push_back(at(cut, found.labels));
    }
    return clusters;
}

} // namespace

std::vector<double> cut_stability(const SplitCells& cells, const Matrix& embedding, const SplitTree& tree,
                                  const std::vector<Index>& leaf, Index leaves, Index resamples) {
    const auto count = static_cast<Index>(std::lround(kept_cells * static_cast<double>(embedding.cols())));
    const Index cuts = std::ssize(tree.cuts);
    Matrix agreement = Matrix::Ones(cuts, resamples);
    parallel_for(cuts > 1 ? resamples : 0, [&](Index r) {
        const std::vector<Index> some =
            random_subset(embedding.cols(), count, Random(cells.seed).fork(static_cast<std::uint64_t>(r)));
        const auto again =
            found_again(part_of(cells, some), embedding(Eigen::all, some), std::min(leaves, count / 4));
        for (Index cut = 1; cut < cuts; ++cut) {
            const std::vector<Index>& other =
                again[static_cast<std::size_t>(std::min<Index>(cut, std::ssize(again) - 1))];
            agreement(cut, r) = adjusted_rand_index(at(at(tree.cuts[cut], leaf), some), other);
        }
    });
    const Vector mean = agreement.rowwise().mean();
    return {mean.begin(), mean.end()};
}

} // namespace pnmf
