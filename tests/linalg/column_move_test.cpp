#include "cells/linalg/column_move.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

namespace pnmf::test {
namespace {

constexpr Index cells = 900;

/// Far jumps: cell 7·i stands at place i.
FitOrder stride_order() {
    FitOrder order;
    for (Index i = 0; i < cells; ++i) {
        order.cell.push_back(static_cast<std::int32_t>(7 * i % cells));
    }
    return order;
}

/// `body` on each rank with its range; ranges of uneven length, one of them empty.
void with_ranges(const std::function<void(const CellRange&)>& body) {
    for (const int count : {1, 2, 3, 4, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            const auto begin = [&](Index rank) {
                return rank == 1 && count > 1 ? 0 : cells * rank * rank / (count * count);
            };
            body({begin(r), begin(r + 1) - begin(r), cells});
        });
    }
}

TEST(ColumnMove, PutsEachColumnWhereItBelongsAndBack) {
    const FitOrder order = stride_order();
    const DenseMatrix<float> H = uniform_cloud(5, cells, 1).cast<float>();
    DenseMatrix<float> expected(5, cells);
    for (Index i = 0; i < cells; ++i) {
        expected.col(i) = H.col(order.cell[i]);
    }
    const auto alone = ColumnMove(order, {})(H);
    EXPECT_EQ(alone, expected);
    EXPECT_EQ(ColumnMove(inverse(order), {})(alone), H);
    with_ranges([&](const CellRange& range) {
        const DenseMatrix<float> here = H.middleCols(range.first, range.count);
        const DenseMatrix<float> moved = ColumnMove(order, range)(here);
        EXPECT_EQ(moved, expected.middleCols(range.first, range.count));
        EXPECT_EQ(ColumnMove(inverse(order), range)(moved), here);
    });
}

TEST(ColumnMove, PutsSparseColumnsWhereTheyBelong) {
    const FitOrder order = stride_order();
    const SparseMatrix<double> values = sparse_cloud(31, cells, 0.25, 3);
    const Matrix table = to_dense(values);
    Matrix expected(31, cells);
    for (Index i = 0; i < cells; ++i) {
        expected.col(i) = table.col(order.cell[i]);
    }
    const auto alone = ColumnMove(order, {}).operator()<double>(view_of(values));
    check_structure(alone);
    EXPECT_EQ(to_dense(alone), expected);
    with_ranges([&](const CellRange& range) {
        const SparseMatrix<double> here = columns_of(values, range);
        const auto moved = ColumnMove(order, range).operator()<float>(view_of(here));
        check_structure(moved);
        EXPECT_EQ(to_dense(moved), expected.middleCols(range.first, range.count).cast<float>());
    });
}

} // namespace
} // namespace pnmf::test
