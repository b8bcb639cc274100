#include "cells/linalg/over_all_cells.hpp"
#include "linalg/feature_gram.hpp"
#include "linalg/svd.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

namespace pnmf::test {
namespace {

constexpr Index eight_blocks = 5200; // cells

/// `body` with the share of each rank.
void with_shares(const SparseMatrix<double>& all,
                 const std::function<void(const DataMatrix<double>&)>& body) {
    for (const int count : {1, 2, 3, 4, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int) {
            const CellRange range = local_range(all.cols, all_processes());
            body(DataMatrix<double>(columns_of(all, range), range));
        });
    }
}

/// Of one block, which one rank has, or of several.
class CellsOfAll : public ::testing::TestWithParam<Index> {
  protected:
    Index cells = GetParam();
    SparseMatrix<double> values = sparse_cloud(131, cells, 0.25, 3);
    DataMatrix<double> whole{values};
    Matrix H = uniform_cloud(5, cells, 1);
};

INSTANTIATE_TEST_SUITE_P(Blocks, CellsOfAll, ::testing::Values(Index{900}, eight_blocks));

TEST_P(CellsOfAll, ProductsHaveTheBitsOfOneProcess) {
    const Matrix W = uniform_cloud(131, 5, 2);
    const Matrix XHt = whole.times_transposed(H);
    const Matrix WtX = whole.transposed_times(W);
    with_shares(values, [&](const DataMatrix<double>& X) {
        EXPECT_EQ(times_transposed_of_all(X, H), XHt);
        EXPECT_EQ(transposed_times_of_all(X, W), WtX);
    });
}

TEST_P(CellsOfAll, ProductsAreThoseOfThePlainMatrix) {
    const Matrix plain = to_dense(view_of(values));
    const Matrix Y = uniform_cloud(131, 3, 2);
    const double size = plain.norm();
    for (const Index d : {1, 5}) { // one row is added cell by cell
        const Matrix some = H.topRows(d);
        EXPECT_LT((whole.times_transposed(some) - plain * some.transpose()).norm(),
                  1e-12 * size * some.norm());
    }
    for (const Index m : {1, 3}) { // one column goes through the values once
        const Matrix some = Y.leftCols(m);
        const Matrix found = normal_times_over_cells(whole, some);
        EXPECT_LT((found - plain * (plain.transpose() * some)).norm(), 1e-12 * size * size * some.norm());
        with_shares(values,
                    [&](const DataMatrix<double>& X) { EXPECT_EQ(normal_times_over_cells(X, some), found); });
    }
    EXPECT_NEAR(whole.squared_norm(), plain.squaredNorm(), 1e-12 * plain.squaredNorm());
    EXPECT_NEAR(whole.mean(), plain.mean(), 1e-12);
}

TEST_P(CellsOfAll, ProductsDoNotDependOnThreads) {
    const Matrix y = uniform_cloud(131, 1, 2);
    const int before = thread_count();
    std::vector<Matrix> sums;
    for (const int threads : {1, 3}) {
        set_thread_count(threads);
        sums.push_back(whole.times_transposed(H));
        sums.push_back(whole.times_transposed(H.topRows(1)));
        sums.push_back(normal_times_over_cells(whole, y));
    }
    set_thread_count(before);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(sums[i], sums[i + 3]);
    }
}

TEST_P(CellsOfAll, ProductsOfManyFeaturesDoNotDependOnThreads) {
    // More than one thread takes at a time, in several runs, the last of them short.
    const SparseMatrix<double> wide = sparse_cloud(600, cells, 0.05, 4);
    const DataMatrix<double> X{wide};
    const Matrix plain = to_dense(view_of(wide));
    const int before = thread_count();
    set_thread_count(1);
    const Matrix alone = X.times_transposed(H);
    EXPECT_LT((alone - plain * H.transpose()).norm(), 1e-12 * plain.norm() * H.norm());
    for (const int threads : {2, 5, 16}) {
        set_thread_count(threads);
        EXPECT_EQ(X.times_transposed(H), alone) << threads;
        Matrix inside;
        parallel_for(2, [&](Index i) {
            if (i == 0) {
                inside = X.times_transposed(H);
            }
        });
        EXPECT_EQ(inside, alone) << threads;
    }
    set_thread_count(before);
}

