#include "linalg/decompositions.hpp"
#include "linalg/svd.hpp"
#include "support/clouds.hpp"
#include "support/problems.hpp"

#include <pnmf/error.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/solvers/initial.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

DataMatrix<double> start_data() {
    return DataMatrix<double>(test::noisy_product(14, 11, 1));
}

TEST(Nndsvd, TakesTheLeadingTripletOfThePositivePartOfEachTriplet) {
    const DataMatrix<double> X = start_data();
    const Pair<double> pair = seed_pair(X, 5, Seeding::nndsvd);
    const TruncatedSvd svd = truncated_svd(X, 5);
    for (Index k = 0; k < 5; ++k) {
        // Theorem of Boutsidis and Gallopoulos: of [σuvᵀ]₊, which has rank two at most.
        const Matrix positive = (svd.S[k] * svd.U.col(k) * svd.V.col(k).transpose()).cwiseMax(0.0);
        const TruncatedSvd leading = thin_svd(positive);
        const Matrix expected = leading.S[0] * leading.U.col(0) * leading.V.col(0).transpose();
        EXPECT_LT((pair.W.col(k) * pair.H.row(k) - expected).norm(), 1e-12 * svd.S[0]) << k;
        EXPECT_NEAR(pair.W.col(k).norm(), pair.H.row(k).norm(), 1e-12);
    }
    EXPECT_GE(pair.W.minCoeff(), 0.0);
    EXPECT_GE(pair.H.minCoeff(), 0.0);
}

TEST(Nndsvda, ReplacesZerosByTheMeanAndNothingElse) {
    const DataMatrix<double> X = start_data();
    const Pair<double> bare = seed_pair(X, 5, Seeding::nndsvd);
    const Pair<double> filled = seed_pair(X, 5, Seeding::nndsvda);
    Index zeros = 0;
    const auto expect_filled = [&](const Matrix& before, const Matrix& after) {
        for (Index j = 0; j < before.cols(); ++j) {
            for (Index i = 0; i < before.rows(); ++i) {
                zeros += before(i, j) < 1e-8 ? 1 : 0;
                EXPECT_EQ(after(i, j), before(i, j) < 1e-8 ? X.mean() : before(i, j));
            }
        }
    };
    expect_filled(bare.W, filled.W);
    expect_filled(bare.H, filled.H);
    EXPECT_GT(zeros, 10);
}

TEST(Nndsvdar, ReplacesZerosBySmallRandomNumbers) {
    const DataMatrix<double> X = start_data();
    const Pair<double> bare = seed_pair(X, 5, Seeding::nndsvd);
    const Pair<double> filled = seed_pair(X, 5, Seeding::nndsvdar, 3);
    EXPECT_GT((filled.W - bare.W).norm(), 0.0);
    EXPECT_LT((filled.W - bare.W).maxCoeff(), 0.01 * X.mean() + 1e-8);
    EXPECT_GE(filled.W.minCoeff(), 0.0);
    EXPECT_EQ(filled.W, seed_pair(X, 5, Seeding::nndsvdar, 3).W);
    EXPECT_NE(filled.W, seed_pair(X, 5, Seeding::nndsvdar, 4).W);
}

TEST(RandomSeeding, HasTheMeanOfTheDataAndFollowsTheSeed) {
    const DataMatrix<double> X(test::noisy_product(300, 200, 2));
    const Pair<double> pair = seed_pair(X, 6, Seeding::random, 1);
    EXPECT_NEAR((pair.W * pair.H).mean() / X.mean(), 1.0, 0.1);
    EXPECT_GE(pair.W.minCoeff(), 0.0);
    EXPECT_GE(pair.H.minCoeff(), 0.0);
    EXPECT_EQ(pair.H, seed_pair(X, 6, Seeding::random, 1).H);
    EXPECT_NE(pair.H, seed_pair(X, 6, Seeding::random, 2).H);
}

TEST(Seeding, IsTheSameForSparseDataAndRoundedInSinglePrecision) {
    const Matrix X = to_dense(test::sparse_cloud(30, 20, 0.3, 5));
    const Pair<double> dense = seed_pair(DataMatrix<double>(X), 4);
    const Pair<double> sparse = seed_pair(DataMatrix<double>(test::to_sparse(X)), 4);
    EXPECT_LT((dense.W - sparse.W).norm(), 1e-12 * dense.W.norm());
    const Pair<float> narrow = seed_pair(DataMatrix<float>(DenseMatrix<float>(X.cast<float>())), 4);
    EXPECT_LT((dense.H - narrow.H.cast<double>()).norm(), 1e-5 * dense.H.norm());
}

