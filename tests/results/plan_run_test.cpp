#include "run/plan_run.hpp"
#include "support/clouds.hpp"
#include "support/problems.hpp"

#include <pnmf/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pnmf {
namespace {

using testing::Contains;
using testing::HasSubstr;

RunOptions few_scales(double error, Index rank) {
    RunOptions options{.fit = {.rank = rank}, .clusters = 2};
    options.fit.scale_error = error;
    options.fit.solver.max_sweeps = 3;
    return options;
}

/// So many features that factors, not the program, take the memory.
DataValues wide_data() {
    return test::noisy_product(6000, 40, 3);
}

TEST(FitInto, CountsEveryScaleThatFits) {
    const RunOptions options = few_scales(0.1, 3);
    for (Index cells = 3; cells <= 17; ++cells) {
        auto prepared = prepare_fit<double>(DataValues(test::uniform_cloud(6, cells, 3)), options.fit);
        const Index all = prepared.scales.size();
        fit_into({.limit = 64e9, .given = true}, options, prepared, false, false);
        EXPECT_EQ(prepared.most_scales, all);
        fit_into({.limit = 64e9, .given = false}, options, prepared, false, false);
        EXPECT_EQ(prepared.most_scales, all);
    }
}

TEST(FitInto, GivesUpWhatChangesTheResultOnlyWhereTheLimitIsGiven) {
    const DataValues X = wide_data();
    const RunOptions options = few_scales(1e-6, 16);
    const auto plan = [&](double limit, bool given) {
        auto prepared = prepare_fit<double>(X, options.fit);
        fit_into({.limit = limit, .given = given}, options, prepared, false, false);
        return prepared;
    };
    auto prepared = prepare_fit<double>(X, options.fit);
    const double enough = fit_into({.limit = 64e9, .given = true}, options, prepared, false, false).bytes;
    Index refused = 0;
    Index filed = 0;
    Index given_up = 0;
    for (double limit = 1.02 * enough; limit > 0.5 * enough; limit -= 0.02 * enough) {
        try {
            const auto free = plan(limit, false);
            EXPECT_TRUE(free.options.solver.extrapolate && free.options.solver.shift_components);
            filed += free.bases_in.empty() ? 0 : 1;
        } catch (const RemediableError& error) {
            EXPECT_EQ(error.remedy(), Remedy::need_less_memory);
            ++refused;
        }
        try {
            const auto given = plan(limit, true);
            given_up += given.most_scales < given.scales.size() ? 1 : 0;
        } catch (const RemediableError& error) {
            EXPECT_EQ(error.remedy(), Remedy::need_less_memory);
        }
    }
    EXPECT_GT(refused, 0);
    EXPECT_GT(filed, 0);
    EXPECT_GT(given_up, 0);
}

TEST(RunFit, WithALimitOnMemoryRecordsWhatItMakesOfTheResult) {
    const DataValues X = wide_data();
    RunOptions options = few_scales(3e-3, 16);
    double limit = 1e9;
    auto prepared = prepare_fit<double>(X, options.fit);
    do {
        limit *= 0.98;
        fit_into({.limit = limit, .given = true}, options, prepared, false, false);
    } while (prepared.most_scales > 9);
    options.memory = limit;
    const auto run = run_fit<double>(X, options);
    const Index kept = run.result.scales.size();
    ASSERT_LT(kept, 11) << "as many are needed";
    EXPECT_THAT(run.prepared.notices, Contains(HasSubstr("fit into the limit on memory")));
    ASSERT_EQ(run.prepared.options.filtration.scales.max_scales, kept);
    options.memory.reset();
    options.fit = run.prepared.options;
    const auto twin = run_fit<double>(X, options);
    EXPECT_EQ(twin.result.factors.H, run.result.factors.H);
    EXPECT_EQ(twin.assessment.recommended, run.assessment.recommended);
}

} // namespace
} // namespace pnmf
