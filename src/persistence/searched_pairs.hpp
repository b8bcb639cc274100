#pragma once

#include "persistence/neighbor_tree.hpp"
#include "persistence/neighbors.hpp"
#include "persistence/pair_bounds.hpp"
#include "persistence/pair_searcher.hpp"

#include <pnmf/persistence/spanning_tree.hpp>

namespace pnmf {

/// How many others of each cell a search for k neighbours asks the device for: more than k, so that its
/// rounding seldom leaves a list open. A power of two; may be more than the device gives.
Index searched_count(Index k);

/// The k nearest of every cell, those of `exact_neighbors`, from lists of all cells. Candidates are ranked by
/// canonical distances; a list whose bounds leave open whether it holds the k nearest is made anew on the
/// CPU.
Neighbors searched_neighbors(const PairBounds& bounds, const SearchedLists& lists, Index k);

/// The tree of `minimum_spanning_tree`, from lists of all cells with `reach`: Borůvka's algorithm, in which
/// a component's shortest edge out of it is taken once the bounds leave no other. When no component has such
/// an edge, the device is asked for the nearest cells outside the component of every cell that stands in the
/// way. Cost: about one search more of all pairs where the lists leave large components. The largest distance
/// is that of all pairs but for rounding; where the device's bounds leave a larger one open for very many
/// cells, it is the largest of those measured.
SpanningTree searched_tree(const PairBounds& bounds, PairSearcher& searcher, SearchedLists lists);

/// Both, exact.
TreeAndNeighbors searched_tree_and_neighbors(const Points& points, Index neighbors, PairSearcher& searcher);

} // namespace pnmf
