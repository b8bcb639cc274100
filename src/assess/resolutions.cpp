#include "assess/cut_stability.hpp"
#include "assess/embedding_parts.hpp"
#include "assess/modularity.hpp"
#include "assess/split_tree.hpp"
#include "cells/assess/labels_on_owners.hpp"
#include "cells/shared_work.hpp"
#include "linalg/effective_rank.hpp"
#include "parallel_region.hpp"

#include <pnmf/assess/assess.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <utility>

namespace pnmf {
namespace {

constexpr double undivided = -1.0; ///< less than any modularity

std::vector<Index> some_cells(Index cells, Index most, std::uint64_t seed) {
    return random_subset(cells, std::min(cells, most), Random(seed));
}

/// A tree of tested splits at every probed scale, and the best of them. Processes share the scales.
class Search {
  public:
    Search(Index scales, Index leaves, const Embeddings& embedding, const NeighborLists& graph,
           const SplitEvidence& evidence, const ResolutionOptions& options)
        : leaves_(leaves), embedding_(embedding), graph_(graph), options_(options),
          seen_(some_cells(graph.cells(), options.probed_cells, options.seed)),
          tested_(some_cells(graph.cells(), options.tested_cells, options.seed)),
          cells_(evidence_of(evidence, tested_)) {
        take_scales(scales);
        find_leaves();
        choose_scale();
        stability_ = cut_stability(evidence_of(evidence, seen_), seen_at_[best_], tree_,
                                   at(labels_[best_], seen_), leaves_, options.resamples);
    }

    Resolutions resolutions() {
        const std::vector<double> quality = qualities(tree_, labels_[best_]);
        const Index best = best_cut(quality, tree_) + 1;
        const std::vector<Index> counts = levels(best);
        Resolutions result;
        result.recommended = std::find(counts.begin(), counts.end(), best) - counts.begin();
        result.all.resize(counts.size());
        parallel_few(std::ssize(counts), std::ssize(counts), [&](Index r) {
            Resolution& found = result.all[r];
            const Index k = counts[r];
            found.clusters = k;
            found.scale = scales_[best_];
            found.labels = clusters_of_cut(tree_, k, labels_[best_]);
            found.modularity = quality[k - 1];
            found.p_value = tree_.p_value[k - 1];
            found.stability = stability_[k - 1];
            found.agreement = agreement(k, at(found.labels, seen_));
        });
        nest(result.all);
        return result;
    }

  private:
    /// Numbers of clusters to report: the recommended one, four between few and all that are not rare, and
    /// all.
    std::vector<Index> levels(Index recommended) const {
        std::set<Index> counts{recommended, std::ssize(tree_.cuts)};
        const Index most = tree_.without_rare;
        for (const double share : {0.4, 0.6, 0.8, 1.0}) {
            const auto count = static_cast<Index>(std::lround(share * static_cast<double>(most)));
            counts.insert(std::max<Index>(count, std::min<Index>(2, std::ssize(tree_.cuts))));
        }
        return {counts.begin(), counts.end()};
    }

    static std::vector<Index> clusters_of_cut(const SplitTree& tree, Index k,
                                              const std::vector<Index>& leaf) {
        return at(tree.cuts[static_cast<std::size_t>(k - 1)], leaf);
    }

    /// The position of the largest, of those without rare groups; where there is a division, of those that
    /// divide.
    static Index best_cut(const std::vector<double>& quality, const SplitTree& tree) {
        const Index from = quality.size() > 1 ? 1 : 0;
        const Index to = std::max(from + 1, tree.without_rare);
        return std::max_element(quality.begin() + from, quality.begin() + to) - quality.begin();
    }

    /// The modularity of every cut.
    std::vector<double> qualities(const SplitTree& tree, const std::vector<Index>& leaf) const {
        std::vector<double> found;
        for (Index k = 1; k <= std::ssize(tree.cuts); ++k) {
            found.push_back(modularity(graph_, clusters_of_cut(tree, k, leaf)));
        }
        return found;
    }

