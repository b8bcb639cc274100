#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/solvers/initial.hpp>
#include <pnmf/types.hpp>

#include <functional>

namespace pnmf {

/// The published protocol's small number, in denominators and as the least step size.
inline constexpr double multiplicative_tiny = 1e-9;

/// One scale's subproblem f_t of eq. (opt), with the neighbours' embeddings fixed; absent ones are null.
/// Divided by the weight of the scale, so that `penalty.fit` is 1: its minimiser and steps stay the same.
template <class Real>
struct Subproblem {
    const DataMatrix<Real>* X = nullptr;
    double squared_norm_X = 0.0;
    const MultiscaleGraph::Scale* graph = nullptr;
    ScalePenalty penalty;
    const DenseMatrix<Real>* before = nullptr;
    const DenseMatrix<Real>* after = nullptr;
    /// Where each process moves some cells: brings to every process, into H of all cells, those columns of
    /// others that its products with the graph need. Without it all columns travel.
    std::function<void(DenseMatrix<Real>&)> share_neighbors{};
};

/// The pair (W, H) of one scale with the products that its multiplicative steps share. Where each process
/// holds X of some cells, it has their products alone and moves their columns of H, which all processes then
/// get; or those that need them, and the other columns are then out of date.
///
/// Invariant: `products()` belong to the current W and H, but for WᵀX and WᵀW after a basis step in which
/// they were not asked for (`refresh_basis_products`).
template <class Real>
class ScalePair {
  public:
    ScalePair(const Subproblem<Real>& subproblem, DenseMatrix<Real>& W, DenseMatrix<Real>& H);

    /// W after eq. (update_modify): W − W̄ ⊘ (W̄·HHᵀ + ν) ⊙ ½∇_W f. W̄ is W, lifted to μ where the gradient is
    /// negative.
    void lin_basis_step(double nu, double mu);
    /// H likewise, with the denominator WᵀW·H̄ + λ₁·H̄·D + (s + λ₃)·H̄ + ν, s the sum of the couplings to both
    /// neighbours.
    void lin_embedding_step(double nu, double mu);
    /// Lee and Seung's steps for graph-regularised NMF (Cai et al. 2010): W ⊙ XHᵀ ⊘ (W·HHᵀ + ν),
    void plain_basis_step(double nu);
    /// and H ⊙ (WᵀX + λ₁·HA) ⊘ (WᵀWH + λ₁·HD + ν).
    void plain_embedding_step(double nu);

    /// Columns of W to unit ℓ2 norm, H rescaled: the products are rescaled with them.
    void make_unit();

    void refresh_basis_products();
    void refresh_graph_product();

    /// f_t(W, H).
    double loss() const;
    /// Its terms, without the distance to the embedding after.
    Objective terms() const;

  private:
    /// H of this process's cells, to the other processes.
    void share_embedding();
    /// HHᵀ, of all cells.
    const DenseMatrix<Real>& gram() const;

    const Subproblem<Real>& sub_;
    DenseMatrix<Real>& W_;
    DenseMatrix<Real>& H_;
    CellRange held_; ///< cells that the products have
    Index panel_;    ///< cells whose products are made together
    ScaleProducts<Real> products_;
    mutable DenseMatrix<Real> gram_; ///< empty until it is asked for
};

/// Repeats `step`, which returns the new loss, until it changes by at most `tolerance` relative to the one
/// before, or `limit` steps are made. The published protocol compares the first loss with 1e9. Returns the
/// steps made.
Index iterate_to_tolerance(double first_loss, double tolerance, Index limit,
                           const std::function<double(Index step)>& step);

/// The objective around the rescaling that ends a multiplicative step.
struct RescaledStep {
    Objective before; ///< after W and H were updated: at most what the step began with
    Objective after;  ///< with unit columns: the graph term has changed with the rows of H
};

/// Graph-regularised NMF on one graph by plain multiplicative steps with unit columns: the published baseline
/// and the link of the chained start. `watch` is called after each step and may end the run by returning
/// false. `share_neighbors`: see `Subproblem`. Returns the steps made.
template <class Real>
Index fit_graph_regularized(const DataMatrix<Real>& X, double squared_norm_X,
                            const MultiscaleGraph::Scale& graph, double lambda, Pair<Real>& pair,
                            double tolerance, Index limit,
                            const std::function<bool(const RescaledStep&)>& watch = {},
                            const std::function<void(DenseMatrix<Real>&)>& share_neighbors = {});

} // namespace pnmf
