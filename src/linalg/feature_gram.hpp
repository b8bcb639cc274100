#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// Features up to which XXᵀ is formed: p² numbers are kept.
inline constexpr Index most_formed_features = 4096;

/// Whether XXᵀ of sparse data is formed in less time than an eigensolver would need for its products with a
/// vector, a few hundred of them. Every process must ask.
template <class Real>
bool is_cheap_to_form(const DataMatrix<Real>& X);

/// XXᵀ over all cells, p × p, for sparse X. A cell with c entries costs c²/2 additions. Sums are in double
/// precision, by blocks of cells and along their tree. Every process must ask.
template <class Real>
Matrix feature_gram(const DataMatrix<Real>& X);

/// M·y for a symmetric M, by all threads.
void multiply_symmetric(const Matrix& M, const double* y, double* out);

} // namespace pnmf
