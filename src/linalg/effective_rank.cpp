#include "linalg/decompositions.hpp"

#include <pnmf/linalg/effective_rank.hpp>

#include <cmath>

namespace pnmf {

template <class Real>
double effective_rank(const DenseMatrix<Real>& H) {
    const Matrix& wide = H.template cast<double>(); // H itself when Real is double
    const Matrix gram =
        wide.rows() <= wide.cols() ? Matrix(wide * wide.transpose()) : Matrix(wide.transpose() * wide);
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
