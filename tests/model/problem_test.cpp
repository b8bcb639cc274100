#include "support/problems.hpp"

#include <pnmf/error.hpp>
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
