#include "solvers/single_start.hpp"
#include "support/clouds.hpp"
#include "support/paths.hpp"
#include "support/problems.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/model/objective.hpp>

#include <gtest/gtest.h>

#include <cmath>

/// Starts of fits in double precision whose levels are solved in single precision.
namespace pnmf::test {
namespace {

constexpr double level_tolerance = 1e-3;

/// What a start needs, kept.
struct StartCase {
    explicit StartCase(bool sparse, Index scales = 40)
        : owned(
              random_problem<double>({.cells = 50, .scales = scales, .sparse = sparse}, {1.0, 1.0, 0.1}, 6)),
          problem(owned.problem()), pair(seed_pair(*owned.X, 3)) {}

    Factors<double> quick(StartLog<double> log = {}, const std::filesystem::path& bases_in = {}) const {
        return quick_nested_start(problem, pair, {.tolerance = level_tolerance, .bases_in = bases_in}, {},
                                  std::move(log));
    }
    Factors<double> in_double() const { return nested_start(problem, pair, {.tolerance = level_tolerance}); }

    OwnedProblem<double> owned;
    Problem<double> problem;
    Pair<double> pair;
};

void expect_equal(const Factors<double>& found, const Factors<double>& expected) {
    ASSERT_EQ(found.scales(), expected.scales());
    for (Index t = 0; t < expected.scales(); ++t) {
        Matrix buffer;
        Matrix other;
        EXPECT_EQ(found.basis(t, buffer), expected.basis(t, other)) << t;
        EXPECT_EQ(found.H[t], expected.H[t]) << t;
    }
}

TEST(SingleStart, EndsWhereLevelsInDoublePrecisionEnd) {
    for (const bool sparse : {false, true}) {
        const StartCase start(sparse);
        const Factors<double> found = start.quick();
        EXPECT_NO_THROW(check_factors(start.problem, found));
        const double expected = objective(start.problem, start.in_double()).total();
        // Levels stop at a tolerance, and rounding may cost or save one of them a sweep.
        EXPECT_NEAR(objective(start.problem, found).total() / expected, 1.0, 1e-3);
        // In single precision: the same numbers are those of a fit in single precision.
        EXPECT_EQ(found.H.front(), Matrix(found.H.front().cast<float>().cast<double>()));
    }
}

TEST(SingleStart, IsInDoublePrecisionWhereThereAreNoLevels) {
    const StartCase start(false, most_scales_without_levels);
    expect_equal(start.quick(), start.in_double());
}

TEST(SingleStart, IsInDoublePrecisionWhereValuesAreVeryLargeOrVerySmall) {
    for (const double unit : {1e30, 1e-30, 0.0}) {
        for (const bool sparse : {false, true}) {
            StartCase start(sparse);
            const Matrix values = unit * start.owned.values();
            const auto X = sparse ? DataMatrix<double>(to_sparse(values)) : DataMatrix<double>(values);
            start.problem.X = &X;
            start.pair = {start.pair.W, unit * start.pair.H};
            const Factors<double> found = start.quick();
            expect_equal(found, start.in_double());
            for (const Matrix& H : found.H) {
                EXPECT_TRUE(H.allFinite());
                EXPECT_EQ(H.maxCoeff() > 0.0, unit > 0.0);
            }
        }
    }
}

TEST(SingleStart, IsInDoublePrecisionWhereAPenaltyIsVeryStrong) {
    for (double Penalty::*weight : {&Penalty::graph, &Penalty::smoothness, &Penalty::anchor}) {
        StartCase start(false);
        start.problem.penalty.*weight = 1e40;
        const Factors<double> found = start.quick();
        EXPECT_NO_THROW(check_factors(start.problem, found));
        expect_equal(found, start.in_double());
    }
}

TEST(SingleStart, GivesTheSameBitsWhereBasesRestInAFile) {
    const TemporaryFolder folder;
    const StartCase start(false);
    const Factors<double> in_file = start.quick({}, folder.path());
    ASSERT_TRUE(in_file.file.has_value());
    expect_equal(in_file, start.quick());
}

/// Stopped after so many scales or sweeps, with the state as a checkpoint would have it.
StartState<double> stopped_after(const StartCase& start, Index count, const std::filesystem::path& bases_in) {
    StartState<double> saved;
    StartLog<double> log;
    Index seen = 0;
    log.reached = [&](const StartState<double>& at, const std::function<void()>& bring_factors) {
        if (++seen < count) {
            return true;
        }
        bring_factors();
        saved.scales = at.scales;
        saved.unchained = at.unchained;
        saved.state = at.state;
        return false;
    };
    EXPECT_THROW(start.quick(std::move(log), bases_in), Interrupted);
    return saved;
}

TEST(SingleStart, GoesOnFromAnyPlaceToTheSameBits) {
    const TemporaryFolder folder;
    for (const std::filesystem::path& bases_in : {std::filesystem::path(), folder.path()}) {
        const StartCase start(true);
        Index steps = 0;
        StartLog<double> counting;
        counting.reached = [&](const StartState<double>&, const std::function<void()>&) {
            return ++steps > 0;
        };
        const Factors<double> whole = start.quick(std::move(counting), bases_in);
        ASSERT_GT(steps, 14); // the chain of 10 scales, and sweeps of two levels
        for (Index count = 1; count < steps; count += 3) {
            SCOPED_TRACE(count);
            StartLog<double> log;
            log.from = stopped_after(start, count, bases_in);
            ASSERT_GT(log.from.scales, 0);
            expect_equal(start.quick(std::move(log), bases_in), whole);
        }
    }
}

TEST(SingleStart, OfDividedDataHasTheBitsOfOneProcess) {
    const SparseMatrix<double> values = sparse_cloud(23, 5200, 0.3, 5);
    const Filtration filtration =
        make_filtration(Points(to_dense(values)), {.scales = {.max_scales = 16}, .neighbors = 4});
    const DataMatrix<double> whole(values);
    const Problem<double> problem{
        &whole, filtration.graph.get(), filtration.scales.epsilon, {0.8, 0.6, 0.05}};
    const Pair<double> pair = seed_pair(whole, 3);
    const LevelOptions options{.tolerance = 0.1};
    const Factors<double> expected = quick_nested_start(problem, pair, options, {}, {});
    EXPECT_EQ(expected.H.front(), Matrix(expected.H.front().cast<float>().cast<double>()));
    for (const int count : {2, 3}) {
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            const CellRange range = local_range(values.cols, ranks[r]);
            const DataMatrix<double> X(columns_of(values, range), range);
            Problem<double> divided = problem;
            divided.X = &X;
            const Factors<double> found = quick_nested_start(divided, pair, options, {}, {});
            EXPECT_EQ(found.W, expected.W);
            for (std::size_t t = 0; t < expected.H.size(); ++t) {
                EXPECT_EQ(found.H[t], expected.H[t].middleCols(range.first, range.count)) << t;
            }
        });
    }
}

} // namespace
} // namespace pnmf::test
