#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// How much denser a graph is inside clusters than its degrees alone would have it (Newman and Girvan 2004):
///
///     Q = (edges inside clusters) / m − Σ_c ( (sum of degrees in c) / 2m )²
///
/// m is the number of edges; every edge counts once and alike, whatever its length. Q is below 1, and 0 for
/// one cluster. The lists hold each edge at both of its ends; `clusters` has a number ≥ 0 for each cell.
/// 0 for a graph without edges. Cost O(edges).
double modularity(const NeighborLists& graph, const std::vector<Index>& clusters);

} // namespace pnmf
