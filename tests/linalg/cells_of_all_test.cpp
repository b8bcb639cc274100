#include "linalg/cells_of_all.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/linalg/pca.hpp>
#include <pnmf/linalg/svd.hpp>

#include <gtest/gtest.h>

namespace pnmf::test {
namespace {

/// `body` with the part of each rank; ranges of uneven length, one of them empty.
void with_parts(const SparseMatrix<double>& all, const std::function<void(const DataMatrix<double>&)>& body) {
    for (const int count : {1, 2, 3, 4, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            const auto begin = [&](Index rank) {
                return rank == 1 && count > 1 ? 0 : all.cols * rank * rank / (count * count);
            };
            const CellRange range{begin(r), begin(r + 1) - begin(r), all.cols};
            body(DataMatrix<double>(columns_of(all, range), range));
        });
    }
}

class CellsOfAll : public ::testing::Test {
  protected:
    SparseMatrix<double> values = sparse_cloud(331, 900, 0.25, 3); // more entries than a block of the norm
    DataMatrix<double> whole{values};
};

TEST_F(CellsOfAll, ProductsHaveTheBitsOfOneProcess) {
    const Matrix H = uniform_cloud(5, 900, 1);
    const Matrix W = uniform_cloud(331, 5, 2);
    const Matrix XHt = whole.times_transposed(H);
    const Matrix WtX = whole.transposed_times(W);
    with_parts(values, [&](const DataMatrix<double>& X) {
        EXPECT_EQ(times_transposed_of_all(X, H), XHt);
        EXPECT_EQ(transposed_times_of_all(X, W), WtX);
    });
}

TEST_F(CellsOfAll, ColumnsAreGatheredOnEveryRankOrOnOne) {
    const DenseMatrix<float> H = uniform_cloud(5, 900, 1).cast<float>();
    with_parts(values, [&](const DataMatrix<double>& X) {
        const DenseMatrix<float> here = held_columns(X, H);
        EXPECT_EQ(here, H.middleCols(X.held().first, X.held().count));
        EXPECT_EQ(gather_cells(X, here), H);
        DenseMatrix<float> sent = X.ranks().rank() == 0 ? H : DenseMatrix<float>::Zero(5, 900);
        columns_from_first(X, sent);
        EXPECT_EQ(sent, H);
        const int last = X.ranks().size() - 1;
        EXPECT_EQ(gather_cells(X, here, last), X.ranks().rank() == last ? H : DenseMatrix<float>());
    });
}

TEST_F(CellsOfAll, NormMeanAndSizesAreThoseOfAll) {
    ASSERT_GT(whole.nonzeros(), 1 << 16);
    with_parts(values, [&](const DataMatrix<double>& X) {
        EXPECT_EQ(X.squared_norm(), whole.squared_norm());
        EXPECT_EQ(X.mean(), whole.mean());
        EXPECT_EQ(X.nonzeros(), whole.nonzeros());
        EXPECT_EQ(X.cells(), 900);
    });
}

TEST_F(CellsOfAll, PrincipalComponentsHaveTheBitsOfOneProcess) {
    const PrincipalComponents expected = principal_components(whole, 6);
    with_parts(values, [&](const DataMatrix<double>& X) {
        const PrincipalComponents found = principal_components(X, 6);
        EXPECT_EQ(found.directions, expected.directions);
        EXPECT_EQ(found.variance, expected.variance);
        EXPECT_EQ(found.coordinates(X),
                  expected.coordinates(whole).middleCols(X.held().first, X.held().count));
    });
}

TEST_F(CellsOfAll, SingularVectorsHaveTheBitsOfOneProcess) {
    for (const Index features : {40, 331, 1200}) { // decomposed whole, over features, over cells
        const SparseMatrix<double> X = sparse_cloud(features, 900, 0.05, 8);
        const TruncatedSvd expected = truncated_svd(DataMatrix<double>(X), 4);
        with_parts(X, [&](const DataMatrix<double>& part) {
            const TruncatedSvd found = truncated_svd(part, 4);
            EXPECT_EQ(found.U, expected.U);
            EXPECT_EQ(found.S, expected.S);
            EXPECT_EQ(found.V, expected.V);
        });
    }
}

} // namespace
} // namespace pnmf::test
