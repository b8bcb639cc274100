#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace pnmf {

/// The two forms in which the graph of one scale is held: weights beside lists of neighbours where edges are
/// few, a table where they are many. Products of a form do not depend on the number of threads: each column
/// of the result is computed alone or in panels of fixed size.

/// What every scale knows beside its weights.
struct ScaleFacts {
    Vector degrees;
    Index edges = 0;
};

/// A prefix of each list of neighbours, with a weight for each entry.
struct ListWeights {
    std::vector<std::int64_t> first; ///< weights of cell j: first[j] ≤ e < first[j + 1]
    std::vector<double> weight;
    ScaleFacts facts;
};

/// The weights of the edges shorter than ε, and their sums.
ListWeights weigh_prefixes(const NeighborLists& lists, const EdgeWeight& edge_weight);

/// H·A of the cells that have lists, d × their number: H may have further columns, which lists name.
template <class Real>
DenseMatrix<Real> times_lists(const NeighborLists& lists, const ListWeights& weights,
                              const DenseMatrix<Real>& H);

/// The same for `count` of these cells, from `first` on.
template <class Real>
DenseMatrix<Real> times_lists(const NeighborLists& lists, const ListWeights& weights,
                              const DenseMatrix<Real>& H, Index first, Index count);

/// Columns of H·A(ε), `count` of them from `first` on: a graph of lists makes no others.
template <class Real>
DenseMatrix<Real> times_adjacency(const MultiscaleGraph::Scale& graph, const DenseMatrix<Real>& H,
                                  Index first, Index count);

/// H·A(ε) and the degrees of `count` cells, from `first` on, without holding the weights: those of a few
/// cells at a time. The same bits as `times_adjacency` and `degrees` of the scale. H has all cells.
template <class Real>
void multiply_lists(const NeighborLists& lists, const EdgeWeight& edge_weight, const DenseMatrix<Real>& H,
                    Index first, Index count, DenseMatrix<Real>& HA, DenseVector<Real>& degree);

/// Entry r of cell j joins it to the r-th cell of its list.
class ListScale final : public MultiscaleGraph::Scale {
  public:
    ListScale(std::shared_ptr<const NeighborLists> lists, std::shared_ptr<const ListWeights> weights);

    Matrix times_adjacency(const Matrix& H) const override;
    DenseMatrix<float> times_adjacency(const DenseMatrix<float>& H) const override;
    const Vector& degrees() const override { return weights_->facts.degrees; }
    Index edges() const override { return weights_->facts.edges; }
    Matrix adjacency() const override;
    const NeighborLists& lists() const { return *lists_; }
    const ListWeights& weights() const { return *weights_; }

  private:
    std::shared_ptr<const NeighborLists> lists_;
    std::shared_ptr<const ListWeights> weights_;
};

/// How many scales may have their graphs kept from step to step, where graphs are of all pairs of n cells:
/// tables take at most 64 MB together. To make a graph takes longer than a product with it.
inline Index graphs_kept(Index n) {
    constexpr Index buffer = Index{64} << 20;
    return buffer / (static_cast<Index>(sizeof(double)) * n * n);
}

/// Tables that were in use, for those to come: a new one of this size costs as much in page faults as in
/// weights.
class TablePool {
  public:
    /// An n × n table with any values in it.
    Matrix take(Index n);
    void give_back(Matrix table);

  private:
    std::mutex mutex_;
    std::vector<Matrix> unused_;
};

/// A(ε) as n × n numbers, n(n − 1)/2 weights computed once and mirrored. Sets edges and degrees.
void weigh_table(const Matrix& distances, const EdgeWeight& edge_weight, Matrix& adjacency,
                 ScaleFacts& facts);

class TableScale final : public MultiscaleGraph::Scale {
  public:
    TableScale(Matrix adjacency, ScaleFacts facts, std::shared_ptr<TablePool> pool);
    TableScale(const TableScale&) = delete;
    TableScale& operator=(const TableScale&) = delete;
    ~TableScale() override;

    Matrix times_adjacency(const Matrix& H) const override;
    DenseMatrix<float> times_adjacency(const DenseMatrix<float>& H) const override;
    const Vector& degrees() const override { return facts_.degrees; }
    Index edges() const override { return facts_.edges; }
    Matrix adjacency() const override { return adjacency_; }

  private:
    Matrix adjacency_;
    ScaleFacts facts_;
    std::shared_ptr<TablePool> pool_;
};

} // namespace pnmf
