#include "assess/embedding_parts.hpp"
#include "assess/modularity.hpp"
#include "cells/shared_work.hpp"
#include "linalg/effective_rank.hpp"

#include <pnmf/assess/assess.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace pnmf {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr Index scales_for_count = 8;   ///< scales that take part in the choice of k
constexpr Index most_held = 16;         ///< scales, where all are taken before work on them begins
constexpr double nearly_largest = 0.95; ///< share of the largest score that is enough, with a graph
constexpr double enough_rank = 0.25;    ///< share of the directions beyond the first; below, H has collapsed
constexpr double enough_modularity =
    0.5; ///< share of the largest; below, clusters are not those of the graph

/// The columns that take part in costly scores: all, or a random subset.
std::vector<Index> probed_cells(Index cells, const AssessOptions& options) {
    return random_subset(cells, std::min(cells, options.probed_cells), Random(options.seed));
}

double silhouette_of(const Matrix& H, const std::vector<Index>& clusters) {
    const std::set<Index> kinds(clusters.begin(), clusters.end());
    return kinds.size() < 2 ? none : mean_silhouette(H, clusters);
}

Index cells_of(const Embeddings& embedding, const Matrix& here) {
    return !embedding.has_all_cells() ? embedding.local().all : here.cols();
}

/// Scales that there is memory for at once, d × n each; a moment long also in single precision.
Index scales_that_fit(Index rank, Index cells, double memory) {
    constexpr double most = 1e6;
    const double size = static_cast<double>(rank) * static_cast<double>(cells) + 1.0;
    return static_cast<Index>(std::clamp(memory / (2.0 * sizeof(double) * size), 1.0, most));
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

Index chosen_count(Index scales, const Embeddings& embedding, const AssessOptions& options,
                   std::vector<std::string>& notices) {
    if (options.clusters) {
        return *options.clusters;
    }
    std::vector<Matrix> embeddings;
    for (const Index t : evenly_spaced(scales_for_count, scales)) {
        const Matrix here = embedding.here(t);
        embeddings.push_back(embedding.some(here, probed_cells(cells_of(embedding, here), options)));
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

Index count_of(const Resolutions& resolutions, std::vector<std::string>& notices) {
    const Resolution& found = resolutions.all[static_cast<std::size_t>(resolutions.recommended)];
    if (found.clusters == 1) {
        notices.emplace_back(std::isnan(found.p_value)
                                 ? "1 cluster: too few cells for more"
                                 : fmt::format("1 cluster: no groups that we can vouch for. Every way to "
                                               "divide the cells that was tried could be one population cut "
                                               "in pieces (smallest p {:.2g})",
                                               found.p_value));
        return 1;
    }
    notices.push_back(
        fmt::format("{} clusters: each split was tested against one population (largest p {:.2g}); of the "
                    "numbers that pass, up to {}, it divides the neighbour graph best (modularity {:.3f})",
                    found.clusters, found.p_value, resolutions.all.back().clusters, found.modularity));
    return found.clusters;
}

/// The recommended clusters as the only resolution.
void add_recommended_resolution(Assessment& result, const NeighborLists* graph) {
    Resolution& recommended = result.resolutions.all.emplace_back();
    const auto t = static_cast<std::size_t>(result.recommended);
    recommended.clusters = result.cluster_count;
    recommended.scale = result.recommended;
    recommended.labels = result.clusters[t];
    recommended.modularity = graph == nullptr ? none : modularity(*graph, recommended.labels);
    recommended.stability = result.scores.resampling[t];
    recommended.agreement = result.scores.stability[t];
}

/// The clusters and the scale of the recommended resolution.
void take_recommended_resolution(Assessment& result) {
    const Resolution& found =
        result.resolutions.all[static_cast<std::size_t>(result.resolutions.recommended)];
    result.recommended = found.scale;
    result.clusters[static_cast<std::size_t>(found.scale)] = found.labels;
}

/// What the clusters of a probed scale are judged by; `none` for another scale.
struct AssessedScale {
    double silhouette = none;
    double fit_to_finest = none;
    double effective_rank = none;
    double resampling = none;
    double modularity = none; ///< where there is a graph
};

class ScaleAssessor {
  public:
    ScaleAssessor(Index clusters, Index starts, const AssessOptions& options)
        : clusters_(clusters), starts_(starts), options_(options) {}

    Matrix probed_part(const Matrix& H) const { return H(Eigen::all, probed_cells(H.cols(), options_)); }

    std::vector<Index> clusters_by_device(const Matrix& H) const { return options_.kmeans(H, how()).labels; }
    std::vector<Index> clusters_of(Matrix&& H) const { return kmeans(std::move(H), how()).labels; }

    /// `part`: the probed cells; `finest`: those of the finest embedding, of unit length.
    AssessedScale judge(const Matrix& part, const std::vector<Index>& clusters_of_all,
                        const Matrix& finest) const {
        AssessedScale scale;
        const std::vector<Index> clusters =
            at(clusters_of_all, probed_cells(std::ssize(clusters_of_all), options_));
        scale.silhouette = silhouette_of(part, clusters);
        scale.fit_to_finest = silhouette_of(finest, clusters);
        scale.effective_rank = std::max(1.0, effective_rank(part)); // a point counts as a line
        if (options_.graph != nullptr) {
            scale.modularity = modularity(*options_.graph, clusters_of_all);
        }
        if (std::lround(0.8 * static_cast<double>(part.cols())) >= clusters_) {
            scale.resampling = resampling_stability(
                part,
                {.clusters = clusters_, .repeats = options_.resamples, .starts = 3, .seed = options_.seed});
        }
        return scale;
    }

  private:
    KMeansOptions how() const {
        return {.clusters = clusters_, .starts = starts_, .seed = options_.seed, .exchanges = true};
    }

    Index clusters_;
    Index starts_;
    const AssessOptions& options_;
};

/// Clusters of every scale, and what the probed ones are judged by. Processes share the scales, and all get
/// what all find.
std::vector<AssessedScale> assess_each(Index scales, const Embeddings& embedding, Index k,
                                       const AssessOptions& options,
                                       std::vector<std::vector<Index>>& clusters) {
    Processes& processes = all_processes();
    const std::vector<Index> mine = mine_among(processes, scales);
    const std::vector<Index> probed = evenly_spaced(options.probed_scales, scales);
    std::vector<AssessedScale> assessed(static_cast<std::size_t>(scales));
    clusters.resize(assessed.size());
    Matrix here = embedding.here(0);
    const Index cells = cells_of(embedding, here);
    const Index starts = scales > 100 ? 1 : options.graph != nullptr && scales <= 40 ? 5 : 3;
    const ScaleAssessor assessor(k, starts, options);
    const Matrix finest = unit_cells(embedding.some(here, probed_cells(cells, options)));
    // Each thread takes the scale that it works on, unless processes must ask together or a device comes
    // first.
    const bool each_its_own = embedding.has_all_cells() && !options.kmeans;
    const Index fit = scales_that_fit(here.rows(), cells, options.memory);
    const Index together = each_its_own && thread_count() <= fit ? scales : std::min(fit, most_held);
    here.resize(0, 0);
    for (Index first = 0; first * processes.count() < scales; first += together) {
        std::vector<Matrix> group;
        // What is asked for now: `together` scales for each process, by all processes in the same order.
        const Index past = std::min(scales, (first + together) * processes.count());
        for (Index t = first * processes.count(); t < past; ++t) {
            Matrix H = each_its_own ? Matrix() : embedding.on(dealt_to(processes, t), t);
            if (is_mine(processes, t)) {
                group.push_back(std::move(H));
            }
        }
        if (options.kmeans) { // a device works for one thread
            for (Index i = 0; i < std::ssize(group); ++i) {
                clusters[mine[first + i]] = assessor.clusters_by_device(group[i]);
            }
        }
        const auto assess = [&](Index i) {
            const Index t = mine[first + i];
            const bool is_probed = std::binary_search(probed.begin(), probed.end(), t);
            Matrix H = each_its_own ? embedding.here(t) : std::move(group[i]);
            const Matrix part = is_probed ? assessor.probed_part(H) : Matrix();
            if (clusters[t].empty()) {
                clusters[t] = assessor.clusters_of(std::move(H));
            }
            if (is_probed) {
                assessed[t] = assessor.judge(part, clusters[t], finest);
            }
        };
        if (std::ssize(group) > 1) {
            parallel_for(std::ssize(group), assess);
        } else if (!group.empty()) {
            assess(0); // on all threads
        }
    }
    gather_dealt(std::span(assessed));
    for (Index t = 0; t < scales; ++t) {
        broadcast_labels(cells, dealt_to(processes, t), clusters[t]);
    }
    return assessed;
}

/// Scales that have collapsed, and of the others those that divide the graph poorly. The finest has not
/// collapsed, so that one is always left.
std::vector<bool> leave_out(const std::vector<AssessedScale>& assessed) {
    std::vector<bool> left_out;
    double largest = 0.0;
    for (const AssessedScale& scale : assessed) {
        left_out.push_back(has_collapsed(scale.effective_rank, assessed.front().effective_rank));
        if (!left_out.back() && scale.modularity > largest) { // not where there is none
            largest = scale.modularity;
        }
    }
    for (std::size_t t = 0; t < assessed.size(); ++t) {
        left_out[t] = left_out[t] || divides_poorly(assessed[t].modularity, largest);
    }
    return left_out;
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

/// Of the probed scales that are not left out, the coarsest with `enough` of the largest score, or the
/// coarsest where none has a score, as with one cluster; 0 when all are left out.
Index recommendation(const std::vector<AssessedScale>& assessed, const std::vector<bool>& left_out,
                     const std::vector<double>& combined, double enough) {
    Index best = -1;
    Index any = 0;
    for (Index t = 0; t < std::ssize(combined); ++t) {
        const bool takes_part = !std::isnan(assessed[t].effective_rank) && !left_out[t];
        any = takes_part ? t : any;
        best = takes_part && combined[t] >= enough ? t : best; // not where it is NaN
    }
    return best >= 0 ? best : any;
}

} // namespace

bool has_collapsed(double effective_rank, double finest_effective_rank) {
    return effective_rank - 1.0 < enough_rank * (finest_effective_rank - 1.0);
}

bool divides_poorly(double modularity, double largest) {
    return largest > 0.0 && modularity < enough_modularity * largest;
}

std::vector<double> cluster_stability(const std::vector<Matrix>& embeddings, Index most_clusters,
                                      Index resamples, std::uint64_t seed) {
    require(!embeddings.empty(), "stability needs at least 1 embedding");
    Matrix stability(most_clusters - 1, std::ssize(embeddings));
    Processes& processes = all_processes();
    for (Index t = 0; t < stability.cols(); ++t) {
        const std::vector<Index> mine = mine_among(processes, stability.rows(), t * stability.rows());
        parallel_for(std::ssize(mine), [&](Index m) {
            stability(mine[m], t) = resampling_stability(
                embeddings[t], {.clusters = mine[m] + 2, .repeats = resamples, .starts = 3, .seed = seed});
        });
    }
    gather_dealt(std::span(stability.data(), static_cast<std::size_t>(stability.size())));
    const Vector mean = stability.rowwise().mean();
    return {mean.begin(), mean.end()};
}

Assessment assess_scales(Index scales, const Embeddings& embedding, const std::vector<double>& epsilon,
                         const std::vector<double>& deaths, const AssessOptions& options) {
    check(scales, epsilon, options);
    Assessment result;
    if (options.found != nullptr) {
        result.resolutions = *options.found;
        for (Resolution& one : result.resolutions.all) {
            one.scale = 0;
        }
    } else if (!options.clusters && options.graph != nullptr && options.evidence != nullptr) {
        result.resolutions =
            find_resolutions(scales, embedding, *options.graph, *options.evidence, {.seed = options.seed});
    }
    const bool tested = !result.resolutions.all.empty();
    std::vector<std::string> unsaid; // who found clusters has said how
    const Index k = !tested ? chosen_count(scales, embedding, options, result.notices)
                            : count_of(result.resolutions, options.found ? unsaid : result.notices);
    result.cluster_count = k;
    const auto T = static_cast<std::size_t>(scales);
    const std::vector<AssessedScale> assessed = assess_each(scales, embedding, k, options, result.clusters);
    ScaleScores& scores = result.scores;
    std::vector<double> fit_to_finest;
    for (const AssessedScale& scale : assessed) {
        scores.silhouette.push_back(scale.silhouette);
        scores.resampling.push_back(scale.resampling);
        fit_to_finest.push_back(scale.fit_to_finest);
    }
    scores.gap_prominence = epsilon.empty() ? std::vector<double>(T, none) : gap_prominence(epsilon, deaths);
    if (tested) {
        take_recommended_resolution(result);
    }
    scores.stability = scales > 1 ? neighbor_stability(result.clusters) : std::vector<double>(T, none);
    const std::vector<bool> left_out = leave_out(assessed);
    for (std::size_t t = 0; t < T; ++t) {
        fit_to_finest[t] = left_out[t] ? none : fit_to_finest[t]; // the others are compared with each other
    }
    scores.combined = combine(fit_to_finest);
    for (std::size_t t = 0; t < T; ++t) {
        scores.combined[t] = left_out[t] ? 0.0 : scores.combined[t];
    }
    if (!tested) {
        result.recommended = recommendation(assessed, left_out, scores.combined,
                                            options.graph != nullptr ? nearly_largest : 1.0);
        add_recommended_resolution(result, options.graph);
    }
    return result;
}

} // namespace pnmf
