#pragma once

#include "persistence/neighbor_candidates.hpp"
#include "persistence/neighbor_tree.hpp"
#include "ranks/persistence/divided_points.hpp"

#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

/// Neighbours and tree of points of which each process has its own. The results are those of one process that
/// has all points, bit for bit, and every process gets them. Distances are Euclidean.
namespace pnmf {

/// The edges between each cell of this process and its k nearest of all, ascending, each once. 1 ≤ k < cells.
std::vector<Edge> divided_exact_edges(const DividedPoints& points, Index k);

/// The minimum spanning tree of the complete graph, with the largest distance.
SpanningTree divided_spanning_tree(const DividedPoints& points);

/// Cells whose points a process holds at once beside its own, where it asks others for some of theirs: those
/// that 100 MB hold, but 1,024 at least and 65,536 at most. All processes ask.
Index usual_fetched(const DividedPoints& points);

/// The edges of a clustered search for k neighbours. The parts are whole panels of cells (`CellBlocks`).
/// `fetched`: cells whose points are asked for at once, about; as many as a process has if these are more.
NeighborEdges divided_clustered_edges(const DividedPoints& points, Index k, std::uint64_t seed, Index fetched,
                                      const ClusterSettings& settings = {});

/// `neighbor_tree`, of edges that every process has.
SpanningTree divided_neighbor_tree(const DividedPoints& points, const std::vector<Edge>& edges);

/// Whether such a search can be made of parts: an exact one, or a clustered one in whole panels of cells, as
/// shares of processes are; and of ordinary points, which `Points` takes in any selection. All processes ask.
bool can_search_divided(const DividedPoints& points, NeighborSearch search);

/// `tree_and_neighbors` of points that can be searched so.
TreeAndNeighbors divided_tree_and_neighbors(const DividedPoints& points, Index neighbors,
                                            NeighborSearch search, std::uint64_t seed);

} // namespace pnmf
