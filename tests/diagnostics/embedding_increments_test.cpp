#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/error.hpp>

#include "support/clouds.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

/// Orthonormal rows, moved a little from scale to scale.
std::vector<Matrix> embeddings(Index scales) {
    std::vector<Matrix> H;
    for (Index t = 0; t < scales; ++t) {
        Matrix one = Matrix::Zero(2, 6);
        one.row(0).head(3).setConstant(1.0 + 0.01 * static_cast<double>(t * t));
        one.row(1).tail(3).setConstant(1.0);
        H.push_back(one);
    }
    return H;
}

TEST(GramNorm, IsTheNormOfTheGramMatrixForDenseAndSparseData) {
    const Matrix X = test::uniform_cloud(7, 300, 1).cwiseMax(0.5).array() - 0.5;
    const double wanted = (X.transpose() * X).norm();
    EXPECT_NEAR(gram_norm(DataMatrix<double>(X)), wanted, 1e-12 * wanted);
    EXPECT_NEAR(gram_norm(DataMatrix<double>(test::to_sparse(X))), wanted, 1e-12 * wanted);
}

TEST(IncrementConstants, AreTheFormulasOfTheTheorem) {
    const auto H = embeddings(5);
    const std::vector<double> dL{1.0, 2.0, 0.5, 4.0};
    const Penalty penalty{.graph = 2.0, .smoothness = 3.0, .anchor = 1e4};
    const auto found = embedding_increments(
        5, [&](Index t) { return H[t]; }, dL, 1.25, penalty);
    const auto& c = found.constants;
    EXPECT_DOUBLE_EQ(c.C_H, H.back().norm());
    EXPECT_NEAR(c.l, 3.0, 1e-13); // the smaller squared row norm, of every scale but those with longer rows
    EXPECT_DOUBLE_EQ(c.C1, 1.0 / c.l + 2.0 * c.C_H * c.C_H / (c.l * c.l));
    EXPECT_DOUBLE_EQ(c.C2, c.C1 * c.C_H + c.C_H / c.l);
    EXPECT_DOUBLE_EQ(c.C, (c.C1 * 2.0 + c.C2 * c.C_H / c.l) * 1.25); // √(6 − 2) = 2
    ASSERT_TRUE(c.assumption);
    EXPECT_DOUBLE_EQ(c.a, 2.0 * c.C_H / (6.0 + 1e4 - c.C));
    EXPECT_DOUBLE_EQ(c.b, 3.0 / (6.0 + 1e4 - c.C));
    EXPECT_NEAR(c.b * c.rho * c.rho - c.rho + c.b, 0.0, 1e-15); // ρ solves b r² − r + b = 0
    EXPECT_DOUBLE_EQ(found.uniform, 2.0 * c.C_H / (1e4 - c.C) * 4.0);
    EXPECT_NEAR(found.zeros, 0.5, 1e-15);
    EXPECT_NEAR(found.increment[1], std::sqrt(3.0) * 0.03, 1e-12);
}

TEST(PointwiseBound, SolvesTheRecursionOfItsProofUpToTheEnds) {
    const auto H = embeddings(60);
    std::vector<double> dL(59, 0.0);
    dL[30] = 1.0; // far from both ends, so that the chain is as good as infinite
    const Penalty penalty{.graph = 2.0, .smoothness = 1e12, .anchor = 1e12};
    const auto found = embedding_increments(
        60, [&](Index t) { return H[t]; }, dL, 1.0, penalty);
    ASSERT_TRUE(found.constants.assumption);
    const auto& v = found.pointwise;
    for (std::size_t t = 20; t <= 40; ++t) {
        const double left = v[t] - found.constants.b * (v[t - 1] + v[t + 1]);
        EXPECT_NEAR(left, found.constants.a * dL[t], 1e-9 * found.constants.a);
    }
}

TEST(Increments, BoundsAreNotClaimedWhereTheAnchorIsWeakerThanC) {
    const auto H = embeddings(4);
    const Penalty penalty{.graph = 1.0, .smoothness = 1.0, .anchor = 1.0};
    const auto found = embedding_increments(
        4, [&](Index t) { return H[t]; }, {1.0, 1.0, 1.0}, 5.0, penalty);
    EXPECT_FALSE(found.constants.assumption);
    EXPECT_TRUE(std::isnan(found.uniform));
    const Findings said = findings(found, penalty, 0.1);
    EXPECT_EQ(said[0].verdict, Verdict::fails);
    for (std::size_t i = 1; i < said.size(); ++i) {
        EXPECT_EQ(said[i].verdict, Verdict::vacuous) << said[i].what;
    }
    EXPECT_THROW(embedding_increments(
                     4, [&](Index t) { return H[t]; }, {1.0}, 5.0, penalty),
                 InputError);
}

TEST(ResidualChanges, AreTheNormsOfTheDifferencesWrittenOut) {
    const Matrix X = test::uniform_cloud(5, 6, 2);
    const auto H = embeddings(3);
    std::vector<Matrix> W;
    for (std::uint64_t t = 0; t < 3; ++t) {
        W.push_back(test::uniform_cloud(5, 2, t));
    }
    const auto found = residual_changes(
        DataMatrix<double>(X), 3, [&](Index t) { return H[t]; }, [&](Index t) { return W[t]; });
    for (std::size_t t = 1; t < 3; ++t) {
        const Matrix R = W[t].transpose() * (W[t] * H[t] - X);
        const Matrix before = W[t - 1].transpose() * (W[t - 1] * H[t - 1] - X);
        EXPECT_NEAR(found[t - 1], (R - before).norm(), 1e-12);
    }
}

} // namespace
} // namespace pnmf
