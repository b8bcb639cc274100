#include "assess/embedding_parts.hpp"
#include "assess/labels_on_owners.hpp"
#include "assess/silhouette_table.hpp"
#include "over_ranks.hpp"
#include "parallel_region.hpp"

#include <pnmf/assess/assess.hpp>
#include <pnmf/assess/modularity.hpp>
#include <pnmf/assess/resolutions.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/effective_rank.hpp>
#include <pnmf/linalg/sampling.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/metrics/label_free.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace pnmf {
namespace {

constexpr Index starts_while_searching = 1;
constexpr Index starts_at_the_end = 5;

std::vector<Index> some_cells(Index cells, Index most, std::uint64_t seed) {
    return random_subset(cells, std::min(cells, most), Random(seed));
}

/// Many clusters take longer to find than few: begun last, they would be waited for.
void longest_first(const std::vector<Index>& items, const std::function<void(Index)>& body) {
    const Index count = std::ssize(items);
    parallel_for(count, [&](Index i) { body(items[static_cast<std::size_t>(count - 1 - i)]); });
}

/// The clusters of every k at every probed scale, with what they are judged by. Ranks share these out; what
/// judges them is then on every rank, the clusters themselves where they were found.
class Search {
  public:
    Search(Index scales, Index largest, const Embeddings& embedding, const NeighborLists& graph,
           const ResolutionOptions& options)
        : largest_(largest), embedding_(embedding), graph_(graph), options_(options),
          seen_(some_cells(graph.cells(), options.probed_cells, options.seed)),
          compared_(some_cells(graph.cells(), options.compared_cells, options.seed)) {
        take_scales(scales);
        const Index tried = largest - 1;
        labels_.resize(scales_.size() * static_cast<std::size_t>(tried));
        modularity_.resize(tried, std::ssize(scales_));
        silhouette_.resize(tried, std::ssize(scales_));
        const std::vector<KMeansResult> found = cluster_all();
        parallel_few(std::ssize(scales_), embedding_.divided() ? 1 : 2, [&](Index s) {
            label_scale(s, std::span(found).subspan(static_cast<std::size_t>(s * tried),
                                                    static_cast<std::size_t>(tried)));
        });
        judge_all();
        gather_dealt(ranks_, std::span(modularity_.data(), labels_.size()));
        gather_dealt(ranks_, std::span(silhouette_.data(), labels_.size()));
    }

    /// The smallest k whose modularity is as good as the largest; that of one cluster is 0.
    Index recommended_count() const {
        const Vector best = modularity_.rowwise().maxCoeff();
        const double enough = options_.parsimony * best.maxCoeff();
        const auto found =
            enough > 0.0 ? std::find_if(best.begin(), best.end(), [&](double one) { return one >= enough; })
                         : best.end();
        return found == best.end() ? 1 : found - best.begin() + 2;
    }

    /// Of the probed scales, the one whose k clusters fit the finest embedding best; of equal ones the
    /// coarsest. A position among them. Those that divide the graph poorly are left out.
    Index best_scale(Index k) const {
        const double largest = modularity_.row(k - 2).maxCoeff();
        Index best = -1;
        for (Index s = 0; s < std::ssize(scales_); ++s) {
            if (!divides_poorly(modularity_(k - 2, s), largest) &&
                (best < 0 || std::isnan(silhouette_(k - 2, best)) ||
                 silhouette_(k - 2, s) >= silhouette_(k - 2, best))) {
                best = s;
            }
        }
        return best;
    }

    /// Of every k from 2 on.
    Vector stabilities() const {
        Vector result = Vector::Zero(largest_ - 1);
        longest_first(mine_among(ranks_, result.size()), [&](Index i) { result[i] = stability(i + 2); });
        gather_dealt(ranks_, std::span(result.data(), static_cast<std::size_t>(result.size())));
        return result;
    }

