#pragma once

#include "linalg/svd.hpp"

#include <pnmf/types.hpp>

namespace pnmf {

// Eigen's decompositions of whole matrices. They stand behind functions because compiling one takes seconds:
// here each is compiled once.

/// A = vectors · diag(values) · vectorsᵀ for a symmetric A, of which the lower half is read; values ascend.
struct SymmetricEigen {
    Vector values;
    Matrix vectors;
};
SymmetricEigen symmetric_eigen(const Matrix& symmetric);

/// The eigenvalues alone, ascending.
Vector symmetric_eigenvalues(const Matrix& symmetric);

/// All of A's singular triplets, the largest value first: U is m × r and V n × r, r the smaller side of A.
TruncatedSvd thin_svd(const Matrix& A);

/// A = Q·R with orthonormal columns in Q (m × n) and an upper triangle R (n × n), for m ≥ n, by Householder.
struct ThinQr {
    Matrix Q;
    Matrix R;
};
ThinQr thin_qr(Matrix A);

} // namespace pnmf
