#include "support/problems.hpp"

#include <pnmf/error.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/model/problem.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class CheckProblem : public testing::Test {
  protected:
    test::OwnedProblem<double> owned = test::random_problem<double>({.scales = 3}, {}, 0);
    Problem<double> problem = owned.problem();
    Factors<double> factors = test::random_factors(problem, 2, 1);

    void expect_refused(const char* words) const {
        EXPECT_THAT([&] { check_problem(problem); }, ThrowsMessage<InputError>(HasSubstr(words)));
    }
    void expect_factors_refused(const char* words) const {
        EXPECT_THAT([&] { check_factors(problem, factors); }, ThrowsMessage<InputError>(HasSubstr(words)));
    }
};

TEST_F(CheckProblem, AcceptsAGoodOne) {
    EXPECT_NO_THROW(check_problem(problem));
    EXPECT_NO_THROW(check_factors(problem, factors));
    problem.penalty = {0.0, 0.0, 0.0};
    EXPECT_NO_THROW(check_problem(problem));
}

TEST_F(CheckProblem, RefusesWeightsThatAreNegativeOrNoNumbers) {
    for (const double bad : {-1.0, nan, infinity}) {
        problem.penalty = {bad, 1.0, 1.0};
        expect_refused("lambda1 must be a finite number, at least 0");
        problem.penalty = {1.0, bad, 1.0};
        expect_refused("lambda2");
        problem.penalty = {1.0, 1.0, bad};
        expect_refused("lambda3");
    }
}

TEST_F(CheckProblem, RefusesScalesThatDoNotAscendFromAboveZero) {
    for (const std::vector<double>& bad :
         {std::vector<double>{2.0, 1.0}, {1.0, 1.0}, {0.0, 1.0}, {-1.0}, {nan}, {1.0, infinity}}) {
        problem.epsilon = bad;
        expect_refused("scales must be positive and ascend");
    }
    problem.epsilon.clear();
    expect_refused("at least one scale");
}

TEST_F(CheckProblem, AcceptsASingleGraphWithoutThreshold) {
    problem.epsilon = {no_threshold};
    EXPECT_NO_THROW(check_problem(problem));
}

TEST_F(CheckProblem, RefusesWeightsAndCouplingsOfScalesThatAreWrongOrTooFew) {
    problem.weight = {1.0, 2.0, 0.5};
    problem.smoothness = {0.0, 2.0};
    EXPECT_NO_THROW(check_problem(problem));
    problem.weight = {1.0, 2.0};
    expect_refused("there must be 3 weights of scales or none, got 2");
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        problem.weight = {1.0, bad, 1.0};
        expect_refused("the weight of a scale must be a finite number above 0");
    }
    problem.weight.clear();
    problem.smoothness = {1.0, 1.0, 1.0};
    expect_refused("there must be 2 couplings of neighbouring scales or none, got 3");
    for (const double bad : {-1.0, nan, infinity}) {
        problem.smoothness = {1.0, bad};
        expect_refused("the coupling of two scales must be a finite number, at least 0");
    }
}

/// Kept scales stand for all: their weights add up to those of all scales, and their smoothness term is that
/// of factors which change linearly from one kept scale to the next.
TEST(AtScales, HaveTheSmoothnessOfFactorsThatChangeLinearlyInBetween) {
    const auto all = test::random_problem<double>({.cells = 12, .scales = 9}, {0.0, 0.7, 0.0}, 2);
    const std::vector<Index> positions{0, 1, 4, 8};
    const Problem<double> kept = at_scales(all.problem(), positions);
    EXPECT_THAT(kept.weight, testing::Pointwise(testing::DoubleEq(), {1.0, 2.0, 3.5, 2.5}));
    EXPECT_EQ(kept.epsilon.back(), all.epsilon.back());
    const Factors<double> few = test::random_factors(kept, 2, 3);
    Factors<double> many;
    for (Index i = 0; i + 1 < 4; ++i) {
        const auto gap = static_cast<double>(positions[i + 1] - positions[i]);
        for (Index t = positions[i]; t < positions[i + 1]; ++t) {
            const double share = static_cast<double>(t - positions[i]) / gap;
            many.W.push_back(few.W[i]);
            many.H.push_back((1.0 - share) * few.H[i] + share * few.H[i + 1]);
        }
    }
    many.W.push_back(few.W[3]);
    many.H.push_back(few.H[3]);
    EXPECT_NEAR(objective(kept, few).smoothness, objective(all.problem(), many).smoothness, 1e-12);
    EXPECT_THAT(
        [&] {
            at_scales(all.problem(), {0, 4});
        },
        ThrowsMessage<InputError>(HasSubstr("with the first and the last of 9 among them")));
}

