#include "support/lent_threads.hpp"
#include "support/problems.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/solver.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

namespace pnmf {
namespace {

/// What every algorithm owes, whatever it does in a sweep.
class EveryAlgorithm : public testing::TestWithParam<Algorithm> {
  protected:
    SolverOptions options(Index sweeps) const {
        return {.algorithm = GetParam(), .tolerance = 0.0, .max_sweeps = sweeps};
    }

    test::OwnedProblem<double> owned = test::random_problem<double>({.cells = 40, .scales = 5}, {}, 1);
    Problem<double> problem = owned.problem();
    Factors<double> start = test::random_factors(problem, 3, 2);
};

void expect_same_bits(const SolverState<double>& a, const SolverState<double>& b) {
    ASSERT_EQ(a.trace.size(), b.trace.size());
    for (std::size_t s = 0; s < a.trace.size(); ++s) {
        EXPECT_EQ(a.trace[s].total(), b.trace[s].total()) << "sweep " << s;
    }
    EXPECT_EQ(a.inner_steps, b.inner_steps);
    for (std::size_t t = 0; t < a.current.H.size(); ++t) {
        EXPECT_EQ(a.current.W[t], b.current.W[t]);
        EXPECT_EQ(a.current.H[t], b.current.H[t]);
    }
}

TEST_P(EveryAlgorithm, StoppedAndResumedGivesTheBitsOfOneRun) {
    auto whole = start_solver(problem, options(7), start);
    EXPECT_EQ(run_solver(problem, options(7), whole), Stop::sweep_limit);
    auto first = start_solver(problem, options(3), start);
    run_solver(problem, options(3), first);
    ASSERT_EQ(first.trace.size(), 4U);
    SolverState<double> second = first;
    first = {};
    run_solver(problem, options(7), second);
    expect_same_bits(whole, second);
}

TEST_P(EveryAlgorithm, GivesTheSameBitsWithAnyNumberOfThreadsOwnOrLent) {
    const int threads = thread_count();
    std::vector<SolverState<double>> states;
    for (const int count : {1, 2, 4}) {
        set_thread_count(count);
        states.push_back(start_solver(problem, options(4), start));
        run_solver(problem, options(4), states.back());
    }
    const test::LentThreads lent(2); // the caller's own, for the last one
    states.push_back(start_solver(problem, options(4), start));
    run_solver(problem, options(4), states.back());
    set_thread_count(threads);
    for (std::size_t s = 1; s < states.size(); ++s) {
        expect_same_bits(states[0], states[s]);
    }
}

TEST_P(EveryAlgorithm, StopsWhenTheObserverSaysSo) {
    auto state = start_solver(problem, options(50), start);
    const auto sweep = [](const SweepReport& report) { return report.sweep < 2; };
    EXPECT_EQ(run_solver(problem, options(50), state, {.sweep = sweep, .step = {}}), Stop::interrupted);
    EXPECT_EQ(state.trace.size(), 3U);
}

TEST_P(EveryAlgorithm, ReportsTheObjectiveOfEverySweep) {
    auto state = start_solver(problem, options(3), start);
    std::vector<double> reported;
    const auto sweep = [&](const SweepReport& report) {
        EXPECT_EQ(report.sweep, static_cast<Index>(reported.size()) + 1);
        reported.push_back(report.objective.total());
        return true;
    };
    run_solver(problem, options(3), state, {.sweep = sweep, .step = {}});
    ASSERT_EQ(reported.size(), 3U);
    for (std::size_t s = 0; s < 3; ++s) {
        EXPECT_EQ(reported[s], state.trace[s + 1].total());
    }
    EXPECT_NEAR(reported.back() / objective(problem, state.current).total(), 1.0, 1e-12);
}

TEST_P(EveryAlgorithm, RefusesOptionsOutOfRange) {
    const auto refused = [&](const SolverOptions& bad) {
        EXPECT_THROW(start_solver(problem, bad, start), InputError);
    };
    for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
        SolverOptions wrong = options(3);
        wrong.tolerance = bad;
        refused(wrong);
        wrong = options(3);
        wrong.inner_tolerance = bad;
        refused(wrong);
    }
    refused(options(-1));
    SolverOptions wrong = options(3);
    wrong.inner_limit = 0;
    refused(wrong);
    start.H[0](0, 0) = -1.0;
    refused(options(3));
}

std::string algorithm_name(const testing::TestParamInfo<Algorithm>& info) {
    return std::array{"Stationary", "Reference", "Paper"}.at(static_cast<std::size_t>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Solver, EveryAlgorithm,
                         testing::Values(Algorithm::stationary, Algorithm::reference, Algorithm::paper),
                         algorithm_name);

} // namespace
} // namespace pnmf
