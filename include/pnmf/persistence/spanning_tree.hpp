#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <utility>
#include <vector>

namespace pnmf {

/// An edge of the Vietoris–Rips graph, i < j.
struct Edge {
    double length = 0.0;
    Index i = 0;
    Index j = 0;

    /// The total order on edges: by length, then by ends. Ties are the rule in count data; with it the
    /// spanning tree is unique.
    friend auto operator<=>(const Edge&, const Edge&) = default; // NOLINT(modernize-use-nullptr)
};

struct SpanningTree {
    Index cells = 0;
    std::vector<Edge> edges;       ///< n − 1, ascending in the total order
    double largest_distance = 0.0; ///< over all pairs, 0 for a single cell
};

/// The minimum spanning tree of the complete graph on the points, exact, in O(n) memory beside them.
SpanningTree minimum_spanning_tree(const Points& points);

/// Every edge that the graphs of some scale may have, shortest first: the graph at ε is a prefix.
struct SortedEdges {
    Index cells;
    std::vector<Edge> edges; ///< ascending, each once

    /// Takes them as they are. Edges of one's own: `sorted_edges`.
    SortedEdges(Index cell_count, std::vector<Edge> ascending)
        : cells(cell_count), edges(std::move(ascending)) {}

    /// Edges shorter than ε, the strict threshold of the paper.
    Index edges_below(double epsilon) const;
    /// The different positive lengths, ascending, then `complete`: Δ* of the paper when all pairs are there.
    std::vector<double> distance_scales(double complete) const;
};

/// A graph of one's own: edges in any order, equal ones are one. InputError unless each joins two of the
/// cells, the smaller one first, has a finite length ≥ 0, and is the only one between its ends.
SortedEdges sorted_edges(Index cells, std::vector<Edge> edges);

/// Cells up to which all pairs are kept: 24 bytes each, 0.8 GB there.
inline constexpr Index largest_set_of_pairs = 8192;

/// All pairs of the points. InputError beyond `largest_set_of_pairs`.
SortedEdges all_pairs(const Points& points);

/// The minimum spanning tree of a graph of one's own. Its largest distance is the longest edge: there the
/// graph is complete, as far as it goes. InputError, with the number of components, unless the edges join all
/// cells.
SpanningTree minimum_spanning_tree(const SortedEdges& sorted);

} // namespace pnmf
