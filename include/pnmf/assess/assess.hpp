#pragma once

#include <pnmf/assess/embeddings.hpp>
#include <pnmf/assess/programs.hpp>
#include <pnmf/assess/resolutions.hpp>
#include <pnmf/graphs/neighbor_lists.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {

struct AssessOptions {
    std::optional<Index> clusters{}; ///< k; default: chosen, with `graph` and `evidence` by
                                     ///< `find_resolutions`, else by stability (`cluster_stability`)
    /// The neighbour graph of the cells, in which numbers of clusters are compared; null: there is none.
    const NeighborLists* graph = nullptr;
    const Resolutions* found = nullptr;      ///< clusters that are there already, of the finest scale
    const SplitEvidence* evidence = nullptr; ///< what splits are tested on; null: they are not
    Index most_clusters = 15;                ///< largest k tried when none is given and there is no graph
    Index probed_scales = 64;                ///< at most so many scales get the costly scores
    Index probed_cells = 1000;               ///< at most so many cells, drawn at random, take part in them
    Index resamples = 5;                     ///< subsets of cells for the stability under resampling
    std::uint64_t seed = 0;
    double room = 2e9; ///< bytes that embeddings of several scales, worked on at once, may take
    /// What clusters all cells of a scale, where a device does it; empty: `kmeans`. From one thread.
    std::function<KMeansResult(const Matrix&, const KMeansOptions&)> kmeans{};
};

/// Scores of the scales that need no labels, larger is better, one number for each scale; NaN where a score
/// is not defined or was not computed.
struct ScaleScores {
    std::vector<double> gap_prominence; ///< `gap_prominence`: of all scales
    std::vector<double> stability;      ///< `neighbor_stability`: of all scales; NaN for a single one
    std::vector<double> silhouette;     ///< `mean_silhouette`: of the probed scales
    std::vector<double> resampling;     ///< `resampling_stability`: of the probed scales
    /// Of the probed scales: s_t / max s over those not left out, s_t the silhouette of the clusters at t in
    /// the *finest* embedding, its cells scaled to length 1; 0 where it is negative, and where H_t has
    /// collapsed: its effective rank exceeds 1, that of a line, by less than a quarter of what the finest
    /// scale's does. Also 0 where the clusters say little of the neighbour graph (`divides_poorly`). The
    /// coarsest scale with the largest value is recommended, unless `find_resolutions` has chosen one.
    std::vector<double> combined;
};

/// What the embeddings of all scales say without labels.
struct Assessment {
    Index cluster_count = 0;                  ///< k
    std::vector<std::vector<Index>> clusters; ///< T × n: the cluster of each cell at each scale
    ScaleScores scores;
    Index recommended = 0; ///< position of the recommended scale
    /// Several ways to divide the cells, from few clusters to many, one of them with `cluster_count` clusters
    /// at the recommended scale. One alone where k was given, no splits were tested, or none was found.
    Resolutions resolutions{};
    GenePrograms programs{}; ///< of the recommended scale; `assess_fit` fills it, `assess_scales` has
                             ///< no data to do so
    std::vector<std::string> notices; ///< every automatic choice, a sentence each
};

/// Whether an embedding has lost most of its directions: its effective rank exceeds 1, that of a line, by
/// less than a quarter of what that of the finest embedding does.
bool has_collapsed(double effective_rank, double finest_effective_rank);

/// Whether clusters have less than half of the largest modularity that as many clusters have at any scale. So
/// it is with one large cluster and single cells for the others, whose silhouette may be large.
bool divides_poorly(double modularity, double largest);

/// How stable k clusters are, for each k from 2 on: the mean over some scales of `resampling_stability`.
/// `embedding(t)` is d × n.
std::vector<double> cluster_stability(const std::vector<Matrix>& embeddings, Index most_clusters,
                                      Index resamples = 5, std::uint64_t seed = 0);

/// Clusters the cells at every scale by k-means, scores the scales, and recommends one: that of
/// `find_resolutions` where splits are tested, else that whose clusters fit the finest embedding best, of
/// equal ones the coarsest (docs/choosing-scales.md).
///
/// Embeddings, d × n, are asked for one at a time, and those of some scales several times. `epsilon` and
/// `deaths` (ascending) are of the scales and the H0 diagram; both empty where there are none. Costs some
/// sweeps of a fit (benchmarks/results/growth.md): k-means with exchanges has 3 starts at each scale, 5 with
/// a graph and up to 40 scales, 1 with more than 100 scales; silhouette and resampling see at most
/// `probed_scales` scales, evenly spaced with the finest and the coarsest among them, and `probed_cells`
/// cells. Does not depend on the number of threads.
Assessment assess_scales(Index scales, const Embeddings& embedding, const std::vector<double>& epsilon,
                         const std::vector<double>& deaths, const AssessOptions& options = {});

} // namespace pnmf
