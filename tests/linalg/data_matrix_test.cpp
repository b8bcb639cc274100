#include "cells/cell_blocks.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace pnmf {
namespace {

template <class Real>
DenseMatrix<Real> random_matrix(Index rows, Index cols, double density, std::uint64_t seed) {
    Random random(seed);
    return DenseMatrix<Real>::NullaryExpr(
        rows, cols, [&] { return static_cast<Real>(random.uniform() < density ? random.uniform() : 0.0); });
}

template <class Real>
SparseMatrix<Real> sparsify(const DenseMatrix<Real>& dense) {
    Triplets<Real> triplets;
    for (Index j = 0; j < dense.cols(); ++j) {
        for (Index i = 0; i < dense.rows(); ++i) {
            if (dense(i, j) != 0) {
                triplets.row.push_back(static_cast<std::int32_t>(i));
                triplets.col.push_back(static_cast<std::int32_t>(j));
                triplets.value.push_back(dense(i, j));
            }
        }
    }
    return to_columns(dense.rows(), dense.cols(), triplets);
}

template <class Real>
class DataMatrixOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DataMatrixOf, Reals);

TYPED_TEST(DataMatrixOf, DenseAndSparseGiveTheProductsOfTheDefinition) {
    const double precision = std::is_same_v<TypeParam, float> ? 1e-5 : 1e-13;
    // More rows and columns than one block of each product.
    const auto X = random_matrix<TypeParam>(2100, 300, 0.3, 1);
    const auto H = random_matrix<TypeParam>(3, 300, 1.0, 2);
    const auto W = random_matrix<TypeParam>(2100, 3, 1.0, 3);
    const DenseMatrix<TypeParam> XHt = X * H.transpose();
    const DenseMatrix<TypeParam> WtX = W.transpose() * X;
    for (const auto& data : {DataMatrix<TypeParam>(X), DataMatrix<TypeParam>(sparsify(X))}) {
        EXPECT_TRUE(data.times_transposed(H).isApprox(XHt, precision));
        EXPECT_TRUE(data.transposed_times(W).isApprox(WtX, precision));
        EXPECT_NEAR(data.squared_norm(), X.template cast<double>().squaredNorm(), 1e-7);
        EXPECT_NEAR(data.mean(), X.template cast<double>().mean(), 1e-12);
    }
}

TYPED_TEST(DataMatrixOf, SeveralProductsAtOnceAreTheSingleOnes) {
    const double precision = std::is_same_v<TypeParam, float> ? 1e-5 : 1e-13;
    const auto X = random_matrix<TypeParam>(2100, 270, 0.3, 1); // more than a block of each
    const std::vector<DenseMatrix<TypeParam>> H{random_matrix<TypeParam>(3, 270, 1.0, 2),
                                                random_matrix<TypeParam>(5, 270, 1.0, 3)};
    const std::vector<DenseMatrix<TypeParam>> W{random_matrix<TypeParam>(2100, 5, 1.0, 4),
                                                random_matrix<TypeParam>(2100, 3, 1.0, 5)};
    for (const auto& data : {DataMatrix<TypeParam>(X), DataMatrix<TypeParam>(sparsify(X))}) {
        const auto XHt = data.times_transposed(std::span(H));
        const auto WtX = data.transposed_times(std::span(W));
        ASSERT_EQ(XHt.size(), 2);
        ASSERT_EQ(WtX.size(), 2);
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_TRUE(XHt[i].isApprox(data.times_transposed(H[i]), precision));
            EXPECT_TRUE(WtX[i].isApprox(data.transposed_times(W[i]), precision));
        }
    }
}

/// X·Hᵀ over the cells [begin, end), cell after cell.
template <class Real>
DenseMatrix<Real> product_in_order(const DenseMatrix<Real>& X, const DenseMatrix<Real>& H, Index begin,
                                   Index end) {
    DenseMatrix<Real> plain = DenseMatrix<Real>::Zero(X.rows(), H.rows());
    for (Index i = 0; i < X.rows(); ++i) {
        for (Index j = begin; j < end; ++j) {
            for (Index k = 0; k < H.rows(); ++k) {
                const Real product = X(i, j) * H(k, j);
                plain(i, k) = plain(i, k) + product;
            }
        }
    }
    return plain;
}

