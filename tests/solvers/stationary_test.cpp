#include "solvers/settled_scales.hpp"
#include "support/problems.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pnmf {
namespace {

template <class Real>
SolverState<Real> run(const Problem<Real>& problem, const SolverOptions& options,
                      const Factors<Real>& start) {
    auto state = start_solver(problem, options, start);
    run_solver(problem, options, state);
    return state;
}

template <class Real>
double last_objective(const SolverState<Real>& state) {
    return state.trace.back().total();
}

/// Every combination of extrapolation and shifts.
std::vector<SolverOptions> all_variants(Index sweeps) {
    std::vector<SolverOptions> variants;
    for (const bool extrapolate : {false, true}) {
        for (const bool shift : {false, true}) {
            variants.push_back({.extrapolate = extrapolate,
                                .shift_components = shift,
                                .tolerance = 0.0,
                                .max_sweeps = sweeps});
        }
    }
    return variants;
}

template <class Real>
void expect_monotone(double slack) {
    std::uint64_t seed = 0;
    for (const Penalty& penalty : test::all_penalties()) {
        ++seed;
        const Index scales = std::vector<Index>{1, 2, 5}[seed % 3];
        const auto owned =
            test::random_problem<Real>({.scales = scales, .sparse = seed % 2 == 0}, penalty, seed);
        const Problem<Real> problem = owned.problem();
        for (const SolverOptions& options : all_variants(12)) {
            auto state = start_solver(problem, options, test::random_factors(problem, 3, seed + 9));
            double last = last_objective(state);
            const auto step = [&](const StepReport& report) {
                EXPECT_LE(report.objective, last * (1.0 + slack)) << "step " << report.step;
                last = report.objective;
            };
            // Extrapolation moves between the steps; then only whole sweeps fall.
            run_solver(problem, options, state,
                       {.sweep = {}, .step = options.extrapolate ? decltype(Observer::step){} : step});
            for (std::size_t s = 1; s < state.trace.size(); ++s) {
                EXPECT_LE(state.trace[s].total(), state.trace[s - 1].total() * (1.0 + slack))
                    << "sweep " << s;
            }
            EXPECT_LT(last_objective(state), state.trace.front().total());
            EXPECT_NEAR(objective(problem, state.current).total() / last_objective(state), 1.0, 10.0 * slack);
            for (Index t = 0; t < scales; ++t) {
                EXPECT_GE(std::min(state.current.W[t].minCoeff(), state.current.H[t].minCoeff()), Real{0});
                EXPECT_LT((state.current.W[t].colwise().norm().array() - Real{1}).abs().maxCoeff(), slack);
            }
        }
    }
}

/// Sweeps to the certificate, some of them with frozen scales.
struct FrozenRun {
    SolverState<double> state;
    Index sweeps_with_frozen = 0;
};

FrozenRun run_to_certificate(const Problem<double>& problem, SolverState<double> state, Index stop_after) {
    const SolverOptions options{.tolerance = 1e-3};
    FrozenRun run{std::move(state), 0};
    run_solver(problem, options, run.state, {.sweep = [&](const SweepReport& report) {
                   run.sweeps_with_frozen += std::any_of(run.state.momentum.begin(), run.state.momentum.end(),
                                                         [](const auto& scale) { return scale.t == 0.0; })
                                                 ? 1
                                                 : 0;
                   return report.sweep < stop_after;
               }});
    return run;
}

TEST(SettledScales, ThatHaveNextToNothingOfTheResidualFreezeWhateverOthersHave) {
    const std::vector<char> at_rest(8, 1);
    const FrozenScales frozen{1, 1, 0, 0, 0, 0, 0, 0};
    const FrozenChange change =
        settled_scales(frozen, {0.08, 0.1, 1e-6, 1e-4, 1e-5, 1e-6, 1e-5, 3.0}, at_rest, 0.07);
    EXPECT_THAT(change.freeze, testing::UnorderedElementsAre(2, 3, 4, 5, 6));
    EXPECT_TRUE(change.wake.empty()) << "0.18 is not too much yet";
}

TEST(SettledScales, FrozenOnesThatHaveTooMuchOfItMoveAgainLargestFirst) {
    const FrozenScales frozen{1, 1, 1, 0};
    const FrozenChange change =
        settled_scales(frozen, {0.09, 0.12, 0.05, 0.5}, std::vector<char>(frozen.size(), 1), 0.07);
    EXPECT_TRUE(change.freeze.empty());
    EXPECT_THAT(change.wake, testing::ElementsAre(1));
}

TEST(SettledScales, KeepMovingWhileTheirTermsFallOrTheyAreFew) {
    const std::vector<double> share(10, 1e-6);
    const FrozenScales none(10, 0);
    std::vector<char> at_rest(10, 0);
    EXPECT_TRUE(settled_scales(none, share, at_rest, 0.07).empty());
    at_rest[3] = at_rest[7] = 1;
    EXPECT_TRUE(settled_scales(none, share, at_rest, 0.07).empty()) << "two of ten";
    at_rest[5] = 1;
    EXPECT_THAT(settled_scales(none, share, at_rest, 0.07).freeze, testing::ElementsAre(3, 5, 7));
}

TEST(Stationary, AStoppedRunWithFrozenScalesGoesOnToTheSameBits) {
    for (const bool sparse : {false, true}) {
        SCOPED_TRACE(sparse);
        const auto owned =
            test::random_problem<double>({.cells = 30, .scales = 12, .sparse = sparse}, {0.8, 0.6, 0.05}, 5);
        const Problem<double> problem = owned.problem();
        const auto start = [&] {
            return start_solver(problem, {.tolerance = 1e-3}, test::random_factors(problem, 4, 6));
        };
        const FrozenRun whole = run_to_certificate(problem, start(), 1000);
        ASSERT_GE(whole.sweeps_with_frozen, 3);
        EXPECT_LE(sum(kkt_residuals(problem, whole.state.current, BasisForm::unit_columns)).certificate(),
                  1e-3);
        const Index last = std::ssize(whole.state.trace) - 1;
        for (const Index stop_after : {last - 1, last - 2, last / 2}) {
            const FrozenRun part = run_to_certificate(problem, start(), stop_after);
            const FrozenRun rest = run_to_certificate(problem, part.state, 1000);
            EXPECT_EQ(rest.state.current.H, whole.state.current.H) << "stopped after " << stop_after;
            EXPECT_EQ(rest.state.current.W, whole.state.current.W) << "stopped after " << stop_after;
            EXPECT_EQ(rest.state.trace.size(), whole.state.trace.size());
        }
    }
}

/// The start is looked at by its embeddings alone first. Where these say that no scale has settled, nothing
/// may come out otherwise than where bases are looked at too.
TEST(Stationary, AStartWithoutSettledScalesIsRecognisedByItsEmbeddings) {
    const auto owned = test::random_problem<double>({.cells = 30, .scales = 12}, {0.8, 0.6, 0.05}, 5);
    const Problem<double> problem = owned.problem();
    const SolverOptions options{.tolerance = 1e-3};
    const auto far = start_solver(problem, options, test::random_factors(problem, 4, 6));
    ASSERT_EQ(std::ssize(far.momentum), problem.scales()); // none has settled
    auto looked_at = far;
    looked_at.momentum.clear(); // a run looks at all of it
    const FrozenRun found = run_to_certificate(problem, far, 1000);
    const FrozenRun twin = run_to_certificate(problem, looked_at, 1000);
    EXPECT_EQ(found.state.current.H, twin.state.current.H);
    EXPECT_EQ(found.state.current.W, twin.state.current.W);
    EXPECT_EQ(found.state.trace.size(), twin.state.trace.size());
    const auto near = start_solver(problem, options, found.state.current);
    EXPECT_TRUE(near.momentum.empty()); // some have: a run must look at all of it
}

TEST(Stationary, NeverRaisesTheObjectiveAndStaysFeasible) {
    expect_monotone<double>(1e-12);
}

TEST(Stationary, NeverRaisesTheObjectiveInSinglePrecision) {
    expect_monotone<float>(1e-5);
}

TEST(Stationary, StaysAtAStationaryPoint) {
    for (const Penalty& penalty : {Penalty{1.0, 1.0, 0.1}, Penalty{0.5, 20.0, 0.01}}) {
        const auto owned =
            test::random_problem<double>({.features = 8, .cells = 10, .scales = 3}, penalty, 3);
        const Problem<double> problem = owned.problem();
        SolverOptions options{.tolerance = 1e-8, .max_sweeps = 20000};
        auto state = start_solver(problem, options, test::random_factors(problem, 2, 4));
        ASSERT_EQ(run_solver(problem, options, state), Stop::converged);
        options.tolerance = 0.0;
        options.max_sweeps = 50;
        const auto again = run(problem, options, state.current);
        EXPECT_NEAR(last_objective(again) / last_objective(state), 1.0, 1e-9);
        for (Index t = 0; t < problem.scales(); ++t) {
            EXPECT_LT((again.current.H[t] - state.current.H[t]).norm(), 1e-4 * state.current.H[t].norm());
        }
    }
}

TEST(Stationary, StopsWithACertificateThatTheFactorsAloneConfirm) {
    const auto owned = test::random_problem<double>({}, {}, 5);
    const Problem<double> problem = owned.problem();
    for (const double tolerance : {1e-2, default_tolerance({}), 1e-6}) {
        const SolverOptions options{.tolerance = tolerance, .max_sweeps = 20000};
        auto state = start_solver(problem, options, test::random_factors(problem, 3, 6));
        SweepReport last;
        const auto note = [&](const SweepReport& report) {
            last = report;
            return true;
        };
        ASSERT_EQ(run_solver(problem, options, state, {.sweep = note, .step = {}}), Stop::converged);
        const KktResidual residual = sum(kkt_residuals(problem, state.current, BasisForm::unit_columns));
        EXPECT_LE(residual.certificate(), tolerance);
        EXPECT_NEAR(last.residual.certificate(), residual.certificate(), 1e-9 * residual.certificate());
        const double before = state.trace[state.trace.size() - 2].total();
        EXPECT_LE(before - last.objective.total(), tolerance / 3.0 * before);
    }
}

/// Lee and Seung's multiplicative NMF with X and products written out.
double plain_nmf_loss(const Matrix& X, Matrix W, Matrix H, int steps) {
    for (int step = 0; step < steps; ++step) {
        H.array() *= (W.transpose() * X).array() / (W.transpose() * W * H).array().max(1e-300);
        W.array() *= (X * H.transpose()).array() / (W * (H * H.transpose())).array().max(1e-300);
    }
    return (X - W * H).squaredNorm();
}

TEST(Stationary, WithoutPenaltiesAndWithOneScaleIsNmf) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const auto owned = test::random_problem<double>({.scales = 1}, {0.0, 0.0, 0.0}, seed);
        const Pair<double> pair = seed_pair(*owned.X, 3);
        const auto state = run(owned.problem(), {.tolerance = 1e-7, .max_sweeps = 5000},
                               broadcast_start(owned.problem(), pair));
        const double expected = plain_nmf_loss(owned.values(), pair.W, pair.H, 5000);
        EXPECT_LE(last_objective(state), expected * 1.001);
        EXPECT_GE(last_objective(state), expected * 0.98);
    }
}

