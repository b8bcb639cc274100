#include "cells/cell_sums.hpp"
#include "linalg/decompositions.hpp"

#include "linalg/effective_rank.hpp"

#include <cmath>

namespace pnmf {

namespace {

/// HHᵀ or HᵀH.
template <class Real>
Matrix smaller_gram(const DenseMatrix<Real>& H) {
    if (H.rows() > H.cols()) {
        const Matrix& wide = H.template cast<double>(); // H itself when Real is double
        return wide.transpose() * wide;
    }
    return product_over_cells(H);
}

} // namespace

template <class Real>
double effective_rank(const DenseMatrix<Real>& H) {
    if (H.size() == 0) {
        return 0.0;
    }
    const Matrix gram = smaller_gram(H);
    const Vector squares = symmetric_eigenvalues(gram).cwiseMax(0.0);
    const double total = squares.sum();
    if (!(total > 0.0)) {
        return 0.0;
    }
    double entropy = 0.0;
    for (const double square : squares) {
        const double share = square / total;
        if (share > 0.0) {
            entropy -= share * std::log(share);
        }
    }
    return std::exp(entropy);
}

template double effective_rank(const DenseMatrix<float>&);
template double effective_rank(const DenseMatrix<double>&);

} // namespace pnmf