TEST_P(CellsOfAll, ProductsOfFeaturesAreThoseOfThePlainMatrix) {
    const Matrix plain = to_dense(view_of(values));
    const Matrix expected = plain * plain.transpose();
    const Matrix found = feature_gram(whole);
    EXPECT_LT((found - expected).norm(), 1e-13 * expected.norm());
    EXPECT_EQ(found, found.transpose());
    const DataMatrix<float> single(SparseMatrix<float>{
        values.rows, values.cols, values.start, values.row, {values.value.begin(), values.value.end()}});
    EXPECT_LT((feature_gram(single) - expected).norm(), 1e-6 * expected.norm());
    const int before = thread_count();
    set_thread_count(3);
    EXPECT_EQ(feature_gram(whole), found);
    set_thread_count(before);
    const bool cheap = is_cheap_to_form(whole);
    with_shares(values, [&](const DataMatrix<double>& X) {
        EXPECT_EQ(feature_gram(X), found);
        EXPECT_EQ(is_cheap_to_form(X), cheap);
    });
    const Vector y = uniform_cloud(131, 1, 2);
    Vector product(131);
    multiply_symmetric(found, y.data(), product.data());
    EXPECT_LT((product - found * y).norm(), 1e-13 * product.norm());
}

TEST(FeatureGram, IsFormedWhereCellsHaveFewEntries) {
    EXPECT_TRUE(is_cheap_to_form(DataMatrix<double>(sparse_cloud(300, 400, 0.2, 1))));
    EXPECT_FALSE(is_cheap_to_form(DataMatrix<double>(sparse_cloud(3000, 20, 0.4, 1)))) << "1,200 in a cell";
    EXPECT_FALSE(is_cheap_to_form(DataMatrix<double>(sparse_cloud(most_formed_features + 1, 20, 0.01, 1))));
    EXPECT_FALSE(is_cheap_to_form(DataMatrix<double>(uniform_cloud(20, 30, 1)))) << "dense";
}

TEST_P(CellsOfAll, ColumnsAreGatheredOnEveryRankOrOnOne) {
    const DenseMatrix<float> H = this->H.cast<float>();
    with_shares(values, [&](const DataMatrix<double>& X) {
        const DenseMatrix<float> here = local_columns(X, H);
        EXPECT_EQ(here, H.middleCols(X.local().first, X.local().count));
        EXPECT_EQ(gather_cells(X, here), H);
        DenseMatrix<float> sent = X.processes().place() == 0 ? H : DenseMatrix<float>::Zero(5, cells);
        columns_from_first(X, sent);
        EXPECT_EQ(sent, H);
        const int last = X.processes().count() - 1;
        EXPECT_EQ(gather_cells(X, here, last), X.processes().place() == last ? H : DenseMatrix<float>());
    });
}

TEST_P(CellsOfAll, NormMeanAndSizesAreThoseOfAll) {
    with_shares(values, [&](const DataMatrix<double>& X) {
        EXPECT_EQ(X.squared_norm(), whole.squared_norm());
        EXPECT_EQ(X.mean(), whole.mean());
        EXPECT_EQ(X.nonzeros(), whole.nonzeros());
        EXPECT_EQ(X.cells(), cells);
    });
}

TEST_P(CellsOfAll, PrincipalComponentsHaveTheBitsOfOneProcess) {
    const PrincipalComponents expected = principal_components(whole, 6);
    with_shares(values, [&](const DataMatrix<double>& X) {
        const PrincipalComponents found = principal_components(X, 6);
        EXPECT_EQ(found.directions, expected.directions);
        EXPECT_EQ(found.variance, expected.variance);
        EXPECT_EQ(found.coordinates(X),
                  expected.coordinates(whole).middleCols(X.local().first, X.local().count));
    });
}

TEST(SingularVectors, HaveTheBitsOfOneProcess) {
    struct Size {
        Index features;
        Index cells;
    };
    // Decomposed whole, over features and over cells; over features where cells are several blocks, too.
    for (const auto& [features, cells] : {Size{40, 900}, {331, 900}, {1200, 900}, {600, eight_blocks}}) {
        SCOPED_TRACE(features);
        const SparseMatrix<double> X = sparse_cloud(features, cells, 0.05, 8);
        const TruncatedSvd expected = truncated_svd(DataMatrix<double>(X), 4);
        with_shares(X, [&](const DataMatrix<double>& part) {
            const TruncatedSvd found = truncated_svd(part, 4);
            EXPECT_EQ(found.U, expected.U);
            EXPECT_EQ(found.S, expected.S);
            EXPECT_EQ(found.V, expected.V);
        });
    }
}

TEST(SparseParts, MustBeSharesOfTheirRanks) {
    const SparseMatrix<double> values = sparse_cloud(13, eight_blocks, 0.25, 3);
    ThreadRanks ranks(2);
    ranks.run([&](int r) {
        const CellRange odd{r == 0 ? 0 : 2601, r == 0 ? 2601 : 2599, eight_blocks};
        EXPECT_THROW(DataMatrix<double>(columns_of(values, odd), odd), InputError);
    });
}

} // namespace
} // namespace pnmf::test
