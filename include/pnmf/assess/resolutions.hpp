#pragma once

#include <pnmf/assess/embeddings.hpp>
#include <pnmf/graphs/neighbor_lists.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace pnmf {

struct ResolutionOptions {
    Index leaves = 16;           ///< clusters that are joined to larger ones, at most a quarter of the cells
    Index probed_scales = 12;    ///< scales tried
    Index probed_cells = 3000;   ///< cells that k-means and resampling see; others join the nearest centre
    Index compared_cells = 1000; ///< cells that tell whether an embedding has collapsed
    Index tested_cells = 20000;  ///< cells that splits are tested on
    Index resamples = 5;         ///< subsets of cells for the stability
    double level = 0.05;         ///< of the test of a split
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
///   tried (Tarone 1990). Where all fail, the node is a cluster;
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

} // namespace pnmf
