#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

/// W·H with W, H sparse and random, and noise.
Matrix low_rank(Index p, Index n, Index rank, double noise) {
    Random random(4);
    const auto sparse = [&] { return random.uniform() < 0.4 ? random.uniform() : 0.0; };
    const Matrix W = Matrix::NullaryExpr(p, rank, sparse);
    const Matrix H = Matrix::NullaryExpr(rank, n, sparse);
    const Matrix E = Matrix::NullaryExpr(p, n, [&] { return noise * random.uniform(); });
    return W * H + E;
}

TEST(ChooseRank, FindsTheRankOfAProductWithNoise) {
    const RankCurve curve = choose_rank(low_rank(60, 150, 4, 0.05), {.ranks = {1, 2, 3, 4, 5, 6, 8}});
    EXPECT_GE(curve.chosen, 4);
    EXPECT_LE(curve.chosen, 5);
    EXPECT_GT(curve.error[0], 2.0 * curve.error[3]);
}

TEST(ChooseRank, IsTheSameForDenseAndSparseDataAndEachSeed) {
    const Matrix X = low_rank(20, 40, 3, 0.1);
    Triplets<double> entries;
    for (Index j = 0; j < X.cols(); ++j) {
        for (Index i = 0; i < X.rows(); ++i) {
            entries.row.push_back(static_cast<std::int32_t>(i));
            entries.col.push_back(static_cast<std::int32_t>(j));
            entries.value.push_back(X(i, j));
        }
    }
    const RankCurve dense = choose_rank(X);
    const RankCurve sparse = choose_rank(to_columns(X.rows(), X.cols(), entries));
    ASSERT_EQ(dense.ranks, sparse.ranks);
    for (std::size_t i = 0; i < dense.error.size(); ++i) {
        EXPECT_NEAR(dense.error[i], sparse.error[i], 1e-3);
    }
    EXPECT_EQ(choose_rank(X).error, dense.error);
}

TEST(ChooseRank, CandidatesAscendToTheSquareRootOfTheCells) {
    const std::vector<Index> ranks = rank_candidates(1000, 900);
    EXPECT_EQ(ranks.front(), 2);
    EXPECT_EQ(ranks.back(), 30);
    EXPECT_TRUE(std::is_sorted(ranks.begin(), ranks.end(), std::less_equal<>()));
    EXPECT_EQ(rank_candidates(2, 2), std::vector<Index>{1});
}

TEST(ChooseRank, RejectsWhatCannotBe) {
    EXPECT_THROW(choose_rank(Matrix(Matrix::Ones(3, 10))), InputError);
    EXPECT_THROW(choose_rank(Matrix(Matrix::Ones(10, 10)), {.held_out = 0.0}), InputError);
    EXPECT_THROW(choose_rank(Matrix(Matrix::Ones(10, 10)), {.repeats = 0}), InputError);
}

} // namespace
} // namespace pnmf
