#pragma once

#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <limits>
#include <memory>

namespace pnmf {

/// The graphs G(ε) on the cells, eq. (adjacency_matrix):
///
///     A_ij(ε) = exp(−d_ij² / ε^α)  where i ≠ j and d_ij < ε,  0 elsewhere;   D = diag(A·1),  L = D − A
///
/// None is held here: `at(ε)` makes the one that is asked for.
/// Safe to call from several threads.
class MultiscaleGraph {
  public:
    /// One scale's graph.
    class Scale {
      public:
        virtual ~Scale() = default;
        /// H·A(ε), d × n, for H d × n.
        virtual Matrix times_adjacency(const Matrix& H) const = 0;
        virtual DenseMatrix<float> times_adjacency(const DenseMatrix<float>& H) const = 0;
        /// Degrees D_jj = Σᵢ A_ij, length n.
        virtual const Vector& degrees() const = 0;
        /// Number of edges, each counted once.
        virtual Index edges() const = 0;
        /// A(ε) written out, n × n: for small n, tests and diagnostics.
        virtual Matrix adjacency() const = 0;
    };

    virtual ~MultiscaleGraph() = default;
    virtual Index cells() const = 0;
    /// α of the weight.
    virtual double alpha() const = 0;
    /// A tree, or several where the graph falls apart, whose edges shorter than ε join the cells that the
    /// graph at ε joins: `components(tree, ε)` are those of that graph.
    virtual const SpanningTree& tree() const = 0;
    virtual std::unique_ptr<Scale> at(double epsilon) const = 0;
};

/// The ε of a graph that was given as it is: no pair is too far apart for it.
inline constexpr double no_threshold = std::numeric_limits<double>::infinity();

} // namespace pnmf
