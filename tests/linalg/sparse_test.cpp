#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace pnmf {
namespace {

Triplets<double> random_triplets(Index rows, Index cols, Index count, std::uint64_t seed) {
    Random random(seed);
    Triplets<double> triplets;
    for (Index e = 0; e < count; ++e) {
        triplets.row.push_back(static_cast<std::int32_t>(random.below(rows)));
        triplets.col.push_back(static_cast<std::int32_t>(random.below(cols)));
        triplets.value.push_back(random.uniform());
    }
    return triplets;
}

Matrix dense_sum(Index rows, Index cols, const Triplets<double>& triplets) {
    Matrix result = Matrix::Zero(rows, cols);
    for (std::size_t e = 0; e < triplets.row.size(); ++e) {
        result(triplets.row[e], triplets.col[e]) += triplets.value[e];
    }
    return result;
}

TEST(Sparse, ColumnsOfTripletsAddUpEqualPlaces) {
    for (const Index count : {0, 1, 40, 400}) {
        const auto triplets = random_triplets(7, 5, count, 3 + count);
        const auto sparse = to_columns(7, 5, triplets);
        check_structure(sparse);
        EXPECT_TRUE(to_dense(sparse).isApprox(dense_sum(7, 5, triplets), 1e-15) || count == 0);
    }
}

TEST(Sparse, TransposeTwiceIsTheMatrix) {
    const auto sparse = to_columns(9, 6, random_triplets(9, 6, 30, 1));
    const auto once = transpose(sparse);
    check_structure(once);
    EXPECT_EQ(to_dense(once), to_dense(sparse).transpose());
    const auto twice = transpose(once);
    EXPECT_EQ(twice.row, sparse.row);
    EXPECT_EQ(twice.start, sparse.start);
    EXPECT_EQ(twice.value, sparse.value);
}

TEST(Sparse, TransposeInPartsIsTheTranspose) {
    // Enough entries for as many parts as there can be, with a thread for each.
    const int before = thread_count();
    set_thread_count(8);
    Triplets<double> triplets = random_triplets(2000, 1500, 1500000, 4);
    const Triplets<double> more = random_triplets(2000, 3, 300000, 5);
    triplets.row.insert(triplets.row.end(), more.row.begin(), more.row.end());
    triplets.col.insert(triplets.col.end(), more.col.begin(), more.col.end());
    triplets.value.insert(triplets.value.end(), more.value.begin(), more.value.end());
    SparseMatrix<double> sparse = to_columns(2000, 1500, triplets);
    const auto once = transpose(sparse);
    check_structure(once);
    EXPECT_EQ(to_dense(once), to_dense(sparse).transpose());
    EXPECT_GT(sparse.nonzeros(), 8 * (131072 + 2000));
    const auto twice = transpose(once);
    set_thread_count(before);
    EXPECT_EQ(twice.start, sparse.start);
    EXPECT_EQ(twice.row, sparse.row);
    EXPECT_EQ(twice.value, sparse.value);
}

TEST(Sparse, TransposeOfRowsInAnyOrderIsTheTranspose) {
    SparseMatrix<double> sparse = to_columns(3000, 400, random_triplets(3000, 400, 600000, 6));
    const auto sorted = transpose(sparse);
    for (Index j = 0; j < sparse.cols; j += 3) {
        std::reverse(sparse.row.begin() + sparse.start[j], sparse.row.begin() + sparse.start[j + 1]);
        std::reverse(sparse.value.begin() + sparse.start[j], sparse.value.begin() + sparse.start[j + 1]);
    }
    const int before = thread_count();
    for (const int threads : {1, 4}) {
        set_thread_count(threads);
        const auto any_order = transpose(sparse);
        EXPECT_EQ(any_order.start, sorted.start) << threads;
        EXPECT_EQ(any_order.row, sorted.row) << threads;
        EXPECT_EQ(any_order.value, sorted.value) << threads;
    }
    set_thread_count(before);
}

TEST(Sparse, TransposeIsTheSameOnAnyNumberOfThreads) {
    const SparseMatrix<double> sparse = to_columns(5000, 700, random_triplets(5000, 700, 900000, 7));
    const int before = thread_count();
    set_thread_count(1);
    const auto alone = transpose(sparse);
    for (const int threads : {2, 3, 8}) {
        set_thread_count(threads);
        const auto together = transpose(sparse);
        EXPECT_EQ(together.start, alone.start) << threads;
        EXPECT_EQ(together.row, alone.row) << threads;
        EXPECT_EQ(together.value, alone.value) << threads;
    }
    set_thread_count(before);
    EXPECT_EQ(to_dense(alone), to_dense(sparse).transpose());
}

TEST(Sparse, StructureThatBreaksTheInvariantIsRejected) {
    const auto good = to_columns(4, 3, random_triplets(4, 3, 10, 2));
    auto row_too_large = good;
    row_too_large.row[0] = 4;
    EXPECT_THROW(check_structure(row_too_large), InputError);
    auto offsets_fall = good;
    offsets_fall.start[1] = offsets_fall.start[2] + 1;
    EXPECT_THROW(check_structure(offsets_fall), InputError);
    auto cut = good;
    cut.value.pop_back();
    EXPECT_THROW(check_structure(cut), InputError);
}

} // namespace
} // namespace pnmf