TEST(Stationary, WithoutSmoothnessAndAnchorIsGnmfAtEachScaleAlone) {
    const auto owned = test::random_problem<double>({.scales = 4}, {2.0, 0.0, 0.0}, 7);
    const Problem<double> problem = owned.problem();
    const Factors<double> start = test::random_factors(problem, 3, 8);
    for (const SolverOptions& options :
         {SolverOptions{.extrapolate = false, .shift_components = false, .tolerance = 0.0, .max_sweeps = 25},
          SolverOptions{.tolerance = 1e-6, .max_sweeps = 20000}}) {
        const auto together = run(problem, options, start);
        double sum = 0.0;
        for (Index t = 0; t < 4; ++t) {
            Problem<double> single = problem;
            single.epsilon = {problem.epsilon[t]};
            const auto alone = run(single, options, {{start.W[t]}, {start.H[t]}});
            sum += last_objective(alone);
            if (!options.extrapolate) {
                EXPECT_LT((alone.current.H[0] - together.current.H[t]).norm(), 1e-12);
            }
        }
        EXPECT_NEAR(last_objective(together) / sum, 1.0, options.extrapolate ? 1e-2 : 1e-13);
    }
}

TEST(Stationary, IsTheSameForSparseDataButForRounding) {
    const auto sparse = test::random_problem<double>({.sparse = true}, {}, 9);
    auto dense = test::random_problem<double>({.sparse = true}, {}, 9);
    dense.X = std::make_unique<DataMatrix<double>>(sparse.values());
    const Factors<double> start = test::random_factors(sparse.problem(), 3, 10);
    const SolverOptions options{.tolerance = 0.0, .max_sweeps = 10};
    const auto from_sparse = run(sparse.problem(), options, start);
    const auto from_dense = run(dense.problem(), options, start);
    EXPECT_NEAR(last_objective(from_sparse) / last_objective(from_dense), 1.0, 1e-11);
    for (Index t = 0; t < 4; ++t) {
        EXPECT_LT((from_sparse.current.H[t] - from_dense.current.H[t]).norm(), 1e-8);
    }
}

} // namespace
} // namespace pnmf
