#include "support/problems.hpp"

#include <pnmf/model/objective.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

using test::OwnedProblem;

/// eq. (pnmf_model) as it is written, with X, WH and L written out; scales count `weight` times, neighbours
/// are coupled by `smoothness`.
Objective naive_objective(const OwnedProblem<double>& owned, const Factors<double>& factors,
                          const std::vector<double>& weight, const std::vector<double>& smoothness) {
    const Matrix X = owned.values();
    Objective sum;
    for (Index t = 0; t < factors.scales(); ++t) {
        const Matrix A = owned.graph->at(owned.epsilon[t])->adjacency();
        const Matrix L = Matrix(A.rowwise().sum().asDiagonal()) - A;
        const Matrix& H = factors.H[t];
        sum.fit += weight[t] * (X - factors.W[t] * H).squaredNorm();
        sum.graph += weight[t] * owned.penalty.graph * (H * L * H.transpose()).trace();
        sum.anchor += weight[t] * owned.penalty.anchor * H.squaredNorm();
        if (t > 0) {
            sum.smoothness += smoothness[t - 1] * (H - factors.H[t - 1]).squaredNorm();
        }
    }
    return sum;
}

void expect_same(const Objective& found, const Objective& expected) {
    const double slack = 1e-12 * expected.total();
    EXPECT_NEAR(found.fit, expected.fit, slack);
    EXPECT_NEAR(found.graph, expected.graph, slack);
    EXPECT_NEAR(found.smoothness, expected.smoothness, slack);
    EXPECT_NEAR(found.anchor, expected.anchor, slack);
}

TEST(Objective, HasTheTermsOfTheFormulaWrittenOut) {
    for (const bool sparse : {false, true}) {
        for (const Index scales : {1, 2, 5}) {
            for (std::uint64_t seed = 0; seed < 4; ++seed) {
                const auto owned =
                    test::random_problem<double>({.scales = scales, .sparse = sparse}, {2.0, 0.7, 0.3}, seed);
                const auto factors = test::random_factors(owned.problem(), 4, seed + 50);
                const Objective found = objective(owned.problem(), factors);
                const std::vector<double> ones(static_cast<std::size_t>(scales), 1.0);
                const std::vector<double> lambda2(static_cast<std::size_t>(scales), 0.7);
                expect_same(found, naive_objective(owned, factors, ones, lambda2));
                EXPECT_GT(found.graph, 0.0);
                EXPECT_EQ(found.smoothness > 0.0, scales > 1);
            }
        }
    }
}

TEST(Objective, CountsScalesByTheirWeightsAndCouplesNeighboursOneByOne) {
    for (const bool sparse : {false, true}) {
        const auto owned = test::random_problem<double>({.scales = 4, .sparse = sparse}, {2.0, 0.7, 0.3}, 5);
        Problem<double> problem = owned.problem();
        problem.weight = {1.0, 2.5, 0.25, 40.0};
        problem.smoothness = {3.0, 0.0, 0.2};
        const auto factors = test::random_factors(problem, 4, 6);
        const Objective expected = naive_objective(owned, factors, problem.weight, problem.smoothness);
        expect_same(objective(problem, factors), expected);
        expect_same(evaluate(problem, factors, BasisForm::free).objective, expected);
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

void expect_half_slopes(const Problem<double>& problem) {
    Factors<double> factors = test::random_factors(problem, 2, 2);
    for (Index t = 0; t < 3; ++t) {
        Matrix& W = factors.W[t];
        Matrix& H = factors.H[t];
        const auto products = scale_products(problem, t, W, H);
        const Matrix in_H = half_gradient_H(problem.at(t), products, H, t > 0 ? &factors.H[t - 1] : nullptr,
                                            t < 2 ? &factors.H[t + 1] : nullptr);
        const Matrix in_W =
            problem.at(t).fit * half_gradient_W(W, problem.X->times_transposed(H), gram_of_rows(H));
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

TEST(HalfGradient, IsHalfTheSlopeOfTheObjective) {
    const auto owned =
        test::random_problem<double>({.features = 6, .cells = 7, .scales = 3}, {2.0, 0.7, 0.3}, 1);
    Problem<double> problem = owned.problem();
    expect_half_slopes(problem);
    problem.weight = {0.5, 3.0, 7.0};
    problem.smoothness = {0.1, 4.0};
    expect_half_slopes(problem);
}

/// With its scales counted `weight` times and all terms multiplied by it, a problem is the same problem.
TEST(KktResidual, OfAScaleIsTheSameHoweverOftenAllScalesCount) {
    const auto owned = test::random_problem<double>({.scales = 3}, {2.0, 0.7, 0.3}, 3);
    Problem<double> problem = owned.problem();
    const auto factors = test::random_factors(problem, 3, 4);
    const auto once = kkt_residuals(problem, factors, BasisForm::unit_columns);
    problem.weight = {5.0, 5.0, 5.0};
    problem.smoothness = {3.5, 3.5};
    const auto often = kkt_residuals(problem, factors, BasisForm::unit_columns);
    for (std::size_t t = 0; t < 3; ++t) {
        EXPECT_NEAR(often[t].H.ratio(), once[t].H.ratio(), 1e-12);
        EXPECT_NEAR(often[t].W.ratio(), once[t].W.ratio(), 1e-12);
        EXPECT_NEAR(often[t].H.moved, 5.0 * once[t].H.moved, 1e-11 * often[t].H.moved);
        EXPECT_NEAR(often[t].W.size, 5.0 * once[t].W.size, 1e-11 * often[t].W.size);
    }
}

} // namespace
} // namespace pnmf
