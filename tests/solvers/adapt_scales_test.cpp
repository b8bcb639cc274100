#include "solvers/adapt_scales.hpp"
#include "support/problems.hpp"

#include <pnmf/error.hpp>
#include <pnmf/model/objective.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

constexpr Index rank = 3;

/// All canonical scales of a few dozen cells.
test::OwnedProblem<double> many_scales() {
    return test::random_problem<double>({.features = 15, .cells = 60, .scales = 60},
                                        {.graph = 1.0, .smoothness = 1.0, .anchor = 0.1}, 4);
}

Pair<double> first_pair(const Problem<double>& problem) {
    return seed_pair(*problem.X, rank);
}

/// The terms of scale t without those that couple it with others.
double own_terms(const Problem<double>& problem, Index t, const Matrix& W, const Matrix& H) {
    ScalePenalty alone = problem.at(t);
    alone.before = 0.0;
    alone.after = 0.0;
    const Matrix* none = nullptr;
    return scale_objective(alone, problem.X->squared_norm(), scale_products(problem, t, W, H), H, none)
        .total();
}

TEST(AdaptedScales, StandForAllToTheErrorAskedFor) {
    const auto owned = many_scales();
    const Problem<double> all = owned.problem();
    for (const double error : {0.3, 0.1, 0.03}) {
        const auto found = adapt_scales(all, first_pair(all), {.error = error, .first = 4});
        EXPECT_EQ(found.kept.front(), 0);
        EXPECT_EQ(found.kept.back(), all.scales() - 1);
        EXPECT_TRUE(std::is_sorted(found.kept.begin(), found.kept.end()));
        EXPECT_LE(found.error, error);
        for (const LeftOut& scale : left_out_residuals(all, found.kept, found.factors)) {
            EXPECT_LE(scale.residual, error) << scale.position;
        }
    }
}

TEST(AdaptedScales, AreMoreForASmallerError) {
    const auto owned = many_scales();
    const Problem<double> all = owned.problem();
    const auto rough = adapt_scales(all, first_pair(all), {.error = 0.5, .first = 3});
    const auto fine = adapt_scales(all, first_pair(all), {.error = 0.01, .first = 3});
    EXPECT_LT(rough.kept.size(), fine.kept.size());
    EXPECT_LT(std::ssize(fine.kept), all.scales()) << "not all scales are needed";
}

TEST(AdaptedScales, HaveNearlyTheObjectiveOfTheFullFit) {
    const auto owned = many_scales();
    const Problem<double> all = owned.problem();
    const SolverOptions solver;
    auto full = start_solver(all, solver, nested_start(all, first_pair(all)));
    ASSERT_EQ(run_solver(all, solver, full), Stop::converged);
    auto found = adapt_scales(all, first_pair(all), {.error = 0.02, .first = 5});
    const Problem<double> few = at_scales(all, found.kept);
    auto state = start_solver(few, solver, std::move(found.factors));
    ASSERT_EQ(run_solver(few, solver, state), Stop::converged);
    double of_few = 0.0;
    double of_all = 0.0;
    for (std::size_t i = 0; i < found.kept.size(); ++i) {
        const Index t = found.kept[i];
        of_few += own_terms(all, t, state.current.W[i], state.current.H[i]);
        of_all += own_terms(all, t, full.current.W[t], full.current.H[t]);
    }
    EXPECT_NEAR(of_few / of_all, 1.0, 0.01);
    EXPECT_NEAR(objective(few, state.current).total() / full.trace.back().total(), 1.0, 0.02)
        << "the weights make the sum over few scales that over all";
}

TEST(AdaptedScales, AreAtMostAsManyAsAllowed) {
    const auto owned = many_scales();
    const Problem<double> all = owned.problem();
    const auto found = adapt_scales(all, first_pair(all), {.error = 1e-6, .first = 4, .most = 7});
    EXPECT_EQ(found.kept.size(), 7U);
    EXPECT_GT(found.error, 1e-6);
    EXPECT_EQ(found.factors.scales(), 7);
}

TEST(AdaptedScales, AreAllWhereThereAreFew) {
    const auto owned = test::random_problem<double>({.features = 12, .cells = 18, .scales = 4},
                                                    {.graph = 1.0, .smoothness = 1.0, .anchor = 0.1}, 2);
    const Problem<double> all = owned.problem();
    const auto found = adapt_scales(all, first_pair(all));
    EXPECT_EQ(found.kept, (std::vector<Index>{0, 1, 2, 3}));
    EXPECT_EQ(found.error, 0.0);
}

TEST(AdaptedScales, AreTheSameAtEveryCall) {
    const auto owned = many_scales();
    const Problem<double> all = owned.problem();
    const auto one = adapt_scales(all, first_pair(all), {.error = 0.05});
    const auto other = adapt_scales(all, first_pair(all), {.error = 0.05});
    EXPECT_EQ(one.kept, other.kept);
    EXPECT_EQ(one.factors.H.back(), other.factors.H.back());
}

TEST(AdaptedScales, StopWhenTheObserverSaysSo) {
    const auto owned = many_scales();
    const Problem<double> all = owned.problem();
    EXPECT_THROW(adapt_scales(all, first_pair(all), {}, {.starting = [] { return false; }}), Interrupted);
    EXPECT_THROW(adapt_scales(all, first_pair(all), {.error = 0.0}), InputError);
    EXPECT_THROW(adapt_scales(all, first_pair(all), {.most = 1}), InputError);
}

TEST(LeftOutResiduals, OfASolutionDrawnOutAreSmallWhereScalesAreAlike) {
    const auto owned = many_scales();
    const Problem<double> all = owned.problem();
    auto full = start_solver(all, SolverOptions{}, nested_start(all, first_pair(all)));
    run_solver(all, SolverOptions{}, full);
    // Every other scale of a solution: what is left out lies between two that are nearly the same.
    std::vector<Index> kept;
    Factors<double> factors;
    for (Index t = 0; t < all.scales(); t += t + 2 < all.scales() ? 2 : 1) {
        kept.push_back(t);
        factors.W.push_back(full.current.W[t]);
        factors.H.push_back(full.current.H[t]);
    }
    const auto found = left_out_residuals(all, kept, factors);
    ASSERT_FALSE(found.empty());
    for (const LeftOut& scale : found) {
        EXPECT_LT(scale.residual, 0.2) << scale.position;
    }
    EXPECT_THROW(left_out_residuals(all, {0, 5}, factors), InputError);
}

} // namespace
} // namespace pnmf
