#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <vector>

namespace pnmf {

/// A spanning tree without a look at all pairs: the minimum spanning forest of these edges, ascending and
/// canonical, and between its components short edges that a search of their cells finds.
///
/// In order, each death is at least that of the exact tree, and equal to it where the edges hold the exact
/// tree: fewer edges leave at least as many components at every ε. `largest_distance` is the largest seen
/// from a few cells and those farthest from them: at least half of the true one under the Euclidean metric.
SpanningTree neighbor_tree(const Points& points, const std::vector<Edge>& edges);

/// What the scales and graphs of a fit are made of.
struct TreeAndNeighbors {
    SpanningTree tree;
    std::optional<NeighborEdges> neighbors; ///< where neighbours were asked for

    /// A clustered search does not look at all pairs, and the tree then comes from what it finds.
    bool tree_is_exact() const { return !neighbors || neighbors->search != NeighborSearch::clustered; }
};

class PairSearcher;

/// With a device the automatic search is exact up to `largest_search_of_all_pairs`; `searcher` then looks at
/// pairs.
TreeAndNeighbors tree_and_neighbors(const Points& points, std::optional<Index> neighbors,
                                    NeighborSearch search, std::uint64_t seed,
                                    PairSearcher* searcher = nullptr);

} // namespace pnmf
