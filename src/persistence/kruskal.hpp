#pragma once

#include <pnmf/persistence/spanning_tree.hpp>

#include "persistence/union_find.hpp"

#include <vector>

namespace pnmf {

/// Kruskal's algorithm on ascending edges: those that join two components.
inline std::vector<Edge> kruskal(Index cells, const std::vector<Edge>& ascending) {
    UnionFind sets(cells);
    std::vector<Edge> forest;
    for (const Edge& edge : ascending) {
        if (sets.join(edge.i, edge.j)) {
            forest.push_back(edge);
        }
    }
    return forest;
}

} // namespace pnmf
