#include "support/problems.hpp"

#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace pnmf {
namespace {

constexpr double rounding = 1e-10;

/// Runs Algorithm 1 and asserts at every inner step and every sweep that the objective did not rise.
void expect_monotone(const Problem<double>& problem, Factors<double> start) {
    const SolverOptions options{.algorithm = Algorithm::paper, .tolerance = 0.0, .max_sweeps = 5};
    auto state = start_solver(problem, options, std::move(start));
    double last = state.trace.front().total();
    Index steps = 0;
    const Observer observer{.sweep = {}, .step = [&](const StepReport& report) {
                                EXPECT_LE(report.objective, last * (1.0 + rounding))
                                    << "sweep " << report.sweep << ", scale " << report.scale << ", step "
                                    << report.step;
                                last = report.objective;
                                ++steps;
                            }};
    run_solver(problem, options, state, observer);
    for (std::size_t s = 1; s < state.trace.size(); ++s) {
        EXPECT_LE(state.trace[s].total(), state.trace[s - 1].total() * (1.0 + rounding));
    }
    EXPECT_GE(steps, problem.scales());
    EXPECT_NEAR(last / state.trace.back().total(), 1.0, 1e-9); // steps are reported as the objective has them
    for (Index t = 0; t < problem.scales(); ++t) {
        EXPECT_GE(std::min(state.current.W[t].minCoeff(), state.current.H[t].minCoeff()), 0.0);
    }
}

TEST(Paper, NeverRaisesTheObjectiveInAnyInnerStep) {
    std::uint64_t seed = 0;
    for (const Penalty& penalty : test::all_penalties()) {
        for (const Index scales : {1, 2, 6}) {
            ++seed;
            const auto owned =
                test::random_problem<double>({.scales = scales, .sparse = seed % 3 == 0}, penalty, seed);
            expect_monotone(owned.problem(), test::random_factors(owned.problem(), 3, seed + 100));
        }
    }
}

TEST(Paper, NeverRaisesTheObjectiveWhereScalesCountUnlike) {
    const auto owned = test::random_problem<double>({.scales = 4}, {1.0, 1.0, 0.1}, 31);
    Problem<double> problem = owned.problem();
    problem.weight = {1.0, 6.0, 0.3, 2.0};
    problem.smoothness = {0.1, 5.0, 1.0};
    expect_monotone(problem, test::random_factors(problem, 3, 32));
}

TEST(Paper, NeverRaisesTheObjectiveFromTheChainedStart) {
    const auto owned = test::random_problem<double>({.cells = 30, .scales = 6}, {100.0, 100.0, 1.0}, 2);
    expect_monotone(owned.problem(), chained_start(owned.problem(), seed_pair(*owned.X, 3)));
}

TEST(Paper, StopsWhenASweepLowersTheObjectiveByLessThanTheTolerance) {
    const auto owned = test::random_problem<double>({}, {}, 1);
    const SolverOptions options{.algorithm = Algorithm::paper, .tolerance = 1e-3};
    auto state = start_solver(owned.problem(), options, test::random_factors(owned.problem(), 3, 2));
    EXPECT_EQ(run_solver(owned.problem(), options, state), Stop::converged);
    const std::size_t sweeps = state.trace.size() - 1;
    ASSERT_GE(sweeps, 2U);
    const auto decrease = [&](std::size_t s) {
        return 1.0 - state.trace[s].total() / state.trace[s - 1].total();
    };
    EXPECT_LE(decrease(sweeps), 1e-3);
    EXPECT_GT(decrease(sweeps - 1), 1e-3);
    EXPECT_EQ(state.inner_steps.size(), sweeps * static_cast<std::size_t>(owned.problem().scales()));
}

TEST(NormalizeColumnSums, KeepsEveryProductAndMakesColumnsSumToOne) {
    const auto owned = test::random_problem<double>({}, {}, 7);
    Factors<double> factors = test::random_factors(owned.problem(), 3, 8);
    factors.W[1].col(2).setZero();
    const Factors<double> before = factors;
    normalize_column_sums(factors);
    for (Index t = 0; t < factors.scales(); ++t) {
        EXPECT_LT((factors.W[t] * factors.H[t] - before.W[t] * before.H[t]).norm(), 1e-13);
        for (Index k = 0; k < factors.rank(); ++k) {
            EXPECT_NEAR(factors.W[t].col(k).sum(), t == 1 && k == 2 ? 0.0 : 1.0, 1e-14);
        }
    }
}

} // namespace
} // namespace pnmf
