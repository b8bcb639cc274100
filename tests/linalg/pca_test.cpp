#include "linalg/decompositions.hpp"
#include "linalg/plain_products.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <string>

namespace pnmf {
namespace {

/// Eight directions that fade, a mean far from 0, noise; about a third of the entries are 0.
Matrix cells_with_zeros(Index features, Index cells, std::uint64_t seed) {
    const Vector sizes = Vector::NullaryExpr(8, [](Index k) { return 20.0 / static_cast<double>(1 + k); });
    Matrix X = test::uniform_cloud(features, 8, seed) * sizes.asDiagonal() *
                   test::uniform_cloud(8, cells, seed + 1) +
               0.05 * test::uniform_cloud(features, cells, seed + 2);
    const double cut = X.mean() * 0.8;
    return (X.array() < cut).select(0.0, X);
}

/// The slow twin: the whole decomposition of the centred matrix.
void expect_components(const Matrix& X, const PrincipalComponents& found, Index count) {
    SCOPED_TRACE(std::to_string(X.rows()) + " x " + std::to_string(X.cols()));
    const Vector mean = X.rowwise().mean();
    const Matrix centred = X.colwise() - mean;
    const TruncatedSvd whole = thin_svd(centred);
    ASSERT_EQ(found.count(), count);
    EXPECT_LT((found.mean - mean).norm(), 1e-12 * mean.norm());
    const double cells_less_one = static_cast<double>(X.cols() - 1);
    for (Index k = 0; k < count; ++k) {
        const double expected = whole.S[k] * whole.S[k] / cells_less_one;
        EXPECT_NEAR(found.variance[k] / expected, 1.0, 1e-8) << k;
    }
    const Matrix coordinates = found.coordinates(DataMatrix<double>(X));
    const Matrix part = found.directions * coordinates;
    const Matrix expected =
        whole.U.leftCols(count) * whole.S.head(count).asDiagonal() * whole.V.leftCols(count).transpose();
    EXPECT_LT((part - expected).norm(), 1e-6 * expected.norm());
    const Matrix gram = found.directions.transpose() * found.directions;
    EXPECT_LT((gram - Matrix::Identity(count, count)).norm(), 1e-9);
}

TEST(PrincipalComponents, AreThoseOfTheCentredMatrixDecomposedWhole) {
    for (const auto& [features, cells] :
         {std::pair<Index, Index>{30, 50}, {50, 30}, {300, 90}, {400, 350}, {280, 500}}) {
        const Matrix X = cells_with_zeros(features, cells, 3);
        expect_components(X, principal_components(DataMatrix<double>(X), 5), 5);
    }
}

TEST(PrincipalComponents, AreTheSameWhereADeviceMakesTheProducts) {
    const Matrix X = cells_with_zeros(280, 500, 3);
    const DataMatrix<double> data(X);
    test::PlainProducts<double> products(data);
    const ComponentSpace found = component_space(data, 5, &products);
    EXPECT_GT(products.asked, 5);
    expect_components(X, found.components, 5);
    EXPECT_LT((found.coordinates - component_space(data, 5).coordinates).norm(), 1e-9 * X.norm());
    EXPECT_EQ(component_space(data, 5).coordinates, principal_components(data, 5).coordinates(data));
}

TEST(PrincipalComponents, OfSparseDataAreThoseOfTheSameDenseData) {
    const Matrix X = cells_with_zeros(320, 150, 7);
    expect_components(X, principal_components(DataMatrix<double>(test::to_sparse(X)), 6), 6);
}

TEST(PrincipalComponents, HaveTheSameBitsForAnyNumberOfThreads) {
    const DataMatrix<double> X(test::to_sparse(cells_with_zeros(320, 400, 5)));
    const int before = thread_count();
    set_thread_count(1);
    const PrincipalComponents one = principal_components(X, 7);
    set_thread_count(3);
    const PrincipalComponents three = principal_components(X, 7);
    set_thread_count(before);
    EXPECT_EQ(one.directions, three.directions);
    EXPECT_EQ(one.coordinates(X), three.coordinates(X));
}

TEST(PrincipalComponents, PointWhereTheirLargestEntryIsPositive) {
    const PrincipalComponents found =
        principal_components(DataMatrix<double>(cells_with_zeros(40, 60, 2)), 6);
    for (Index k = 0; k < found.count(); ++k) {
        EXPECT_EQ(found.directions.col(k).maxCoeff(), found.directions.col(k).cwiseAbs().maxCoeff());
    }
}

TEST(PrincipalComponents, AreNoMoreThanTheDataHave) {
    const Matrix X = cells_with_zeros(40, 4, 2);
    EXPECT_EQ(principal_components(DataMatrix<double>(X), 30).count(), 3);
    Matrix line = Matrix::Zero(50, 20); // one direction
    for (Index j = 0; j < 20; ++j) {
        line.col(j) = Vector::LinSpaced(50, 1.0, 2.0) * static_cast<double>(j);
    }
    EXPECT_EQ(principal_components(DataMatrix<double>(line), 10).count(), 1);
}

TEST(PrincipalComponents, RefuseEqualCellsAndAnImpossibleCount) {
    EXPECT_THROW(principal_components(DataMatrix<double>(Matrix::Constant(30, 10, 2.0)), 3), InputError);
    EXPECT_THROW(principal_components(DataMatrix<double>(Matrix::Random(30, 10)), 0), InputError);
    EXPECT_THROW(principal_components(DataMatrix<double>(Matrix::Random(30, 1)), 1), InputError);
    const PrincipalComponents found =
        principal_components(DataMatrix<double>(cells_with_zeros(30, 20, 1)), 3);
    EXPECT_THROW(found.coordinates(DataMatrix<double>(Matrix::Zero(29, 2))), InputError);
}

} // namespace
} // namespace pnmf
