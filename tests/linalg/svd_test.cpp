#include "linalg/decompositions.hpp"
#include "linalg/plain_products.hpp"
#include "linalg/svd.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace pnmf {
namespace {

/// Twelve directions that fade, and noise.
Matrix fading(Index features, Index cells, std::uint64_t seed) {
    const Vector sizes =
        Vector::NullaryExpr(12, [](Index k) { return 50.0 / static_cast<double>(1 + k * k); });
    return test::uniform_cloud(features, 12, seed) * sizes.asDiagonal() *
               test::uniform_cloud(12, cells, seed + 1) +
           0.05 * test::uniform_cloud(features, cells, seed + 2);
}

Matrix leading_part(const TruncatedSvd& svd) {
    return svd.U * svd.S.asDiagonal() * svd.V.transpose();
}

/// How far the columns are from orthonormal.
double defect(const Matrix& columns) {
    return (columns.transpose() * columns - Matrix::Identity(columns.cols(), columns.cols())).norm();
}

/// The leading triplets agree with those of the whole decomposition: values, and, because signs are free,
/// the sum of the leading parts.
template <class Real>
void expect_leading(const DataMatrix<Real>& X, const Matrix& values, Index rank, double slack) {
    SCOPED_TRACE(std::to_string(values.rows()) + " x " + std::to_string(values.cols()) + ", rank " +
                 std::to_string(rank) + (X.is_sparse() ? ", sparse" : ", dense"));
    const TruncatedSvd whole = thin_svd(values);
    const TruncatedSvd found = truncated_svd(X, rank);
    ASSERT_EQ(found.U.rows(), values.rows());
    ASSERT_EQ(found.V.rows(), values.cols());
    ASSERT_EQ(found.S.size(), rank);
    for (Index k = 0; k < rank; ++k) {
        EXPECT_NEAR(found.S[k] / whole.S[k], 1.0, slack) << k;
    }
    EXPECT_LT(defect(found.U), 10.0 * slack);
    EXPECT_LT(defect(found.V), 10.0 * slack);
    const TruncatedSvd expected{whole.U.leftCols(rank), whole.S.head(rank), whole.V.leftCols(rank)};
    EXPECT_LT((leading_part(found) - leading_part(expected)).norm(), 100.0 * slack * expected.S[0]);
}

TEST(TruncatedSvd, AgreesWithTheWholeDecompositionOfDenseData) {
    for (const auto& [features, cells] :
         {std::pair<Index, Index>{40, 25}, {25, 40}, {420, 290}, {290, 420}, {560, 530}}) {
        const Matrix X = fading(features, cells, 1);
        expect_leading(DataMatrix<double>(X), X, 6, 1e-10);
    }
}

TEST(TruncatedSvd, AgreesWithTheWholeDecompositionOfSparseData) {
    for (const auto& [features, cells] :
         {std::pair<Index, Index>{40, 25}, {420, 290}, {290, 420}, {560, 530}}) {
        // Blocks of different density, so that the leading values stand apart.
        Matrix X = to_dense(test::sparse_cloud(features, cells, 0.1, 2));
        X.topLeftCorner(features / 2, cells / 2) *= 4.0;
        X.bottomRightCorner(features / 3, cells / 3) *= 9.0;
        expect_leading(DataMatrix<double>(test::to_sparse(X)), X, 2, 1e-10);
    }
}

TEST(TruncatedSvd, AgreesInSinglePrecision) {
    for (const auto& [features, cells] :
         {std::pair<Index, Index>{40, 25}, {420, 290}, {290, 420}, {560, 530}}) {
        const Matrix X = fading(features, cells, 3);
        expect_leading(DataMatrix<float>(DenseMatrix<float>(X.cast<float>())), X, 4, 1e-4);
    }
}

/// In single precision all threads make the vectors of so many cells; in double precision one does.
TEST(TruncatedSvd, OfManyCellsIsThatOfDoublePrecision) {
    const Matrix X = fading(300, 17000, 5);
    const TruncatedSvd expected = truncated_svd(DataMatrix<double>(X), 4);
    const TruncatedSvd found = truncated_svd(DataMatrix<float>(DenseMatrix<float>(X.cast<float>())), 4);
    EXPECT_LT((found.S - expected.S).norm(), 1e-5 * expected.S[0]);
    EXPECT_LT(defect(found.U), 1e-5);
    EXPECT_LT(defect(found.V), 1e-5);
    EXPECT_LT((leading_part(found) - leading_part(expected)).norm(), 1e-4 * expected.S[0]);
}

TEST(TruncatedSvd, AgreesWhereADeviceMakesTheProducts) {
    const Matrix X = fading(290, 420, 3);
    const DataMatrix<double> data(X);
    test::PlainProducts<double> products(data);
    const TruncatedSvd found = truncated_svd(data, 4, &products);
    const TruncatedSvd plain = truncated_svd(data, 4);
    EXPECT_GT(products.asked, 4);
    EXPECT_LT((found.S - plain.S).norm(), 1e-10 * plain.S.norm());
    EXPECT_LT((leading_part(found) - leading_part(plain)).norm(), 1e-9 * plain.S.norm());
    EXPECT_LT((found.V.transpose() * found.V - Matrix::Identity(4, 4)).norm(), 1e-8);
    const DataMatrix<double> tall(Matrix(X.transpose())); // products are over features: the CPU takes these
    products.asked = 0;
    EXPECT_LT((truncated_svd(tall, 4, &products).S - plain.S).norm(), 1e-10 * plain.S.norm());
    EXPECT_EQ(products.asked, 0);
}

/// Where values fade to nothing the square of the condition number would be too large: the CPU's way is
/// taken.
TEST(TruncatedSvd, OfDataOfLowerRankIsAsGoodWhereADeviceMakesTheProducts) {
    const DataMatrix<double> X(Matrix(test::uniform_cloud(290, 3, 4) * test::uniform_cloud(3, 420, 5)));
    test::PlainProducts<double> products(X);
    EXPECT_LT((leading_part(truncated_svd(X, 7, &products)) - X.dense()).norm(), 1e-10 * X.dense().norm());
}

TEST(TruncatedSvd, OfDataOfLowerRankGivesThemBack) {
    for (const auto& [features, cells] :
         {std::pair<Index, Index>{40, 25}, {420, 290}, {290, 420}, {560, 530}}) {
        const Matrix X = test::uniform_cloud(features, 3, 4) * test::uniform_cloud(3, cells, 5);
        const TruncatedSvd found = truncated_svd(DataMatrix<double>(X), 7);
        EXPECT_LT((leading_part(found) - X).norm(), 1e-10 * X.norm()) << features;
        EXPECT_GT(found.S[2], 1e-3 * found.S[0]);
        EXPECT_LT(found.S[3], 1e-10 * found.S[0]);
        EXPECT_TRUE(found.U.allFinite() && found.V.allFinite());
    }
}

TEST(TruncatedSvd, OfNothingIsZero) {
    const TruncatedSvd found = truncated_svd(DataMatrix<double>(Matrix(Matrix::Zero(300, 280))), 3);
    EXPECT_EQ(found.S.norm(), 0.0);
    EXPECT_TRUE(found.U.allFinite() && found.V.allFinite());
}

TEST(TruncatedSvd, RefusesARankOutOfRange) {
    const DataMatrix<double> X(test::uniform_cloud(9, 5, 6));
    EXPECT_NO_THROW(truncated_svd(X, 5));
    for (const Index rank : {-1, 0, 6}) {
        EXPECT_THROW(truncated_svd(X, rank), InputError) << rank;
    }
}

} // namespace
} // namespace pnmf
