#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/solvers/fit.hpp>

#include "support/clouds.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

TEST(TraceConvergence, CountsRisesBeyondRounding) {
    const auto found = trace_convergence({10.0, 8.0, 8.0 * (1.0 + 1e-14), 8.4, 7.0});
    EXPECT_EQ(found.sweeps, 4);
    EXPECT_EQ(found.rises, 1);
    EXPECT_NEAR(found.largest_rise, 0.05, 1e-12);
    EXPECT_EQ(trace_convergence({10.0, 8.0}).rises, 0);
}

TEST(Convergence, OfAStationaryFitMeetsEveryStatement) {
    const Matrix X = test::uniform_cloud(12, 20, 4);
    FitOptions options;
    options.rank = 3;
    const auto prepared = prepare_fit<double>(X, options);
    const auto result = fit<double>(X, options);
    std::vector<double> objective;
    for (const Objective& one : result.trace) {
        objective.push_back(one.total());
    }
    Convergence found = trace_convergence(objective);
    look_at_factors(
        found, Algorithm::stationary, result.factors.scales(), [&](Index t) { return result.factors.H[t]; },
        [&](Index t) { return result.factors.W[t]; });
    evaluate_kkt(found, Algorithm::stationary, prepared.problem(), result.factors);
    EXPECT_EQ(found.kkt.size(), result.scales.epsilon.size());
    for (const Finding& finding : findings(found, Algorithm::stationary, 3e-4)) {
        EXPECT_EQ(finding.verdict, Verdict::holds) << finding.what << " " << finding.measured;
    }
}

TEST(Convergence, NegativeEntriesAndLongColumnsAreFoundOut) {
    const Matrix H = Matrix::Constant(2, 3, -1e-20);
    const Matrix W = Matrix::Constant(4, 2, 0.5); // ℓ2 norm 1, ℓ1 norm 2
    Convergence found = trace_convergence({2.0, 1.0});
    look_at_factors(
        found, Algorithm::paper, 1, [&](Index) { return H; }, [&](Index) { return W; });
    EXPECT_DOUBLE_EQ(found.normalisation, 1.0);
    const Findings said = findings(found, Algorithm::paper, 3e-4);
    EXPECT_EQ(said[1].verdict, Verdict::not_checked); // no residual is known
    EXPECT_EQ(said[2].verdict, Verdict::fails);
    EXPECT_EQ(said[3].verdict, Verdict::fails);
    look_at_factors(
        found, Algorithm::stationary, 1, [&](Index) { return H; }, [&](Index) { return W; });
    EXPECT_LT(found.normalisation, 1e-15);
}

} // namespace
} // namespace pnmf
