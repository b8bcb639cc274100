#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include <memory>

namespace pnmf {

struct ListWeights;

/// One graph whatever the scale: for methods whose graph is given (NMF without edges, GNMF, TNMF, k-TNMF).
class FixedGraph final : public MultiscaleGraph {
  public:
    /// The weights A, n × n: symmetric, finite, nonnegative, zero diagonal, or InputError names the entry.
    /// Entries that are 0 are no edges.
    explicit FixedGraph(const SparseMatrix<double>& weights);

    Index cells() const override { return lists_->cells(); }
    /// 0: the weights are given, not computed from distances.
    double alpha() const override { return 0.0; }
    /// A tree of each component, its edges of length 0: they are there at every scale.
    const SpanningTree& tree() const override { return forest_; }
    /// The graph; ε is ignored. Copies nothing.
    std::unique_ptr<Scale> at(double epsilon) const override;

    /// A by columns, without the entries that are 0.
    SparseView<double> weights() const;

  private:
    std::shared_ptr<const NeighborLists> lists_;
    std::shared_ptr<const ListWeights> weights_;
    SpanningTree forest_;
};

/// No edges between n cells.
FixedGraph empty_graph(Index cells);

} // namespace pnmf