TEST(Seeding, OfMoreDirectionsThanTheDataHaveIsFinite) {
    const Matrix X = Vector::LinSpaced(6, 1.0, 2.0) * Vector::LinSpaced(5, 1.0, 3.0).transpose();
    for (const Seeding seeding : {Seeding::nndsvda, Seeding::nndsvd, Seeding::nndsvdar, Seeding::random}) {
        const Pair<double> pair = seed_pair(DataMatrix<double>(X), 4, seeding);
        EXPECT_TRUE(pair.W.allFinite() && pair.H.allFinite());
        EXPECT_GE(std::min(pair.W.minCoeff(), pair.H.minCoeff()), 0.0);
    }
}

TEST(Seeding, RefusesARankOutOfRange) {
    for (const Index rank : {-2, 0, 12}) {
        EXPECT_THROW(seed_pair(start_data(), rank), InputError) << rank;
        EXPECT_THROW(seed_pair(start_data(), rank, Seeding::random), InputError) << rank;
    }
}

TEST(MakeColumnsUnit, KeepsTheProduct) {
    Matrix W = test::uniform_cloud(9, 3, 1);
    Matrix H = test::uniform_cloud(3, 7, 2);
    W.col(1).setZero();
    const Matrix product = W * H;
    make_columns_unit(W, H);
    EXPECT_LT((W * H - product).norm(), 1e-14);
    EXPECT_LT((W.colwise().norm().array() - 1.0).abs().maxCoeff(), 1e-14);
    EXPECT_EQ(H.row(1).norm(), 0.0);
}

TEST(Starts, HaveTheShapeOfTheProblemAndUnitColumns) {
    for (const Index scales : {1, 2, 17}) {
        const auto owned = test::random_problem<double>({.cells = 24, .scales = scales}, {}, 4);
        const Problem<double> problem = owned.problem();
        const Pair<double> pair = seed_pair(*owned.X, 3);
        for (const auto& start :
             {broadcast_start(problem, pair), chained_start(problem, pair), nested_start(problem, pair)}) {
            EXPECT_NO_THROW(check_factors(problem, start));
            for (const Matrix& W : start.W) {
                EXPECT_LT((W.colwise().norm().array() - 1.0).abs().maxCoeff(), 1e-12);
            }
        }
    }
}

TEST(NestedStart, IsNearerToTheSolutionThanTheChainedOne) {
    const auto owned = test::random_problem<double>({.cells = 60, .scales = 50}, {1.0, 1.0, 0.1}, 6);
    const Problem<double> problem = owned.problem();
    const Pair<double> pair = seed_pair(*owned.X, 3);
    EXPECT_LT(objective(problem, nested_start(problem, pair)).total(),
              objective(problem, chained_start(problem, pair)).total());
}

TEST(NestedStart, IsNearerToTheSolutionWhereScalesCountUnlikeToo) {
    const auto owned = test::random_problem<double>({.cells = 60, .scales = 50}, {1.0, 1.0, 0.1}, 6);
    Problem<double> problem = owned.problem();
    for (Index t = 0; t < problem.scales(); ++t) {
        problem.weight.push_back(t % 7 == 0 ? 4.0 : 1.0);
    }
    for (Index t = 0; t + 1 < problem.scales(); ++t) {
        problem.smoothness.push_back(t % 5 == 0 ? 0.2 : 2.0);
    }
    const Pair<double> pair = seed_pair(*owned.X, 3);
    EXPECT_LT(objective(problem, nested_start(problem, pair)).total(),
              objective(problem, chained_start(problem, pair)).total());
}

TEST(NestedStart, IsRougherWhereTheToleranceIs) {
    const auto owned = test::random_problem<double>({.cells = 60, .scales = 50}, {1.0, 1.0, 0.1}, 6);
    const Problem<double> problem = owned.problem();
    const Pair<double> pair = seed_pair(*owned.X, 3);
    Index sweeps_fine = 0;
    Index sweeps_rough = 0;
    const auto counting = [](Index& sweeps) {
        return Observer{.starting = [&sweeps] { return ++sweeps > 0; }};
    };
    const auto fine = nested_start(problem, pair, {}, counting(sweeps_fine));
    const auto rough = nested_start(problem, pair, {.tolerance = 0.1}, counting(sweeps_rough));
    EXPECT_LT(sweeps_rough, sweeps_fine);
    EXPECT_LT(objective(problem, fine).total(), objective(problem, rough).total());
    // As rough as can be: chained over the 4 scales of the first level, one sweep there, none over 16 of 50.
    Index sweeps_roughest = 0;
    nested_start(problem, pair, {.tolerance = 100.0}, counting(sweeps_roughest));
    EXPECT_EQ(sweeps_roughest, 4 + 1);
}

} // namespace
} // namespace pnmf
