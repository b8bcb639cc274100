#include "cells/linalg/over_all_cells.hpp"
#include "linalg/svd.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

/// Dense data of which each rank holds its share.
namespace pnmf::test {
namespace {

constexpr Index several_blocks = 5200; // eight of them, the last one short

void with_shares(const Matrix& all, const std::function<void(const DataMatrix<double>&)>& body) {
    for (const int count : {1, 2, 3, 4, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int) {
            const CellRange range = local_range(all.cols(), all_processes());
            body(DataMatrix<double>(columns_of(all, range), range));
        });
    }
}

TEST(DenseParts, ProductsAndSumsHaveTheBitsOfOneProcess) {
    for (const Index cells : {Index{900}, several_blocks}) { // of one block all is on one rank
        SCOPED_TRACE(cells);
        const Matrix values = uniform_cloud(37, cells, 3);
        const DataMatrix<double> whole{values};
        const Matrix H = uniform_cloud(5, cells, 1);
        const Matrix W = uniform_cloud(37, 5, 2);
        const Matrix XHt = whole.times_transposed(H);
        const Matrix WtX = whole.transposed_times(W);
        with_shares(values, [&](const DataMatrix<double>& X) {
            EXPECT_EQ(times_transposed_of_all(X, H), XHt);
            EXPECT_EQ(transposed_times_of_all(X, W), WtX);
            EXPECT_EQ(X.squared_norm(), whole.squared_norm());
            EXPECT_EQ(X.mean(), whole.mean());
            EXPECT_EQ(X.nonzeros(), whole.nonzeros());
            EXPECT_EQ(X.cells(), cells);
        });
    }
}

TEST(DenseParts, SumsAreThoseOfAllCells) {
    const Matrix values = uniform_cloud(37, several_blocks, 3);
    const DataMatrix<double> whole{values};
    const Matrix H = uniform_cloud(5, several_blocks, 1);
    EXPECT_LT((whole.times_transposed(H) - values * H.transpose()).norm(), 1e-12 * values.norm() * H.norm());
    EXPECT_NEAR(whole.squared_norm(), values.squaredNorm(), 1e-12 * values.squaredNorm());
    EXPECT_NEAR(whole.mean(), values.mean(), 1e-12);
}

TEST(DenseParts, ProductsDoNotDependOnThreads) {
    const Matrix values = uniform_cloud(37, 11000, 3);
    const DataMatrix<double> X{values};
    const Matrix H = uniform_cloud(5, 11000, 1);
    const int before = thread_count();
    set_thread_count(1);
    const Matrix expected = X.times_transposed(H);
    for (const int threads : {2, 3, 8}) {
        set_thread_count(threads);
        EXPECT_EQ(X.times_transposed(H), expected) << threads;
    }
    set_thread_count(before);
}

TEST(DenseParts, OfOneBlockAreOneProductOfMatrices) {
    const Matrix values = uniform_cloud(37, 4096, 3);
    const Matrix H = uniform_cloud(5, 4096, 1);
    Matrix expected(37, 5);
    multiply_by_transposed(values, H, expected);
    EXPECT_EQ(DataMatrix<double>(values).times_transposed(H), expected);
}

TEST(DenseParts, PrincipalComponentsHaveTheBitsOfOneProcess) {
    for (const Index features : {40, 270}) { // decomposed whole, and by iteration
        const Matrix values = uniform_cloud(features, several_blocks, 5);
        const DataMatrix<double> whole{values};
        const PrincipalComponents expected = principal_components(whole, 2);
        with_shares(values, [&](const DataMatrix<double>& X) {
            const PrincipalComponents found = principal_components(X, 2);
            EXPECT_EQ(found.mean, expected.mean);
            EXPECT_EQ(found.directions, expected.directions);
            EXPECT_EQ(found.variance, expected.variance);
            EXPECT_EQ(found.coordinates(X),
                      expected.coordinates(whole).middleCols(X.local().first, X.local().count));
        });
    }
}

TEST(DenseParts, SingularVectorsHaveTheBitsOfOneProcess) {
    struct Size {
        Index features, cells;
    };
    for (const Size size : {Size{40, several_blocks}, Size{300, several_blocks}, Size{700, 600}}) {
        const Matrix values = uniform_cloud(size.features, size.cells, 8);
        const TruncatedSvd expected = truncated_svd(DataMatrix<double>(values), 2);
        with_shares(values, [&](const DataMatrix<double>& part) {
            const TruncatedSvd found = truncated_svd(part, 2);
            EXPECT_EQ(found.U, expected.U);
            EXPECT_EQ(found.S, expected.S);
            EXPECT_EQ(found.V, expected.V);
        });
    }
}

TEST(DenseParts, MustBeTheShareOfTheRank) {
    const Matrix values = uniform_cloud(3, several_blocks, 3);
    ThreadRanks ranks(2);
    ranks.run([&](int r) {
        const CellRange half{r * several_blocks / 2, several_blocks / 2, several_blocks};
        EXPECT_THROW(DataMatrix<double>(columns_of(values, half), half), InputError);
    });
}

} // namespace
} // namespace pnmf::test
