#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Weights of the penalty terms; the formula is at `objective()`.
struct Penalty {
    double graph = 1.0;      ///< λ₁ ≥ 0; larger pulls neighbours at one scale together.
    double smoothness = 1.0; ///< λ₂ ≥ 0; larger makes consecutive scales alike.
    double anchor = 0.1;     ///< λ₃ ≥ 0; larger shrinks H; too large collapses its rank.
};

/// InputError unless every weight is finite and ≥ 0.
void check_penalty(const Penalty& penalty);

/// The data, the graphs, the scales and the weights: everything that is given.
///
/// X is p × n, features × cells. Scales run finest → coarsest. What is pointed to must outlive the problem.
template <class Real>
struct Problem {
    const DataMatrix<Real>* X = nullptr;
    const MultiscaleGraph* graph = nullptr;
    std::vector<double> epsilon; ///< T scales
    Penalty penalty;

    Index scales() const { return static_cast<Index>(epsilon.size()); }
    Index features() const { return X->features(); }
    Index cells() const { return X->cells(); }
};

/// What is sought: W_t p × d and H_t d × n for each scale, finest first, all entries ≥ 0.
template <class Real>
struct Factors {
    std::vector<DenseMatrix<Real>> W;
    std::vector<DenseMatrix<Real>> H;

    Index scales() const { return static_cast<Index>(H.size()); }
    Index rank() const { return H.front().rows(); }
};

/// Number of scales beside scale t: 2, or 1 at the ends, or 0 for a single scale.
inline int neighbour_count(Index t, Index scales) {
    return (t > 0 ? 1 : 0) + (t + 1 < scales ? 1 : 0);
}

/// InputError unless there is at least one scale and cell, scales ascend strictly and are positive, weights
/// are finite and ≥ 0, and the graph has as many cells as X.
template <class Real>
void check_problem(const Problem<Real>& problem);

/// InputError unless the factors have the problem's shapes and hold finite values ≥ 0.
template <class Real>
void check_factors(const Problem<Real>& problem, const Factors<Real>& factors);

} // namespace pnmf
