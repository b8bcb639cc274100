#include "linalg/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace pnmf {

SymmetricEigen symmetric_eigen(const Matrix& symmetric) {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(symmetric);
    return {.values = solver.eigenvalues(), .vectors = solver.eigenvectors()};
}

Vector symmetric_eigenvalues(const Matrix& symmetric) {
    return Eigen::SelfAdjointEigenSolver<Matrix>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

TruncatedSvd thin_svd(const Matrix& A) {
    const Eigen::BDCSVD<Matrix> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
    return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

ThinQr thin_qr(Matrix A) {
    const Eigen::HouseholderQR<Matrix> qr(A);
    A.resize(0, 0); // it has a copy, and may be long
    const Index rows = qr.rows();
    const Index cols = qr.cols();
    return {.Q = qr.householderQ() * Matrix::Identity(rows, cols),
            .R = qr.matrixQR().topRows(cols).triangularView<Eigen::Upper>()};
}

} // namespace pnmf
