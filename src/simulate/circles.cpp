#include <pnmf/simulate/simulate.hpp>

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace pnmf {
namespace {

using Frame = Eigen::Matrix<double, 3, 2>;

/// Two orthonormal vectors that span a plane whose normal is uniform on the sphere.
Frame random_plane(Random random) {
    Eigen::Matrix<double, 3, 2> frame;
    do {
        for (Index k = 0; k < 2; ++k) {
            for (Index i = 0; i < 3; ++i) {
                frame(i, k) = random.normal();
            }
        }
        frame.col(0).normalize();
        frame.col(1) -= frame.col(0).dot(frame.col(1)) * frame.col(0);
    } while (!(frame.col(1).norm() > 1e-6)); // parallel draws span no plane
    frame.col(1).normalize();
    return frame;
}

double nonnegative_normal(Random& random, double mean, double deviation) {
    double value = mean + deviation * random.normal();
    while (value < 0.0) {
        value = mean + deviation * random.normal();
    }
    return value;
}

void check(const CirclesOptions& options) {
    require(!options.radii.empty(), "circles need at least one radius");
    for (const double radius : options.radii) {
        require(std::isfinite(radius) && radius > 0.0, "radii must be positive, got {}", radius);
    }
    require(options.points >= 1, "points on a circle must be at least 1, got {}", options.points);
    require(options.noise_dimensions >= 0, "noise dimensions must be at least 0, got {}",
            options.noise_dimensions);
    for (const auto& [name, value] : {std::pair{"noise", options.noise},
                                      {"minimum", options.minimum},
                                      {"noise mean", options.noise_mean},
                                      {"noise deviation", options.noise_deviation}}) {
        require(std::isfinite(value) && value >= 0.0, "{} must be a number ≥ 0, got {}", name, value);
    }
}

} // namespace

Simulated simulate_circles(const CirclesOptions& options) {
    check(options);
    const auto circles = static_cast<Index>(options.radii.size());
    const Index cells = circles * options.points;
    const Random planes = Random(options.seed).fork(0);
    const Random coordinates = Random(options.seed).fork(1);
    const Random ambient = Random(options.seed).fork(2);
    const Index steps = options.meet_ends ? std::max<Index>(1, options.points - 1) : options.points;

    Simulated result;
    result.X.resize(3 + options.noise_dimensions, cells);
    result.labels.resize(static_cast<std::size_t>(cells));
    for (Index c = 0; c < circles; ++c) {
        const Frame plane = random_plane(planes.fork(c));
        for (Index i = 0; i < options.points; ++i) {
            const Index cell = c * options.points + i;
            const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(steps);
            Eigen::Vector3d point =
                options.radii[c] * (plane.col(0) * std::cos(angle) + plane.col(1) * std::sin(angle));
            Random jitter = coordinates.fork(cell);
            for (Index k = 0; k < 3; ++k) {
                point(k) += options.noise * jitter.normal();
            }
            result.X.col(cell).head<3>() = point;
            Random noise = ambient.fork(cell);
            for (Index k = 0; k < options.noise_dimensions; ++k) {
                result.X(3 + k, cell) =
                    nonnegative_normal(noise, options.noise_mean, options.noise_deviation);
            }
            result.labels[cell] = c;
        }
    }
    for (Index k = 0; k < 3; ++k) {
        const double smallest = result.X.row(k).minCoeff();
        // In this order the smallest comes out as the number asked for, to the bit.
        result.X.row(k) = ((result.X.row(k).array() - smallest) + options.minimum).matrix();
    }
    return result;
}

} // namespace pnmf
