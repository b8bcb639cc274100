#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/fit_order.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

namespace pnmf {

/// A walk along the tree, from the longest edge: each branch is walked to its end before the next, small ones
/// first. Neighbours then stand near each other, and so do the cells of a component, whatever its scale.
/// Cost O(n log n).
FitOrder tree_order(const SpanningTree& tree);

/// The same tree and lists with the cells numbered by their places.
SpanningTree renumbered(const SpanningTree& tree, const FitOrder& order);
NeighborLists renumbered(const NeighborLists& lists, const FitOrder& order);

} // namespace pnmf