    /// The clusters of each k of `counts`, ascending; `stability` is that of every k.
    std::vector<Resolution> resolutions(const std::vector<Index>& counts, const Vector& stability) {
        std::vector<Resolution> result(counts.size());
        const Index at_once = ranks_.size() == 1 ? std::ssize(counts) : 1; // ranks ask in the same order
        parallel_few(std::ssize(counts), at_once, [&](Index r) {
            Resolution& found = result[r];
            found.clusters = counts[r];
            found.scale = scales_[best_scale(found.clusters)];
            found.stability = stability[found.clusters - 2];
            found.agreement = agreement(found.clusters);
        });
        std::vector<KMeansResult> found(counts.size());
        const std::vector<Index> mine = mine_among(ranks_, std::ssize(counts));
        longest_first(mine, [&](Index i) {
            found[i] = cluster(seen_at_[best_scale(counts[i])], counts[i], starts_at_the_end);
        });
        for (Index r = 0; r < std::ssize(counts); ++r) {
            const auto labels =
                labels_of_all(embedding_.here(result[r].scale), {counts[r]}, r, {&found[r], 1});
            result[r].labels.assign(labels.front().begin(), labels.front().end());
            result[r].modularity = is_mine(ranks_, r) ? modularity(graph_, result[r].labels) : 0.0;
            broadcast_labels(ranks_, graph_.cells(), dealt_to(ranks_, r), result[r].labels);
            broadcast(ranks_, std::span(&result[r].modularity, 1), dealt_to(ranks_, r));
        }
        return result;
    }

  private:
    /// A number of clusters at a probed scale, as one of all: where it stands in the tables. Those of a scale
    /// stand together, so that they are dealt to all ranks: these label one scale after the other.
    Index item(Index s, Index k) const { return s * (largest_ - 1) + k - 2; }

    /// Wherever they were found. All ranks ask together.
    std::vector<Index> labels(Index s, Index k) const {
        const std::vector<std::uint16_t>& here = labels_[static_cast<std::size_t>(item(s, k))];
        std::vector<Index> found(here.begin(), here.end());
        broadcast_labels(ranks_, graph_.cells(), dealt_to(ranks_, item(s, k)), found);
        return found;
    }

    double stability(Index k) const {
        const Matrix& part = parts_[static_cast<std::size_t>(best_scale(k))];
        if (std::lround(0.8 * static_cast<double>(part.cols())) < k) {
            return 0.0;
        }
        return resampling_stability(
            part, {.clusters = k, .repeats = options_.resamples, .starts = 3, .seed = options_.seed});
    }

    /// With the probed scales beside the best one; 1 where there is none.
    double agreement(Index k) const {
        const Index s = best_scale(k);
        const std::vector<Index> best = labels(s, k);
        std::vector<std::vector<Index>> beside;
        for (const Index other : {s - 1, s + 1}) {
            if (other >= 0 && other < std::ssize(scales_)) {
                beside.push_back(labels(other, k));
            }
        }
        Vector found(std::ssize(beside));
        parallel_for(found.size(), [&](Index i) { found[i] = adjusted_rand_index(best, beside[i]); });
        return beside.empty() ? 1.0 : found.mean();
    }

    bool sees_all() const { return std::ssize(seen_) == graph_.cells(); }

    /// k-means of the cells it may see.
    KMeansResult cluster(const Matrix& seen, Index k, Index starts) const {
        return kmeans(seen, {.clusters = k, .starts = starts, .seed = options_.seed, .exchanges = true});
    }

    /// Labels of all cells, those that k-means did not see by the nearest centre. Clustering i was found by
    /// the rank that item first + i is dealt to, which gets its labels.
    std::vector<std::vector<std::uint16_t>> labels_of_all(const Matrix& here,
                                                          const std::vector<Index>& clusters, Index first,
                                                          std::span<const KMeansResult> found) const {
        std::vector<std::vector<std::uint16_t>> labels;
        std::vector<Matrix> centres;
        for (const KMeansResult& one : found) {
            labels.emplace_back(one.labels.begin(), one.labels.end());
            centres.push_back(one.centres);
        }
        return sees_all() ? labels : LabelsOnOwners(embedding_, clusters, first).of(here, std::move(centres));
    }

    /// The scales to try: evenly spaced, the finest among them, without those where the embedding has
    /// collapsed (`has_collapsed`). What is compared and seen of each.
    void take_scales(Index scales) {
        double finest = 0.0;
        for (const Index t : evenly_spaced(options_.probed_scales, scales)) {
            const Matrix here = embedding_.here(t);
            Matrix part = embedding_.some(here, compared_);
            const double rank = effective_rank(part);
            finest = t == 0 ? rank : finest;
            if (t == 0 || !has_collapsed(rank, finest)) {
                scales_.push_back(t);
                parts_.push_back(std::move(part));
                seen_at_.push_back(embedding_.some(here, seen_));
            }
        }
    }