    /// What these cells are tested on.
    SplitCells evidence_of(const SplitEvidence& evidence, const std::vector<Index>& cells) const {
        const Matrix depth = evidence.depth.some(evidence.depth.here(0), cells);
        return {.space = evidence.space.some(evidence.space.here(0), cells),
                .depth = {depth.data(), depth.data() + depth.size()},
                .level = options_.level,
                .seed = options_.seed};
    }

    /// With the clusters of the probed scales next to the best one; 1 where there is none.
    double agreement(Index k, const std::vector<Index>& clusters) const {
        double sum = 0.0;
        double count = 0.0;
        for (const Index other : {best_ - 1, best_ + 1}) {
            if (other >= 0 && other < std::ssize(scales_)) {
                sum += adjusted_rand_index(clusters, cluster(other, k).labels);
                count += 1.0;
            }
        }
        return count > 0.0 ? sum / count : 1.0;
    }

    /// k-means of the cells it may see, at a probed scale.
    KMeansResult cluster(Index s, Index k) const {
        return kmeans(seen_at_[static_cast<std::size_t>(s)],
                      {.clusters = k, .starts = 1, .seed = options_.seed, .exchanges = true});
    }

    /// The scales to try: evenly spaced, the finest among them, without those where the embedding has
    /// collapsed (`has_collapsed`). What is seen of each.
    void take_scales(Index scales) {
        const std::vector<Index> compared =
            some_cells(graph_.cells(), options_.compared_cells, options_.seed);
        double finest = 0.0;
        for (const Index t : evenly_spaced(options_.probed_scales, scales)) {
            const Matrix here = embedding_.here(t);
            const double rank = effective_rank(embedding_.some(here, compared));
            finest = t == 0 ? rank : finest;
            if (t == 0 || !has_collapsed(rank, finest)) {
                scales_.push_back(t);
                seen_at_.push_back(embedding_.some(here, seen_));
            }
        }
    }

    /// The leaf of every cell at every probed scale, with centres and sizes: on all processes.
    void find_leaves() {
        const Index count = std::ssize(scales_);
        std::vector<KMeansResult> found(scales_.size());
        const std::vector<Index> mine = mine_among(processes_, count);
        parallel_for(std::ssize(mine), [&](Index m) { found[mine[m]] = cluster(mine[m], leaves_); });
        for (Index s = 0; s < count; ++s) {
            const int owner = dealt_to(processes_, s);
            Matrix centres = is_mine(processes_, s) ? found[s].centres : Matrix(seen_at_[s].rows(), leaves_);
            broadcast(processes_, std::span(centres.data(), static_cast<std::size_t>(centres.size())), owner);
            std::vector<Index> seen = std::move(found[s].labels);
            broadcast_labels(std::ssize(seen_), owner, seen);
            std::vector<double> size(static_cast<std::size_t>(leaves_), 0.0);
            for (const Index leaf : seen) {
                size[leaf] += 1.0;
            }
            labels_.push_back(std::ssize(seen_) == graph_.cells() ? std::move(seen)
                                                                  : nearest_leaves(s, centres, owner));
            centres_.push_back(std::move(centres));
            size_.push_back(std::move(size));
        }
    }

    /// All processes ask together.
    std::vector<Index> nearest_leaves(Index s, const Matrix& centres, int owner) const {
        std::vector<Matrix> mine(1);
        if (is_mine(processes_, s)) {
            mine[0] = centres;
        }
        const auto labels =
            LabelsOnOwners(embedding_, {leaves_}, s).of(embedding_.here(scales_[s]), std::move(mine));
        std::vector<Index> all(labels.front().begin(), labels.front().end());
        broadcast_labels(graph_.cells(), owner, all);
        return all;
    }

