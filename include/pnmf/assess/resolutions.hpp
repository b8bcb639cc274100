#pragma once

#include <pnmf/assess/embeddings.hpp>
#include <pnmf/graphs/neighbor_lists.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace pnmf {

struct ResolutionOptions {
    Index most_clusters = 20;    ///< largest number of clusters tried, at most a quarter of the cells
    Index probed_scales = 12;    ///< scales tried for each number
    Index probed_cells = 3000;   ///< cells that k-means sees; the others join the nearest centre
    Index compared_cells = 1000; ///< cells that silhouettes and resampling see
    Index resamples = 5;         ///< subsets of cells for the stability
    Index most_resolutions = 6;  ///< of those that are reported
    double parsimony = 0.98;     ///< share of the largest modularity that is as good as the largest
    std::uint64_t seed = 0;
};

/// One way to divide the cells: k clusters at one scale.
struct Resolution {
    Index clusters = 0;        ///< k
    Index scale = 0;           ///< position of the scale they were found at
    double modularity = 0.0;   ///< of these clusters in the neighbour graph
    double stability = 0.0;    ///< mean ARI with the clusters of four fifths of the cells
    double agreement = 0.0;    ///< mean ARI with the k clusters at the scales beside it that were tried
    std::vector<Index> labels; ///< of each cell, 0 … k − 1
    /// The cluster of the next coarser resolution that holds most cells of each cluster, and the share of its
    /// cells that it holds: how the resolutions nest. Empty for the coarsest.
    std::vector<Index> parent{};
    std::vector<double> share{};
};

/// Several ways to divide the cells, from few clusters to many.
struct Resolutions {
    std::vector<Resolution> all;
    Index recommended = 0; ///< position of the recommended one
};

/// Finds numbers of clusters that the data support, without being told one.
///
/// For each k the cells are clustered by k-means at several scales, and the clusters judged in the neighbour
/// graph:
///
/// - the recommended k is the smallest whose modularity, at its best scale, is within `parsimony` of the
///   largest over all k; 1, and the only one, where no division is better than none (modularity 0);
/// - of each k the scale is taken whose clusters have the largest silhouette in the finest embedding, cells
///   scaled to length 1: the rule that recommends a scale (docs/choosing-scales.md);
/// - further resolutions are the k whose stability under leaving out cells is larger than that of k − 1 and
///   k + 1.
///
/// Scales where the embedding has collapsed take no part. An embedding, d × n, is asked for twice for each
/// probed scale, and twice more for each resolution. The result does not depend on the number of threads.
Resolutions find_resolutions(Index scales, const Embeddings& embedding, const NeighborLists& graph,
                             const ResolutionOptions& options = {});

/// Fills `parent` and `share` of each resolution from the labels of the one before it.
void nest(std::vector<Resolution>& resolutions);

} // namespace pnmf
