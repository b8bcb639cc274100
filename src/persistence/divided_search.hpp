#pragma once

#include "linalg/divided_columns.hpp"
#include "persistence/neighbor_candidates.hpp"

#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/persistence/neighbor_tree.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

/// Neighbours and tree of points of which each rank has its own. The results are those of one process that
/// has all points, bit for bit, and every rank gets them. Distances are Euclidean.
namespace pnmf {

/// The points of this rank, and beside them those of another: in step s every rank meets the one that stands
/// s before it in a circle. After as many steps as there are ranks it has met all. No rank holds more than
/// its own points and one such block.
class Meeting {
  public:
    explicit Meeting(const DividedColumns& points);

    /// All ranks call it. In step 0 a rank is alone.
    void meet(Index step);

    Index own() const { return points_.held().count; }
    const CellRange& visitor() const { return visitor_; } ///< no cells in step 0
    Index count() const { return own() + visitor_.count; }
    /// Own points first. There must be one.
    Points points() const { return Points(DataView(DenseView<double>(both_.data(), both_.rows(), count()))); }
    /// The number of each of these among all cells.
    std::vector<Index> names() const;

  private:
    const DividedColumns& points_;
    Matrix both_;
    CellRange visitor_;
};

/// The edges between each cell of this rank and its k nearest of all, ascending, each once. 1 ≤ k < cells.
std::vector<Edge> divided_exact_edges(const DividedColumns& points, Index k);

/// The minimum spanning tree of the complete graph, with the largest distance.
SpanningTree divided_spanning_tree(const DividedColumns& points);

/// Cells whose points a rank holds at once beside its own, where it asks others for some of theirs; more
/// where ranks have more cells each.
inline constexpr Index fewest_fetched = Index{1} << 16U;

/// The edges of a clustered search for k neighbours. The parts are whole panels of cells (`CellBlocks`).
/// `fetched`: cells whose points are asked for at once, about.
NeighborEdges divided_clustered_edges(const DividedColumns& points, Index k, std::uint64_t seed,
                                      Index fetched = fewest_fetched, const ClusterSettings& settings = {});

/// `neighbor_tree`, of edges that every rank has.
SpanningTree divided_neighbor_tree(const DividedColumns& points, const std::vector<Edge>& edges);

/// Whether such a search can be made of parts: an exact one, or a clustered one in at most as many dimensions
/// as its search space has, in whole panels of cells, as shares of ranks are; and of ordinary points, which
/// `Points` takes in any selection. All ranks ask.
bool can_search_divided(const DividedColumns& points, NeighborSearch search);

/// `tree_and_neighbors` of points that can be searched so.
TreeAndNeighbors divided_tree_and_neighbors(const DividedColumns& points, Index neighbors,
                                            NeighborSearch search, std::uint64_t seed);

} // namespace pnmf
