#include "io/mat.hpp"
#include "support/paths.hpp"

#include <pnmf/simulate/simulate.hpp>
#include <pnmf/solvers/fit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace pnmf {
namespace {

constexpr Index rings = 4;
constexpr Index points = 20; // on each ring, in order, rings from the inside

std::optional<Matrix> published_circles() {
    const auto folder = test::shared_data("circles");
    if (!folder) {
        return std::nullopt;
    }
    const MatArray input = read_mat_array(*folder / "input.mat", "X"); // cells × features
    return Eigen::Map<const Matrix>(input.values.data(), input.shape[0], input.shape[1]).transpose();
}

Matrix ring(const Matrix& H, Index r) {
    return H.middleCols(r * points, points);
}

/// The largest distance from the mean.
double spread(const Matrix& H) {
    return (H.colwise() - H.rowwise().mean()).colwise().norm().maxCoeff();
}

/// Whether the closed polygon through the columns winds around the point: crossings of a ray to the right.
bool encloses(const Matrix& polygon, const Vector& point) {
    bool inside = false;
    for (Index i = 0; i < polygon.cols(); ++i) {
        const Vector a = polygon.col(i);
        const Vector b = polygon.col((i + 1) % polygon.cols());
        if ((a[1] > point[1]) != (b[1] > point[1]) &&
            point[0] < a[0] + (b[0] - a[0]) * (point[1] - a[1]) / (b[1] - a[1])) {
            inside = !inside;
        }
    }
    return inside;
}

/// Share of the cells of the inner rings that the next ring goes around: 1 when the rings are nested.
double share_enclosed(const Matrix& H) {
    Index enclosed = 0;
    for (Index r = 0; r + 1 < rings; ++r) {
        const Matrix outer = ring(H, r + 1);
        for (Index j = 0; j < points; ++j) {
            enclosed += encloses(outer, H.col(r * points + j)) ? 1 : 0;
        }
    }
    return static_cast<double>(enclosed) / static_cast<double>((rings - 1) * points);
}

/// The first scale at which the ring has shrunk to a tenth of what it was at the finest.
Index tenth_of_ring(const std::vector<Matrix>& H, Index r) {
    const double small = 0.1 * spread(ring(H.front(), r));
    return std::find_if(H.begin(), H.end(), [&](const Matrix& at) { return spread(ring(at, r)) < small; }) -
           H.begin();
}

FitOptions circle_options(double anchor) {
    return {.rank = 2, .penalty = {100.0, 100.0, anchor}};
}

/// The paper's circles: as published when they are at hand, and as simulated.
class Circles : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        if (std::string(GetParam()) == "Simulated") {
            X = simulate_circles({.meet_ends = true, .seed = 4}).X;
            return;
        }
        const auto published = published_circles();
        if (!published) {
            GTEST_SKIP() << test::missing_data("circles");
        }
        X = *published;
    }

    Matrix X;
};

TEST_P(Circles, ShowNestedRingsThatShrinkFromTheInsideToOnePoint) {
    const auto result = fit<double>(X, circle_options(0.1));
    EXPECT_EQ(result.stop, Stop::converged);
    EXPECT_THAT(result.warnings, testing::IsEmpty());
    const std::vector<Matrix>& H = result.factors.H;
    EXPECT_GE(share_enclosed(H.front()), 0.95);
    for (Index r = 0; r + 1 < rings; ++r) {
        EXPECT_LT(spread(ring(H.front(), r)), spread(ring(H.front(), r + 1)));
        EXPECT_LT(tenth_of_ring(H, r), tenth_of_ring(H, r + 1)) << "ring " << r;
    }
    EXPECT_LT(spread(H.back()), 0.02 * spread(H.front()));
}

TEST_P(Circles, LookTheSameAfterTenTimesAsManySweeps) {
    const auto result = fit<double>(X, circle_options(0.1));
    FitOptions longer = circle_options(0.1);
    longer.solver.tolerance = 0.0;
    longer.solver.max_sweeps = 10 * static_cast<Index>(result.trace.size() - 1);
    const auto limit = fit<double>(X, longer);
    EXPECT_LT(result.trace.back().total(), 1.001 * limit.trace.back().total());
    double moved = 0.0;
    double size = 0.0;
    for (Index t = 0; t < result.scales.size(); ++t) {
        moved = std::max(moved, (result.factors.H[t] - limit.factors.H[t]).cwiseAbs().maxCoeff());
        size = std::max(size, limit.factors.H[t].maxCoeff());
    }
    EXPECT_LT(moved, 0.02 * size);
}

TEST_P(Circles, CollapseUnderAStrongAnchorAndTheFitNamesIt) {
    const auto result = fit<double>(X, circle_options(1.0));
    EXPECT_LT(result.effective_rank.front(), 1.05);
    EXPECT_THAT(result.warnings, testing::Contains(testing::HasSubstr("lambda3 = 1")));
}

INSTANTIATE_TEST_SUITE_P(Paper, Circles, testing::Values("Published", "Simulated"),
                         [](const auto& circles) { return std::string(circles.param); });

TEST(PublishedCircles, ReachTheStationaryValueFromTheProtocolsStart) {
    const auto X = published_circles();
    if (!X) {
        GTEST_SKIP() << test::missing_data("circles");
    }
    const FitOptions options = circle_options(1.0);
    const auto prepared = prepare_fit<double>(*X, options);
    const Problem<double> problem = prepared.problem();
    auto state = start_solver(problem, options.solver, chained_start(problem, seed_pair(*prepared.X, 2)));
    EXPECT_GT(state.trace.front().total(), 50e6);
    EXPECT_EQ(run_solver(problem, options.solver, state), Stop::converged);
    EXPECT_LE(objective(problem, state.current).total(), 23.3e6);
}

} // namespace
} // namespace pnmf
