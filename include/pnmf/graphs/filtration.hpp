#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/scales/scale_set.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {

class PairSearcher;

/// How the tree, the scales and the graphs of a data set are made.
struct FiltrationOptions {
    double alpha = 1.5; ///< α of the weights exp(−d²/ε^α); α ≠ 2 depends on the unit of the points
    Metric metric = Metric::euclidean; ///< of the points, for those who make them; see `make_filtration`
    ScaleOptions scales{};
    std::optional<Index>
        neighbors{}; ///< k of the k-NN ∪ spanning-tree graph; default: all pairs at distance < ε
    NeighborSearch search = NeighborSearch::automatic; ///< of these neighbours, and of the tree with them
    /// The batch of each cell, from 0: neighbours are then balanced over batches (`balanced_edges`), and need
    /// a number of `neighbors`. Empty: no batches.
    std::vector<Index> batch{};
};

/// InputError unless α is finite and positive.
void check_options(const FiltrationOptions& options);

/// The cells at all scales: spanning tree, scales, and the graphs at them.
struct Filtration {
    SpanningTree tree;
    ScaleSet scales;
    std::unique_ptr<const MultiscaleGraph> graph; ///< null from `tree_and_scales`
    std::optional<NeighborEdges> neighbors{};     ///< what the search found, where neighbours were asked for
    bool tree_is_exact = true; ///< the minimum spanning tree of all pairs, not of the neighbours found
    std::vector<std::string> notices{}; ///< every automatic choice, a sentence each
};

/// Points → tree → scales → graph: the one place where these are put together.
///
/// With batches the graphs have the edges of `balanced_edges` and their lengths ℓ: a cell has neighbours in
/// every batch, and the distance between batches is taken away. The tree is the minimum spanning tree of
/// these edges, so that deaths and scales are those at which types are joined, whichever batch they are from.
///
/// The points have their metric already, and `options.metric` is not looked at. The seed is that of the
/// approximate search and of the strategies `random` and `sufficient`. A device that looks through all pairs
/// of the points makes the automatic search of neighbours exact.
Filtration make_filtration(const Points& points, const FiltrationOptions& options = {},
                           std::uint64_t seed = 0, PairSearcher* searcher = nullptr);

/// The same from a neighbour graph of one's own, in place of points. The graph at ε has its edges shorter
/// than ε; the tree is theirs, and so is Δ*. `options.neighbors` must not be set. InputError unless the edges
/// join all cells.
Filtration make_filtration(const SortedEdges& edges, const FiltrationOptions& options = {},
                           std::uint64_t seed = 0);

/// What `make_filtration` makes before the graph: for those who need no weights. A graph of all pairs takes
/// n² numbers, the rest O(n).
Filtration tree_and_scales(const Points& points, const FiltrationOptions& options = {},
                           std::uint64_t seed = 0, PairSearcher* searcher = nullptr);

/// Every edge of these graphs: tree and neighbours, or all pairs of the points (at most
/// `largest_set_of_pairs` cells).
SortedEdges edges_of(const Points& points, const Filtration& filtration);

} // namespace pnmf
