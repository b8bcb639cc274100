#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include <memory>

namespace pnmf {

class TablePool;

/// The graphs of the paper, with every pair of cells at distance < ε joined.
///
/// Holds the n × n distances and, nearest first, the n/16 nearest cells of each cell: 8.75·n² bytes. A scale
/// with up to a quarter of the pairs is made as lists: cost and memory grow with its edges. Others are a
/// table of n × n weights, 8·n² bytes. Each scale owns its memory and may outlive the graph; the tables of
/// scales that are gone are kept for the next ones.
class DenseMultiscaleGraph final : public MultiscaleGraph {
  public:
    /// The tree is the minimum spanning tree of the points; it gives the components. Cost n² distances.
    DenseMultiscaleGraph(const Points& points, SpanningTree tree, double alpha);

    Index cells() const override { return distances_.cols(); }
    double alpha() const override { return alpha_; }
    const SpanningTree& tree() const override { return tree_; }
    std::unique_ptr<Scale> at(double epsilon) const override;

    /// Of all pairs, n × n.
    const Matrix& distances() const { return distances_; }

  private:
    Matrix distances_;
    SpanningTree tree_;
    double alpha_;
    NeighborLists nearest_;
    std::shared_ptr<TablePool> tables_;
};

} // namespace pnmf
