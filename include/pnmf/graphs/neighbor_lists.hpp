#pragma once

#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// Neighbours of each cell, nearest first: entry e of cell j, start[j] ≤ e < start[j + 1], is the cell
/// cell[e] at distance length[e]. The graph at scale ε is a prefix of each list.
///
/// Invariant: within a list (length, cell) ascends strictly, and no list names its own cell.
struct NeighborLists {
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> cell;
    std::vector<double> length;

    Index cells() const { return static_cast<Index>(start.size()) - 1; }
};

/// Lists that hold each edge at both of its ends. The order of the edges is free; equal edges are one.
NeighborLists symmetric_lists(Index cells, std::vector<Edge> edges);

/// The `count` nearest cells of each cell, read off a symmetric n × n table of distances. count < n.
NeighborLists nearest_in_table(const Matrix& distances, Index count);

} // namespace pnmf
