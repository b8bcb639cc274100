#include "linalg/decompositions.hpp"
#include "support/clouds.hpp"

#include <pnmf/assess/programs.hpp>
#include <pnmf/parallel.hpp>

#include <gmock/gmock.h>

#include <cmath>

namespace pnmf {
namespace {

using testing::ElementsAre;

/// Mostly zeros, as expression is; a row of zeros and a row of equal values are among them.
Matrix expression(Index genes, Index cells) {
    Matrix X = (test::uniform_cloud(genes, cells, 3).array() - 0.6).cwiseMax(0.0);
    X.row(4).setZero();
    X.row(7).setConstant(0.3);
    return X;
}

Matrix usages(Index programs, Index cells) {
    return program_usages(test::uniform_cloud(11, programs, 5), test::uniform_cloud(programs, cells, 4));
}

SparseMatrix<double> sparse(const Matrix& X) {
    Triplets<double> entries;
    for (Index j = 0; j < X.cols(); ++j) {
        for (Index i = 0; i < X.rows(); ++i) {
            if (X(i, j) != 0.0) {
                entries.row.push_back(static_cast<std::int32_t>(i));
                entries.col.push_back(static_cast<std::int32_t>(j));
                entries.value.push_back(X(i, j));
            }
        }
    }
    return to_columns(X.rows(), X.cols(), entries);
}

/// The slow twin: z-scores as a matrix, least squares by an orthogonal decomposition.
Matrix scores_by_regression(const Matrix& X, const Matrix& U) {
    Matrix Z = X.colwise() - X.rowwise().mean();
    for (Index g = 0; g < Z.rows(); ++g) {
        const double deviation = Z.row(g).norm() / std::sqrt(static_cast<double>(Z.cols()));
        Z.row(g) *= deviation > 1e-8 ? 1.0 / deviation : 0.0;
    }
    const Matrix Ut = U.transpose();
    const TruncatedSvd svd = thin_svd(Ut);
    const double least = 1e-10 * svd.S[0];
    const Vector inverse = svd.S.unaryExpr([&](double s) { return s > least ? 1.0 / s : 0.0; });
    return (svd.V * inverse.asDiagonal() * svd.U.transpose() * Z.transpose()).transpose();
}

TEST(ProgramUsages, SumToOneAndDoNotDependOnTheScaleOfAComponent) {
    Matrix W = test::uniform_cloud(6, 3, 1);
    Matrix H = test::uniform_cloud(3, 10, 2);
    H.col(4).setZero();
    const Matrix U = program_usages(W, H);
    EXPECT_NEAR((U.colwise().sum().array() - 1.0).abs().sum(), 1.0, 1e-12); // the empty cell alone
    EXPECT_EQ(U.col(4), Vector::Zero(3));
    W.col(1) *= 8.0;
    H.row(1) /= 8.0;
    EXPECT_LT((program_usages(W, H) - U).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(ProgramScores, AreTheRegressionOfZScoresOnUsages) {
    const Matrix X = expression(40, 700);
    const Matrix U = usages(11, 700);
    const Matrix expected = scores_by_regression(X, U);
    EXPECT_GT(expected.cwiseAbs().maxCoeff(), 1.0);
    const Matrix of_dense = program_scores(DataMatrix<double>(X), U);
    const Matrix of_sparse = program_scores(DataMatrix<double>(sparse(X)), U);
    EXPECT_LT((of_dense - expected).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((of_sparse - expected).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_EQ(of_sparse.row(4), Matrix::Zero(1, 11));
    EXPECT_EQ(of_sparse.row(7), Matrix::Zero(1, 11));
    const Matrix of_floats = program_scores(DataMatrix<float>(DenseMatrix<float>(X.cast<float>())), U);
    EXPECT_LT((of_floats - expected).topRows(4).cwiseAbs().maxCoeff(), 1e-4);
}

TEST(ProgramScores, TakeTheShortestSolutionWhereProgramsDepend) {
    const Matrix X = expression(20, 200);
    Matrix U = usages(5, 200);
    U.row(3) = U.row(1); // the same program twice
    U.row(4).setZero();  // one that is not used
    const Matrix scores = program_scores(DataMatrix<double>(sparse(X)), U);
    EXPECT_LT((scores - scores_by_regression(X, U)).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT((scores.col(3) - scores.col(1)).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT(scores.col(4).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ProgramScores, DoNotDependOnTheNumberOfThreads) {
    const Matrix X = expression(300, 600);
    const Matrix U = usages(20, 600);
    const int threads = thread_count();
    set_thread_count(1);
    const Matrix dense = program_scores(DataMatrix<double>(X), U);
    const Matrix few = program_scores(DataMatrix<double>(sparse(X)), U);
    set_thread_count(3);
    EXPECT_EQ(program_scores(DataMatrix<double>(X), U), dense);
    EXPECT_EQ(program_scores(DataMatrix<double>(sparse(X)), U), few);
    set_thread_count(threads);
}

TEST(ProgramScores, PreferAMarkerToAGeneThatIsHighEverywhere) {
    // Two programs; gene 0 is high in all cells, a little higher in the first; gene 1 marks the first.
    const Index cells = 100;
    Matrix U = Matrix::Zero(2, cells);
    Matrix X = Matrix::Zero(2, cells);
    for (Index j = 0; j < cells; ++j) {
        const bool first = j < 20;
        U(first ? 0 : 1, j) = 1.0;
        X(0, j) = 10.0 + (j % 5) + (first ? 0.5 : 0.0);
        X(1, j) = first ? 1.0 + 0.1 * static_cast<double>(j % 3) : 0.0;
    }
    const Matrix scores = program_scores(DataMatrix<double>(X), U);
    EXPECT_GT(scores(1, 0), 5.0 * scores(0, 0));
    EXPECT_THAT(top_genes(scores.cast<float>(), 1), ElementsAre(ElementsAre(1), ElementsAre(0)));
}

/// Four orthogonal genes; components are given by their columns.
Matrix components(std::initializer_list<Vector> columns) {
    Matrix W(4, std::ssize(columns));
    Index k = 0;
    for (const Vector& column : columns) {
        W.col(k++) = column;
    }
    return W;
}

TEST(FollowPrograms, FindsThemAgainInAnyOrderAndSeesAMerge) {
    const Vector a{{1.0, 0.0, 0.0, 0.0}};
    const Vector b{{0.0, 1.0, 0.0, 0.0}};
    const Vector near_b{{0.0, 1.0, 0.9, 0.0}};
    const Vector c{{0.0, 0.0, 0.0, 1.0}};
    const Vector nothing = Vector::Zero(4);
    // At the last scale b lies near the path of near_b, which goes on; a changes places and stays.
    const std::vector<Matrix> bases{components({c, a, nothing}), components({a, b, near_b}),
                                    components({b, near_b, a}), components({near_b, a, nothing})};
    const auto paths = follow_programs(4, [&](Index t) { return bases[static_cast<std::size_t>(t)]; }, 1,
                                       {1.0, 2.0, 1.0, 4.0});
    ASSERT_EQ(paths.size(), 3U);
    EXPECT_EQ(paths[0].first, 0);
    EXPECT_EQ(paths[0].last, 3);
    EXPECT_DOUBLE_EQ(paths[0].persistence, 1.0);
    EXPECT_EQ(paths[0].merges_into, -1);
    EXPECT_EQ(paths[1].first, 1);
    EXPECT_EQ(paths[1].last, 2);
    EXPECT_DOUBLE_EQ(paths[1].persistence, 3.0 / 8.0);
    EXPECT_EQ(paths[1].merges_into, 2);
    EXPECT_EQ(paths[2].last, 3);
    EXPECT_DOUBLE_EQ(paths[2].persistence, 7.0 / 8.0);
}

TEST(FollowPrograms, OfOneScaleReachAllOfIt) {
    const auto paths = follow_programs(1, [](Index) { return test::uniform_cloud(5, 2, 1); }, 0, {1.0});
    ASSERT_EQ(paths.size(), 2U);
    EXPECT_DOUBLE_EQ(paths[1].persistence, 1.0);
}

TEST(DepthCorrelation, IsPearsonsAndZeroWithoutVariation) {
    Matrix U(3, 4);
    U << 0.1, 0.2, 0.3, 0.4, //
        0.5, 0.5, 0.5, 0.5,  //
        0.4, 0.3, 0.1, 0.2;
    const std::vector<double> r = depth_correlation(U, {10.0, 20.0, 30.0, 40.0});
    EXPECT_NEAR(r[0], 1.0, 1e-12);
    EXPECT_EQ(r[1], 0.0);
    EXPECT_NEAR(r[2], -0.8, 1e-12);
}

TEST(VarianceBetween, IsAllOfItForAProgramOfOneClusterAndNoneForOneOfAllAlike) {
    Matrix U(4, 6);
    U.row(0) << 1, 1, 0, 0, 0, 0;
    U.row(1).setConstant(0.2);
    U.row(2) << 0, 1, 0, 1, 0, 1;
    U.row(3) << 1, 2, 3, 4, 5, 6;
    const Vector found = variance_between(U, {0, 0, 1, 1, 2, 2});
    EXPECT_NEAR(found[0], 1.0, 1e-14);
    EXPECT_EQ(found[1], 0.0);
    EXPECT_NEAR(found[2], 0.0, 1e-14);
    EXPECT_NEAR(found[3], 16.0 / 17.5, 1e-14) << "means 1.5, 3.5, 5.5";
    EXPECT_NEAR(variance_between(U, {0, 0, 0, 0, 0, 0})[0], 0.0, 1e-14) << "one cluster";
    EXPECT_NEAR(variance_between(U, {2, 2, 0, 0, 1, 1})[3], found[3], 1e-14) << "other numbers";
}

TEST(OrderOfPrograms, HasThoseFirstThatPersistAndMarkClusters) {
    const std::vector<double> persistence{1.0, 1.0, 0.1, 0.5, 0.5};
    const std::vector<double> between{0.1, 0.9, 0.9, 0.6, 0.6};
    EXPECT_THAT(order_of_programs(persistence, between, {0.5, 0.1, 0.2, 0.05, 0.15}),
                ElementsAre(1, 4, 3, 0, 2));
}

} // namespace
} // namespace pnmf
