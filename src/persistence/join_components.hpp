#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <vector>

/// How `neighbor_tree` joins the components that neighbours leave, whoever holds the points.
namespace pnmf {

using Components = std::vector<std::vector<Index>>; ///< the cells of each

/// The components of a forest, by their first cell.
Components cells_of_components(Index cells, const std::vector<Edge>& forest);

/// The spanning tree of the first cells of the components: which of them are joined.
SpanningTree tree_of_firsts(const Points& first);

/// The cells of a component that an edge to another may end at: evenly spaced, its first among them.
std::vector<Index> tried_of(const std::vector<Index>& component);

/// From the first cells of A and B to a nearer pair, by turns.
Edge shortened_edge(const Points& points, const std::vector<Index>& A, const std::vector<Index>& B);

/// Cells from which the largest distance is looked for: the farthest from each, then the farthest from that,
/// so many times.
std::vector<Index> starts_of_distances(Index cells);
inline constexpr int steps_from_start = 3;

/// The tree of the given edges and of those that `joining` finds between the components that they leave.
/// `largest_seen`: the largest distance found so far.
SpanningTree tree_of_neighbors(Index cells, const std::vector<Edge>& edges,
                               const std::function<std::vector<Edge>(const Components&)>& joining,
                               double largest_seen);

inline double longest(const std::vector<Edge>& ascending) {
    return ascending.empty() ? 0.0 : ascending.back().length;
}

} // namespace pnmf
