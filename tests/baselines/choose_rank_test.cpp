#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

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

/// As many threads as asked for, and as before when it ends.
class ThreadsHere {
  public:
    explicit ThreadsHere(int threads) : before_(thread_count()) { set_thread_count(threads); }
    ~ThreadsHere() { set_thread_count(before_); }
    ThreadsHere(const ThreadsHere&) = delete;
    ThreadsHere& operator=(const ThreadsHere&) = delete;

  private:
    int before_;
};

TEST(ChooseRank, FindsTheRankOfAProductWithNoise) {
    const RankCurve curve = choose_rank(low_rank(60, 150, 4, 0.05), {.ranks = {1, 2, 3, 4, 5, 6, 8}});
    EXPECT_GE(curve.by_error, 4);
    EXPECT_LE(curve.by_error, 5);
    EXPECT_GT(curve.error[0], 2.0 * curve.error[3]);
    EXPECT_EQ(curve.chosen, curve.by_error);
    // The mean of the noise is a fifth program, the same in every cell.
    EXPECT_GE(curve.by_stability, 4);
    EXPECT_LE(curve.by_stability, 5);
}

TEST(ChooseRank, ProgramsThatAreThereAreStableAndThoseBeyondAreNot) {
    const Matrix X = low_rank(60, 150, 4, 0.05);
    const RankCurve curve = choose_rank(X, {.ranks = {4, 8}, .rule = RankRule::stability});
    EXPECT_GT(curve.stability[0], 0.9);
    EXPECT_LT(curve.stability[1], curve.stability[0] - 0.1);
    EXPECT_EQ(curve.chosen, 4);
    ASSERT_EQ(curve.programs.size(), 2U);
    EXPECT_EQ(curve.programs[0].W.rows(), 60);
    EXPECT_EQ(curve.programs[0].count(), 4);
    EXPECT_EQ(curve.programs[0].copies.size(), 10U);
    EXPECT_LT(curve.consensus_error[0], 0.01);
}

TEST(ChooseRank, IsTheSameForDenseAndSparseData) {
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
}

TEST(ChooseRank, NeitherThreadsNorTheirOrderChangeABit) {
    const Matrix X = low_rank(20, 40, 3, 0.1);
    const RankOptions options{.ranks = {2, 3, 5}, .restarts = 4};
    RankCurve alone;
    {
        const ThreadsHere one(1);
        alone = choose_rank(X, options);
    }
    const ThreadsHere three(3);
    const RankCurve together = choose_rank(X, options);
    EXPECT_EQ(together.error, alone.error);
    EXPECT_EQ(together.deviation, alone.deviation);
    EXPECT_EQ(together.stability, alone.stability);
    EXPECT_EQ(together.consensus_error, alone.consensus_error);
    for (std::size_t i = 0; i < alone.programs.size(); ++i) {
        EXPECT_EQ(together.programs[i].W, alone.programs[i].W);
    }
    RankOptions other = options;
    other.seed = 1;
    EXPECT_NE(choose_rank(X, other).error, alone.error);
}

TEST(ChooseRank, ARankHasTheSameNumbersWhateverElseIsTried) {
    const Matrix X = low_rank(20, 40, 3, 0.1);
    const RankCurve some = choose_rank(X, {.ranks = {2, 3, 5}, .restarts = 3});
    const RankCurve one = choose_rank(X, {.ranks = {3}, .restarts = 3});
    EXPECT_EQ(one.error[0], some.error[1]);
    EXPECT_EQ(one.stability[0], some.stability[1]);
}

TEST(ChooseRank, IsStoppedByItsObserverWhichSeesEveryFit) {
    const Matrix X = low_rank(20, 40, 3, 0.1);
    Index last = 0;
    const RankOptions options{.ranks = {2, 3}, .restarts = 3};
    choose_rank(X, options, [&](const RankProgress& report) {
        EXPECT_GE(report.done, last);
        EXPECT_EQ(report.all, 6);
        last = report.done;
        return true;
    });
    EXPECT_EQ(last, 6);
    EXPECT_THROW(choose_rank(X, options, [](const RankProgress& report) { return report.done < 2; }),
                 Interrupted);
    EXPECT_THROW(choose_rank(X, options, [](const RankProgress&) { return false; }), Interrupted);
}

TEST(ChooseRank, CandidatesAscendToTheSquareRootOfTheCells) {
    const std::vector<Index> ranks = rank_candidates(1000, 900);
    EXPECT_EQ(ranks.front(), 2);
    EXPECT_EQ(ranks.back(), 30);
    EXPECT_TRUE(std::is_sorted(ranks.begin(), ranks.end(), std::less_equal<>()));
    EXPECT_EQ(rank_candidates(2, 2), std::vector<Index>{1});
}

TEST(ChooseRank, RejectsWhatCannotBe) {
    const Matrix X = Matrix::Ones(10, 10);
    EXPECT_THROW(choose_rank(Matrix(Matrix::Ones(3, 10))), InputError);
    EXPECT_THROW(choose_rank(X, {.held_out = 0.0}), InputError);
    EXPECT_THROW(choose_rank(X, {.held_out = 1.0}), InputError);
    EXPECT_THROW(choose_rank(X, {.restarts = 1}), InputError);
    EXPECT_THROW(choose_rank(X, {.ranks = {0, 2}}), InputError);
    EXPECT_THROW(choose_rank(X, {.ranks = {9}}), InputError); // a restart sees 8 of the 10 cells
    EXPECT_THROW(choose_rank(X, {.ranks = {3, 3}}), InputError);
    EXPECT_THROW(choose_rank(Matrix(-X)), InputError);
}

TEST(ChooseRank, TakesDataWithoutAnyDifference) {
    const RankCurve curve = choose_rank(Matrix(Matrix::Zero(8, 8)), {.ranks = {1, 2}, .restarts = 2});
    EXPECT_EQ(curve.chosen, 1);
    EXPECT_EQ(curve.error[0], 0.0);
}

} // namespace
} // namespace pnmf
