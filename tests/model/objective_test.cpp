#include "support/problems.hpp"

#include <pnmf/model/kkt.hpp>
#include <pnmf/model/objective.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

using test::OwnedProblem;

/// eq. (pnmf_model) as it is written, with X, WH and L written out.
Objective naive_objective(const OwnedProblem<double>& owned, const Factors<double>& factors) {
    const Matrix X = owned.values();
    Objective sum;
    for (Index t = 0; t < factors.scales(); ++t) {
        const Matrix A = owned.graph->at(owned.epsilon[t])->adjacency();
        const Matrix L = Matrix(A.rowwise().sum().asDiagonal()) - A;
        const Matrix& H = factors.H[t];
        sum.fit += (X - factors.W[t] * H).squaredNorm();
        sum.graph += owned.penalty.graph * (H * L * H.transpose()).trace();
        sum.anchor += owned.penalty.anchor * H.squaredNorm();
        if (t > 0) {
            sum.smoothness += owned.penalty.smoothness * (H - factors.H[t - 1]).squaredNorm();
        }
    }
    return sum;
}

TEST(Objective, HasTheTermsOfTheFormulaWrittenOut) {
    for (const bool sparse : {false, true}) {
        for (const Index scales : {1, 2, 5}) {
            for (std::uint64_t seed = 0; seed < 4; ++seed) {
                const auto owned =
                    test::random_problem<double>({.scales = scales, .sparse = sparse}, {2.0, 0.7, 0.3}, seed);
                const auto factors = test::random_factors(owned.problem(), 4, seed + 50);
                const Objective found = objective(owned.problem(), factors);
                const Objective expected = naive_objective(owned, factors);
                const double slack = 1e-12 * expected.total();
                EXPECT_NEAR(found.fit, expected.fit, slack);
                EXPECT_NEAR(found.graph, expected.graph, slack);
                EXPECT_NEAR(found.smoothness, expected.smoothness, slack);
                EXPECT_NEAR(found.anchor, expected.anchor, slack);
                EXPECT_GT(found.graph, 0.0);
                EXPECT_EQ(found.smoothness > 0.0, scales > 1);
            }
        }
    }
}

TEST(Objective, OfSinglePrecisionIsThatOfDoublePrecisionRounded) {
    const auto wide = test::random_problem<double>({}, {}, 3);
    const auto narrow = test::random_problem<float>({}, {}, 3);
    const double expected = objective(wide.problem(), test::random_factors(wide.problem(), 4, 9)).total();
    const double found = objective(narrow.problem(), test::random_factors(narrow.problem(), 4, 9)).total();
    EXPECT_NEAR(found / expected, 1.0, 1e-5);
}

/// The objective is quadratic in each entry, so central differences are exact but for rounding.
double half_slope(const Problem<double>& problem, Factors<double>& factors, double& entry) {
    constexpr double step = 1e-2;
    const double value = entry;
    entry = value + step;
    const double above = objective(problem, factors).total();
    entry = value - step;
    const double below = objective(problem, factors).total();
    entry = value;
    return (above - below) / (4.0 * step);
}

TEST(HalfGradient, IsHalfTheSlopeOfTheObjective) {
    const auto owned =
        test::random_problem<double>({.features = 6, .cells = 7, .scales = 3}, {2.0, 0.7, 0.3}, 1);
    const Problem<double> problem = owned.problem();
    Factors<double> factors = test::random_factors(problem, 2, 2);
    for (Index t = 0; t < 3; ++t) {
        Matrix& W = factors.W[t];
        Matrix& H = factors.H[t];
        const auto products = scale_products(problem, t, W, H);
        const Matrix in_H = half_gradient_H(problem.penalty, products, H, t > 0 ? &factors.H[t - 1] : nullptr,
                                            t < 2 ? &factors.H[t + 1] : nullptr);
        const Matrix in_W = half_gradient_W(W, problem.X->times_transposed(H), gram_of_rows(H));
        for (Index j = 0; j < H.cols(); ++j) {
            for (Index k = 0; k < H.rows(); ++k) {
                EXPECT_NEAR(in_H(k, j), half_slope(problem, factors, H(k, j)), 1e-9);
            }
        }
        for (Index k = 0; k < W.cols(); ++k) {
            for (Index i = 0; i < W.rows(); ++i) {
                EXPECT_NEAR(in_W(i, k), half_slope(problem, factors, W(i, k)), 1e-9);
            }
        }
    }
}

} // namespace
} // namespace pnmf