    /// Of the cells that k-means sees, every k at every probed scale: those that this rank has to find.
    std::vector<KMeansResult> cluster_all() {
        finest_ = std::make_unique<SilhouetteTable>(unit_cells(parts_.front()));
        std::vector<Index> items;
        for (Index k = 2; k <= largest_; ++k) {
            for (Index s = 0; s < std::ssize(scales_); ++s) {
                if (is_mine(ranks_, item(s, k))) {
                    items.push_back(item(s, k));
                }
            }
        }
        std::vector<KMeansResult> found(labels_.size());
        longest_first(items, [&](Index i) {
            const Index tried = largest_ - 1;
            found[i] = cluster(seen_at_[i / tried], i % tried + 2, starts_while_searching);
        });
        return found;
    }

    /// `found`: for every k, where this rank has found it.
    void label_scale(Index s, std::span<const KMeansResult> found) {
        std::vector<Index> counts(found.size());
        std::iota(counts.begin(), counts.end(), Index{2});
        auto labels = labels_of_all(embedding_.here(scales_[s]), counts, item(s, 2), found);
        std::move(labels.begin(), labels.end(), labels_.begin() + item(s, 2));
    }

    /// All at once: those of one scale are few for many threads.
    void judge_all() {
        const std::vector<Index> mine = mine_among(ranks_, std::ssize(labels_));
        parallel_for(std::ssize(mine), [&](Index m) {
            const Index i = mine[m];
            const std::vector<Index> one(labels_[i].begin(), labels_[i].end());
            modularity_.reshaped()[i] = modularity(graph_, one);
            silhouette_.reshaped()[i] = finest_->mean(at(one, compared_));
        });
    }

    Index largest_;
    const Embeddings& embedding_;
    const NeighborLists& graph_;
    const ResolutionOptions& options_;
    Communicator& ranks_ = communicator();
    std::vector<Index> seen_;     ///< cells that k-means sees
    std::vector<Index> compared_; ///< cells that silhouettes and resampling see
    std::vector<Index> scales_;
    std::vector<Matrix> parts_;   ///< the compared cells at each probed scale
    std::vector<Matrix> seen_at_; ///< those that k-means sees
    std::unique_ptr<SilhouetteTable> finest_;
    /// Of each item; here, or on another rank. There are hundreds of them, so that labels are kept short.
    std::vector<std::vector<std::uint16_t>> labels_;
    Matrix modularity_; ///< numbers of clusters × probed scales
    Matrix silhouette_;
};

/// Numbers of clusters that are more stable than their neighbours, the recommended one among them; at most
/// `most`, the most stable ones.
std::vector<Index> stable_counts(const Vector& stability, Index recommended, Index most) {
    std::vector<Index> peaks;
    const Index tried = stability.size();
    for (Index i = 0; i < tried; ++i) {
        const bool above_left = i == 0 || stability[i] > stability[i - 1];
        const bool above_right = i + 1 == tried || stability[i] >= stability[i + 1];
        if (above_left && above_right && i + 2 != recommended) {
            peaks.push_back(i + 2);
        }
    }
    std::stable_sort(peaks.begin(), peaks.end(),
                     [&](Index a, Index b) { return stability[a - 2] > stability[b - 2]; });
    peaks.resize(static_cast<std::size_t>(std::min<Index>(std::ssize(peaks), most - 1)));
    peaks.push_back(recommended);
    std::sort(peaks.begin(), peaks.end());
    return peaks;
}

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
                             const ResolutionOptions& options) {
    require(scales >= 1, "there must be at least 1 scale, got {}", scales);
    constexpr Index most = std::numeric_limits<std::uint16_t>::max();
    require(options.most_clusters >= 2 && options.most_clusters <= most,
            "the most clusters tried must be at least 2 and at most {}, got {}", most, options.most_clusters);
    const Index n = graph.cells();
    const Index largest = std::min(options.most_clusters, n / 4);
    if (largest < 2) {
        return one_cluster(n);
    }
    Search search(scales, largest, embedding, graph, options);
    const Index recommended = search.recommended_count();
    if (recommended == 1) {
        return one_cluster(n);
    }
    const Vector stability = search.stabilities();
    const std::vector<Index> counts = stable_counts(stability, recommended, options.most_resolutions);
    Resolutions result;
    result.recommended = std::find(counts.begin(), counts.end(), recommended) - counts.begin();
    result.all = search.resolutions(counts, stability);
    nest(result.all);
    return result;
}

} // namespace pnmf