TYPED_TEST(DataMatrixOf, SparseProductsInPartsHaveTheBitsOfSumsInOrder) {
    // H and W larger than a part of 2¹⁹ bytes, and a last part that is not full.
    const auto X = random_matrix<TypeParam>(300, 9000, 0.02, 4);
    const auto H = random_matrix<TypeParam>(21, 9000, 1.0, 5);
    const DataMatrix<TypeParam> turned(sparsify(DenseMatrix<TypeParam>(X.transpose())));
    EXPECT_EQ(turned.transposed_times(DenseMatrix<TypeParam>(H.transpose())).transpose(),
              product_in_order<TypeParam>(X, H, 0, 9000));
}

TYPED_TEST(DataMatrixOf, SparseSumsOverCellsHaveTheBitsOfBlocksAddedAlongTheTree) {
    const auto X = random_matrix<TypeParam>(300, 9000, 0.02, 4);
    const DataMatrix<TypeParam> data(sparsify(X));
    for (const Index d : {1, 21, 40, 3}) { // room that is kept grows, and is larger than needed
        const auto H = random_matrix<TypeParam>(d, 9000, 1.0, 5);
        const CellBlocks blocks = usual_blocks(9000);
        ASSERT_GT(blocks.count(), 1);
        BlockSum<DenseMatrix<TypeParam>> sum;
        for (Index b = 0; b < blocks.count(); ++b) {
            sum.add(b, product_in_order<TypeParam>(X, H, blocks.begin(b), blocks.end(b)));
        }
        EXPECT_EQ(data.times_transposed(H), sum.finish());
    }
}

TYPED_TEST(DataMatrixOf, DataInSomeoneElsesMemoryStayThereAndGiveTheBitsOfACopy) {
    const auto X = random_matrix<TypeParam>(301, 203, 0.3, 7);
    const auto sparse = sparsify(X);
    const auto H = random_matrix<TypeParam>(3, 203, 1.0, 8);
    const auto W = random_matrix<TypeParam>(301, 3, 1.0, 9);
    const DataMatrix<TypeParam> viewed_dense(view_of(X));
    const DataMatrix<TypeParam> viewed_sparse(view_of(sparse));
    EXPECT_EQ(viewed_dense.dense().data(), X.data());
    EXPECT_EQ(viewed_sparse.columns().value.data(), sparse.value.data());
    const auto same = [&](const DataMatrix<TypeParam>& a, const DataMatrix<TypeParam>& b) {
        return a.features() == b.features() && a.cells() == b.cells() && a.nonzeros() == b.nonzeros() &&
               a.times_transposed(H) == b.times_transposed(H) &&
               a.transposed_times(W) == b.transposed_times(W) && a.squared_norm() == b.squared_norm() &&
               a.mean() == b.mean();
    };
    EXPECT_TRUE(same(viewed_dense, DataMatrix<TypeParam>(X)));
    EXPECT_TRUE(same(viewed_sparse, DataMatrix<TypeParam>(sparse)));
    const DataMatrix<TypeParam> copy = viewed_dense; // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_TRUE(same(copy, viewed_dense));
}

TYPED_TEST(DataMatrixOf, ProductsHaveTheSameBitsForAnyNumberOfThreads) {
    const auto X = random_matrix<TypeParam>(2100, 600, 0.3, 4);
    const auto H = random_matrix<TypeParam>(5, 600, 1.0, 5);
    const auto W = random_matrix<TypeParam>(2100, 5, 1.0, 6);
    const int before = thread_count();
    for (const auto& data : {DataMatrix<TypeParam>(X), DataMatrix<TypeParam>(sparsify(X))}) {
        set_thread_count(1);
        const auto XHt = data.times_transposed(H);
        const auto WtX = data.transposed_times(W);
        const double norm = data.squared_norm();
        for (const int threads : {2, 4, 16}) {
            set_thread_count(threads);
            EXPECT_EQ(data.times_transposed(H), XHt);
            EXPECT_EQ(data.transposed_times(W), WtX);
            EXPECT_EQ(data.squared_norm(), norm);
        }
    }
    set_thread_count(before);
}

} // namespace
} // namespace pnmf