    void choose_scale() {
        std::vector<double> quality(scales_.size(), 0.0);
        std::vector<double> p_value(scales_.size(), 0.0);
        std::vector<SplitTree> trees(scales_.size());
        const std::vector<Index> mine = mine_among(processes_, std::ssize(scales_));
        parallel_for(std::ssize(mine), [&](Index m) {
            const Index s = mine[m];
            trees[s] = grow(s);
            const std::vector<double> found = qualities(trees[s], labels_[s]);
            const Index cut = best_cut(found, trees[s]);
            quality[s] = cut > 0 ? found[static_cast<std::size_t>(cut)] : undivided;
            p_value[s] = trees[s].least_p;
        });
        gather_dealt(std::span(quality));
        gather_dealt(std::span(p_value));
        for (Index s = 1; s < std::ssize(scales_); ++s) {
            best_ = quality[s] >= quality[best_] ? s : best_;
        }
        tree_ = is_mine(processes_, best_) ? std::move(trees[best_]) : grow(best_);
        const double p = harmonic_mean(p_value);
        if (p >= options_.level) {
            tree_ = {.cuts = {std::move(tree_.cuts.front())}, .p_value = {p}, .least_p = p};
        }
        for (double& of_cut : tree_.p_value) {
            of_cut = std::max(of_cut, p);
        }
    }

    /// One p value of several that depend on each other: the harmonic mean (Wilson 2019). A division that one
    /// scale alone shows was chosen among all of them.
    static double harmonic_mean(const std::vector<double>& p) {
        double sum = 0.0;
        for (const double one : p) {
            sum += 1.0 / one;
        }
        return static_cast<double>(p.size()) / sum;
    }

    SplitTree grow(Index s) const {
        const auto i = static_cast<std::size_t>(s);
        return grow_splits(cells_, at(labels_[i], tested_), centres_[i], size_[i]);
    }

    Index leaves_;
    const Embeddings& embedding_;
    const NeighborLists& graph_;
    const ResolutionOptions& options_;
    Processes& processes_ = all_processes();
    std::vector<Index> seen_;   ///< cells that k-means and resampling see
    std::vector<Index> tested_; ///< cells that splits are tested on
    SplitCells cells_;
    std::vector<Index> scales_;
    std::vector<Matrix> seen_at_; ///< the cells that k-means sees, at each probed scale
    std::vector<std::vector<Index>> labels_;
    std::vector<Matrix> centres_;
    std::vector<std::vector<double>> size_;
    Index best_ = 0; ///< of the probed scales
    SplitTree tree_;
    std::vector<double> stability_; ///< of each cut of the tree
};

Resolutions one_cluster(Index cells) {
    Resolution all;
    all.clusters = 1;
    all.stability = 1.0;
    all.agreement = 1.0;
    all.labels.assign(static_cast<std::size_t>(cells), 0);
    return {.all = {std::move(all)}};
}

} // namespace

void nest(std::vector<Resolution>& resolutions) {
    for (std::size_t r = 1; r < resolutions.size(); ++r) {
        Resolution& fine = resolutions[r];
        const Resolution& coarse = resolutions[r - 1];
        Matrix shared = Matrix::Zero(coarse.clusters, fine.clusters);
        for (std::size_t j = 0; j < fine.labels.size(); ++j) {
            shared(coarse.labels[j], fine.labels[j]) += 1.0;
        }
        fine.parent.assign(static_cast<std::size_t>(fine.clusters), 0);
        fine.share.assign(static_cast<std::size_t>(fine.clusters), 0.0);
        for (Index c = 0; c < fine.clusters; ++c) {
            const double size = shared.col(c).sum();
            const double most = shared.col(c).maxCoeff(&fine.parent[c]);
            fine.share[c] = size > 0.0 ? most / size : 0.0;
        }
    }
}

Resolutions find_resolutions(Index scales, const Embeddings& embedding, const NeighborLists& graph,
                             const SplitEvidence& evidence, const ResolutionOptions& options) {
    require(scales >= 1, "there must be at least 1 scale, got {}", scales);
    constexpr Index most = std::numeric_limits<std::uint16_t>::max();
    require(options.leaves >= 2 && options.leaves <= most,
            "the clusters to be joined must be at least 2 and at most {}, got {}", most, options.leaves);
    const Index leaves = std::min(options.leaves, graph.cells() / 4);
    if (leaves < 2) {
        return one_cluster(graph.cells());
    }
    return Search(scales, leaves, embedding, graph, evidence, options).resolutions();
}

} // namespace pnmf
