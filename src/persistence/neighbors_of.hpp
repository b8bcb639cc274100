#pragma once

#include "persistence/neighbors.hpp"
#include "persistence/pair_bounds.hpp"

#include <pnmf/persistence/spanning_tree.hpp>

#include <span>
#include <vector>

namespace pnmf {

/// The k nearest of some cells, into their columns of `result` (k × all cells).
void exact_neighbors_of(const PairBounds& bounds, std::span<const Index> cells, Neighbors& result);

/// The same with neighbours from the cells `among` alone.
void exact_neighbors_of(const PairBounds& bounds, std::span<const Index> cells, std::span<const Index> among,
                        Neighbors& result);

/// The edges between each cell and its nearest, ascending, each once.
std::vector<Edge> edges_of_neighbors(const Neighbors& neighbors);

/// Edges in any order: ascending, each once.
std::vector<Edge> distinct_edges(std::vector<Edge> edges);

} // namespace pnmf
