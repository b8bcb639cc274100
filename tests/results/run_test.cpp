#include "support/problems.hpp"

#include <pnmf/error.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/run.hpp>
#include <pnmf/simulate/circles.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Rings whose recommended scale is not the finest.
Matrix rings() {
    return simulate_circles({.points = 5, .noise_dimensions = 6, .seed = 3}).X;
}

RunOptions quick() {
    RunOptions options{.fit = {.rank = 3}, .clusters = 4};
    options.fit.solver.max_sweeps = 20;
    return options;
}

TEST(RunFit, RecommendsTheScaleThatItsAssessmentRecommends) {
    const DataValues X = rings();
    const auto run = run_fit<double>(X, quick());
    const auto& H = run.result.factors.H;
    const Assessment twin =
        assess_scales(run.result.scales.size(), [&](Index t) { return H[static_cast<std::size_t>(t)]; },
                      run.result.scales.epsilon, h0_diagram(*run.prepared.tree).deaths, {.clusters = 4});
    ASSERT_GT(twin.recommended, 0) << "data that tell a recommendation from none";
    EXPECT_EQ(run.assessment.recommended, twin.recommended);
    EXPECT_EQ(&run.embedding(), &H[static_cast<std::size_t>(twin.recommended)]);
    EXPECT_EQ(run.assessment.clusters, twin.clusters);
}

TEST(RunFit, IsStoredWithTheRecommendationOfItsAssessment) {
    const DataValues X = rings();
    auto run = run_fit<double>(X, quick());
    for (const Index recommended : {run.assessment.recommended, Index{2}}) {
        run.assessment.recommended = recommended;
        const AnnDataFile file = result_file(Dataset{}, run.prepared, run.result, run.assessment);
        EXPECT_EQ(std::get<std::int64_t>(find(file.uns, "pnmf/recommended")->value), recommended);
        EXPECT_EQ(file.obsm.at("X_pnmf"), Matrix(run.embedding().transpose()));
        EXPECT_EQ(file.varm.at("pnmf_W"), run.result.factors.W[static_cast<std::size_t>(recommended)]);
    }
}

TEST(RunFit, HasTheFactorsOfFit) {
    const DataValues X = rings();
    const auto run = run_fit<float>(X, quick());
    const auto alone = fit<float>(X, quick().fit);
    EXPECT_EQ(run.result.factors.H, alone.factors.H);
    EXPECT_EQ(run.result.factors.W, alone.factors.W);
}

TEST(RunFit, RefusesMoreClustersThanCellsBeforeTheWork) {
    const DataValues X = rings();
    for (const Index clusters : {0, 21}) {
        EXPECT_THAT([&] { run_fit<double>(X, {.clusters = clusters}); },
                    ThrowsMessage<InputError>(HasSubstr("between 1 and the number of cells, 20")));
    }
}

} // namespace
} // namespace pnmf
