#pragma once

#include "linalg/divided_columns.hpp"

#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

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

} // namespace pnmf
