#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

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

} // namespace pnmf
