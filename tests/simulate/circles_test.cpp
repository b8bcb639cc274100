#include <pnmf/error.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

/// The common centre of noiseless circles with at least 2 points each: the mean of each evenly spaced circle.
Matrix centred_coordinates(const Simulated& data) {
    Matrix P = data.X.topRows<3>();
    const Vector centre = P.rowwise().mean();
    return P.colwise() - centre;
}

TEST(Circles, NoiselessPointsLieEvenlySpacedOnCirclesInPlanesOfTheirOwn) {
    const Simulated data = simulate_circles({.noise = 0.0, .seed = 3});
    const Matrix P = centred_coordinates(data);
    const double radii[] = {5.0, 10.0, 20.0, 50.0};
    Eigen::Matrix<double, 3, 4> normals;
    for (Index c = 0; c < 4; ++c) {
        const Matrix circle = P.middleCols(20 * c, 20);
        const double chord = 2.0 * radii[c] * std::sin(std::acos(-1.0) / 20.0);
        const Eigen::Vector3d first = circle.col(0);
        const Eigen::Vector3d second = circle.col(5);
        normals.col(c) = first.cross(second).normalized();
        for (Index i = 0; i < 20; ++i) {
            EXPECT_NEAR(circle.col(i).norm(), radii[c], 1e-10 * radii[c]);
            EXPECT_NEAR((circle.col(i) - circle.col((i + 1) % 20)).norm(), chord, 1e-10 * radii[c]);
            EXPECT_NEAR(normals.col(c).dot(circle.col(i)), 0.0, 1e-10 * radii[c]);
            EXPECT_EQ(data.labels[20 * c + i], c);
        }
    }
    for (Index a = 0; a < 4; ++a) {
        for (Index b = 0; b < a; ++b) {
            EXPECT_LT(std::abs(normals.col(a).dot(normals.col(b))), 1.0 - 1e-6);
        }
    }
}

TEST(Circles, EachCoordinateHasTheMinimumAskedForAndNothingIsNegative) {
    for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
        const Simulated data = simulate_circles({.seed = seed});
        ASSERT_EQ(data.X.rows(), 100);
        ASSERT_EQ(data.X.cols(), 80);
        for (Index k = 0; k < 3; ++k) {
            EXPECT_EQ(data.X.row(k).minCoeff(), 5.0);
        }
        EXPECT_GE(data.X.minCoeff(), 0.0);
    }
    EXPECT_GE(simulate_circles({.noise_mean = 0.0, .noise_deviation = 3.0}).X.minCoeff(), 0.0);
}

TEST(Circles, NoiseHasTheMeanAndDeviationAskedFor) {
    const Simulated data = simulate_circles({.points = 250, .noise = 0.25, .seed = 1});
    const Matrix noise = data.X.bottomRows(97);
    const double mean = noise.mean();
    const double deviation = std::sqrt((noise.array() - mean).square().mean());
    EXPECT_NEAR(mean, 5.0, 0.02); // 97,000 draws: six standard errors are 0.02
    EXPECT_NEAR(deviation, 1.0, 0.02);

    const Simulated clean = simulate_circles({.points = 250, .noise = 0.0, .seed = 1});
    Matrix jitter = data.X.topRows<3>() - clean.X.topRows<3>();
    jitter.colwise() -= jitter.rowwise().mean().eval(); // the shift to the minimum differs
    EXPECT_NEAR(std::sqrt(jitter.squaredNorm() / static_cast<double>(jitter.size())), 0.25, 0.02);
}

TEST(Circles, ASeedGivesTheSameDataAndNoiseDimensionsDoNotMoveTheCircles) {
    EXPECT_EQ(simulate_circles({.seed = 7}).X, simulate_circles({.seed = 7}).X);
    EXPECT_NE(simulate_circles({.seed = 7}).X, simulate_circles({.seed = 8}).X);
    EXPECT_EQ(simulate_circles({.noise_dimensions = 0, .seed = 7}).X,
              simulate_circles({.seed = 7}).X.topRows<3>());
}

TEST(Circles, EndsThatMeetPutTheLastPointOnTheFirst) {
    const Simulated data = simulate_circles({.noise = 0.0, .meet_ends = true});
    for (Index c = 0; c < 4; ++c) {
        EXPECT_LT((data.X.col(20 * c) - data.X.col(20 * c + 19)).head<3>().norm(), 1e-10);
    }
}

TEST(Circles, OptionsOutOfRangeAreRejected) {
    EXPECT_THROW(simulate_circles({.radii = {}}), InputError);
    EXPECT_THROW(simulate_circles({.radii = {1.0, -1.0}}), InputError);
    EXPECT_THROW(simulate_circles({.points = 0}), InputError);
    EXPECT_THROW(simulate_circles({.noise = NAN}), InputError);
    EXPECT_THROW(simulate_circles({.noise_dimensions = -1}), InputError);
}

} // namespace
} // namespace pnmf
