#pragma once

#include <pnmf/assess/programs.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/types.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pnmf {

/// Embeddings of which each process holds some cells.
struct LocalEmbeddings {
    CellRange cells;                          ///< of this process
    std::function<Matrix(Index)> here;        ///< of scale t, the columns of these
    std::function<Matrix(Index, int)> on_one; ///< of scale t on one process; what others get is not looked at
};

/// Where the embeddings of a fit come from: H_t, d × n, one scale at a time. A function of t will do, one
/// that several threads may call at once.
///
/// With several processes all of them ask for the same scales in the same order, so that each may hold some
/// of the cells alone and an embedding is brought together when it is asked for.
class Embeddings {
  public:
    template <class Function>
    requires std::convertible_to<Function, std::function<Matrix(Index)>> Embeddings(Function all)
        : all_(std::move(all)) {} // NOLINT: a function stands for its values
    explicit Embeddings(LocalEmbeddings local) : local_(std::move(local)) {}

    /// Whether this process has all of them.
    bool has_all_cells() const { return !local_; }
    /// The cells of this process, where it has not all.
    const CellRange& local() const { return local_->cells; }

    /// All cells, on one process; empty on the others.
    Matrix on(int process, Index t) const;
    /// The cells of this process: all of them, where it has these.
    Matrix here(Index t) const { return local_ ? local_->here(t) : all_(t); }
    /// The columns of some cells, ascending, on every process. `here` is what this process has of the scale.
    Matrix some(const Matrix& here, const std::vector<Index>& cells) const;

  private:
    std::function<Matrix(Index)> all_; ///< where this process has all cells
    std::optional<LocalEmbeddings> local_;
};

struct ResolutionOptions {
    Index leaves = 16;           ///< clusters that are joined to larger ones, at most a quarter of the cells
    Index probed_scales = 12;    ///< scales tried
    Index probed_cells = 3000;   ///< cells that k-means and resampling see; others join the nearest centre
    Index compared_cells = 1000; ///< cells that tell whether an embedding has collapsed
    Index tested_cells = 20000;  ///< cells that splits are tested on
    Index resamples = 5;         ///< subsets of cells for the stability
    double level = 0.01;         ///< of the test of a split
    std::uint64_t seed = 0;
};

/// What splits of the cells are tested on.
struct SplitEvidence {
    Embeddings space; ///< at scale 0: coordinates that the embeddings were not smoothed in, d × n
    /// 1 × n, at scale 0: the logarithm of the number of features that a cell expresses. Constant where that
    /// says nothing.
    Embeddings depth;
};

/// One way to divide the cells: k clusters at one scale.
struct Resolution {
    Index clusters = 0;        ///< k
    Index scale = 0;           ///< position of the scale they were found at
    double modularity = 0.0;   ///< of these clusters in the neighbour graph
    double stability = 0.0;    ///< mean ARI with what is found anew in four fifths of the cells
    double agreement = 0.0;    ///< mean ARI with k clusters at the scales next to it that were tried
    std::vector<Index> labels; ///< of each cell, 0 … k − 1
    /// The cluster of the next coarser resolution that has most cells of each cluster, and the share of its
    /// cells that it has: 1 for those of `find_resolutions`, which nest. Empty for the coarsest.
    std::vector<Index> parent{};
    std::vector<double> share{};
    /// The largest over the splits that made the clusters, and at least that of the division of all cells
    /// over the scales; with one cluster the latter. NaN where nothing was tested.
    double p_value = std::numeric_limits<double>::quiet_NaN();
};

/// Several ways to divide the cells, from few clusters to many.
struct Resolutions {
    std::vector<Resolution> all;
    Index recommended = 0; ///< position of the recommended one
};

/// Finds clusters that are more than one population cut in pieces, without being told how many there are.
///
/// At each of several scales:
///
/// - k-means makes `leaves` clusters, and Ward's criterion joins them to a tree;
/// - from the root down a node is divided where a test says that it is not one population (`SplitTester`).
///   The division of the tree is tried first, then each of its lower branches against the rest of the node,
///   twelve at most; p is multiplied by the number tried. A group so small that it could not pass is not
///   tried (Tarone 1990). Where all fail, the node is a cluster. The division of all cells must leave a
///   valley: at most four fifths of the emptier end between the groups (`SplitQuestion`);
/// - of each cluster a rare group is told off where the test for rare groups says so, in the same way;
/// - the divisions of the most variance first, those of rare groups last, each of the numbers of clusters
///   from 1 to all is one cut.
///
/// The scale is taken that has the cut of largest modularity, of equal ones the coarsest; that cut is
/// recommended. It has no rare groups, unless there is nothing else. Further resolutions are those with about
/// 40, 60, 80 and 100 % of the clusters without rare groups, and all. All are cuts of one tree, so each
/// refines the one before. One cluster is the answer where no division passes, or where the harmonic mean
/// over the scales of the least p of all cells does not (Wilson 2019): a division that one scale alone shows
/// was chosen among all of them.
///
/// Scales where the embedding has collapsed take no part. The result does not depend on the number of
/// threads.
Resolutions find_resolutions(Index scales, const Embeddings& embedding, const NeighborLists& graph,
                             const SplitEvidence& evidence, const ResolutionOptions& options = {});

/// Fills `parent` and `share` of each resolution from the labels of the one before it.
void nest(std::vector<Resolution>& resolutions);

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
    double memory = 2e9; ///< bytes that embeddings of several scales, worked on at once, may take
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
    /// coarsest scale with the largest value, where there is a graph with .95 or more, is recommended, unless
    /// `find_resolutions` has chosen one.
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
