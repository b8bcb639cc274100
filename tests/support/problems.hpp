#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace pnmf::test {

/// A small problem that owns what a `Problem` points to.
template <class Real>
struct OwnedProblem {
    std::unique_ptr<const DataMatrix<Real>> X;
    std::unique_ptr<const MultiscaleGraph> graph;
    std::vector<double> epsilon;
    Penalty penalty;

    Problem<Real> problem() const { return {X.get(), graph.get(), epsilon, penalty}; }
    /// X written out.
    Matrix values() const;
};

struct ProblemShape {
    Index features = 12;
    Index cells = 18;
    Index scales = 4; ///< of the canonical ones, at least 1
    bool sparse = false;
};

/// Data of rank about 3 with noise, or sparse counts, with the paper's graphs at some of the canonical
/// scales.
template <class Real>
OwnedProblem<Real> random_problem(const ProblemShape& shape, const Penalty& penalty, std::uint64_t seed);

/// Features × cells, nonnegative, of rank 3 but for noise.
Matrix noisy_product(Index features, Index cells, std::uint64_t seed);

/// Uniform numbers of which about a fifth are zero.
template <class Real>
Factors<Real> random_factors(const Problem<Real>& problem, Index rank, std::uint64_t seed);

/// Weights to try every statement on: all three, each one zero, and all zero.
std::vector<Penalty> all_penalties();

} // namespace pnmf::test
