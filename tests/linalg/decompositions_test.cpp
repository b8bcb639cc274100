#include "linalg/decompositions.hpp"
#include "support/clouds.hpp"

#include <gtest/gtest.h>

namespace pnmf {
namespace {

double distance_to_identity(const Matrix& A) {
    return (A - Matrix::Identity(A.rows(), A.cols())).norm();
}

TEST(Decompositions, MultiplyToTheMatrixAgain) {
    for (const auto& [rows, cols] : {std::pair<Index, Index>{30, 12}, {12, 30}, {40, 40}, {1, 1}}) {
        const Matrix A = test::uniform_cloud(rows, cols, 4).array() - 0.4;
        const TruncatedSvd svd = thin_svd(A);
        EXPECT_LT((svd.U * svd.S.asDiagonal() * svd.V.transpose() - A).norm(), 1e-13 * A.norm());
        EXPECT_LT(distance_to_identity(svd.U.transpose() * svd.U), 1e-13);
        EXPECT_LT(distance_to_identity(svd.V.transpose() * svd.V), 1e-13);
        EXPECT_TRUE(std::is_sorted(svd.S.begin(), svd.S.end(), std::greater<>()));
        EXPECT_GE(svd.S.minCoeff(), 0.0);

        const Matrix symmetric = A * A.transpose() - 2.0 * Matrix::Identity(rows, rows);
        const SymmetricEigen eigen = symmetric_eigen(symmetric);
        EXPECT_LT((eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose() - symmetric).norm(),
                  1e-13 * symmetric.norm());
        EXPECT_LT(distance_to_identity(eigen.vectors.transpose() * eigen.vectors), 1e-13);
        EXPECT_TRUE(std::is_sorted(eigen.values.begin(), eigen.values.end()));
        EXPECT_LT((symmetric_eigenvalues(symmetric) - eigen.values).norm(), 1e-13 * symmetric.norm());
        if (rows >= cols) {
            const ThinQr qr = thin_qr(A);
            EXPECT_LT((qr.Q * qr.R - A).norm(), 1e-13 * A.norm());
            EXPECT_LT(distance_to_identity(qr.Q.transpose() * qr.Q), 1e-13);
            EXPECT_TRUE(qr.R.isUpperTriangular(0.0));
        }
    }
}

} // namespace
} // namespace pnmf
