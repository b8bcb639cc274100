#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/fit_order.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include <memory>
#include <vector>

namespace pnmf {

/// The graphs of the paper restricted to the edges of k nearest neighbours ∪ minimum spanning tree.
///
/// An edge of the restricted graph is in A(ε) as in the full one: where its length < ε, with the same weight.
/// The tree makes β₀ exact at every scale: its edges shorter than ε join exactly the cells that all edges
/// shorter than ε join. Memory O(nk); each scale is a prefix of each cell's list and owns its weights.
class SparseMultiscaleGraph final : public MultiscaleGraph {
  public:
    /// `neighbors`: edges to add to the tree, in any order, with their canonical lengths (`neighbor_edges`).
    SparseMultiscaleGraph(SpanningTree tree, const std::vector<Edge>& neighbors, double alpha);
    /// The same graph with its cells in another order.
    SparseMultiscaleGraph(const SparseMultiscaleGraph& graph, const FitOrder& order);

    Index cells() const override { return tree_.cells; }
    double alpha() const override { return alpha_; }
    const SpanningTree& tree() const override { return tree_; }
    std::unique_ptr<Scale> at(double epsilon) const override;

    /// All edges, each at both of its ends, nearest first.
    const NeighborLists& lists() const { return *lists_; }

  private:
    SpanningTree tree_;
    double alpha_;
    std::shared_ptr<const NeighborLists> lists_;
};

} // namespace pnmf
