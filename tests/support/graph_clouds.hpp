#pragma once

#include "support/clouds.hpp"

#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf::test {

/// Small clouds that are easy or hard on graphs: random, clustered, with ties, duplicates, many dimensions,
/// tiny.
std::vector<Cloud> clouds();

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed);

/// Uniform in the unit square, for sizes where threads are used.
Matrix square(Index cells, std::uint64_t seed);

/// The slow twin: A(ε) of eq. (adjacency_matrix), entry by entry.
Matrix adjacency_by_formula(const Points& points, double epsilon, double alpha);

/// L = D − A.
Matrix laplacian(const Matrix& adjacency);

/// Eigenvalues, ascending.
Vector spectrum(const Matrix& symmetric);

/// Eigenvalues that are 0 up to rounding.
Index kernel_dimension(const Vector& eigenvalues);

} // namespace pnmf::test