TEST(AtScales, GiveTheWeightOfAScaleLeftOutToTheKeptOnesAroundItTheNearerOneMore) {
    const auto all = test::random_problem<double>({.cells = 12, .scales = 4}, {1.0, 0.7, 0.1}, 2);
    Problem<double> problem = all.problem();
    problem.weight = {1.0, 6.0, 3.0, 1.0};
    problem.smoothness = {2.0, 1.0, 0.5};
    const Problem<double> kept = at_scales(problem, {0, 3});
    EXPECT_DOUBLE_EQ(kept.weight[0], 1.0 + 6.0 * 2.0 / 3.0 + 3.0 / 3.0);
    EXPECT_DOUBLE_EQ(kept.weight[1], 1.0 + 6.0 / 3.0 + 3.0 * 2.0 / 3.0);
    EXPECT_DOUBLE_EQ(kept.smoothness[0], 1.0 / (0.5 + 1.0 + 2.0));
    problem.smoothness = {2.0, 0.0, 0.5}; // a chain that is cut stays cut
    EXPECT_EQ(at_scales(problem, {0, 3}).smoothness[0], 0.0);
}

TEST(AtScales, OfScalesThatWereThinnedOnceAreThoseOfAll) {
    const auto all = test::random_problem<double>({.cells = 12, .scales = 9}, {1.0, 0.7, 0.1}, 2);
    const Problem<double> half = at_scales(all.problem(), {0, 2, 4, 6, 8});
    const Problem<double> twice = at_scales(half, {0, 2, 4});
    const Problem<double> once = at_scales(all.problem(), {0, 4, 8});
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(twice.weight[i], once.weight[i], 1e-14);
    }
    EXPECT_NEAR(twice.smoothness[0], once.smoothness[0], 1e-14);
    EXPECT_NEAR(twice.smoothness[1], once.smoothness[1], 1e-14);
}

TEST(AtEvenScales, AreThoseOfAtScalesDividedByTheStride) {
    const auto all = test::random_problem<double>({.cells = 12, .scales = 9}, {1.0, 0.7, 0.1}, 2);
    const Problem<double> even = at_even_scales(all.problem(), {0, 4, 8});
    const Problem<double> weighed = at_scales(all.problem(), {0, 4, 8});
    EXPECT_TRUE(even.even());
    EXPECT_NEAR(even.at(0).after, weighed.at(0).after / 4.0, 1e-15);
    EXPECT_NEAR(even.at(1).fit, weighed.at(1).fit / 4.0, 1e-15);
}

TEST_F(CheckProblem, RefusesAGraphOfOtherCells) {
    const auto other = test::random_problem<double>({.cells = 9, .scales = 2}, {}, 0);
    problem.graph = other.graph.get();
    expect_refused("the graph must have as many cells as X, 18, got 9");
}

TEST_F(CheckProblem, RefusesFactorsOfWrongShape) {
    factors.H[1].conservativeResize(2, 17);
    expect_factors_refused("H of scale 2 must be 2 x 18, got 2 x 17");
    factors = test::random_factors(problem, 2, 1);
    factors.W[2].conservativeResize(12, 3);
    expect_factors_refused("W of scale 3 must be 12 x 2, got 12 x 3");
    factors = test::random_factors(problem, 2, 1);
    factors.W.pop_back();
    expect_factors_refused("one W and one H for each of the 3 scales");
    factors = {};
    expect_factors_refused("one W and one H for each of the 3 scales");
    factors = test::random_factors(problem, 0, 1);
    expect_factors_refused("the rank must be at least 1");
}

TEST_F(CheckProblem, RefusesFactorsThatAreNegativeOrNoNumbers) {
    for (const double bad : {-1e-300, nan, infinity}) {
        factors = test::random_factors(problem, 2, 1);
        factors.H[0](1, 4) = bad;
        expect_factors_refused("at row 2, column 5");
        factors = test::random_factors(problem, 2, 1);
        factors.W[1](0, 1) = bad;
        expect_factors_refused("W of scale 2 must hold finite values, at least 0");
    }
}

} // namespace
} // namespace pnmf
