#include "assess/closed_curve.hpp"

#include "linalg/decompositions.hpp"

#include <pnmf/parallel.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace pnmf {
namespace {

constexpr Index harmonics = 2;
constexpr Index steps = 200; ///< places on the curve that are looked at
constexpr double turn = 2.0 * std::numbers::pi;

double on_circle(double angle) {
    const double rest = std::fmod(angle, turn);
    return rest < 0.0 ? rest + turn : rest;
}

/// A column for each phase: 1, cos φ, sin φ, cos 2φ, sin 2φ.
Matrix waves(const Vector& phase) {
    Matrix basis(1 + 2 * harmonics, phase.size());
    basis.row(0).setOnes();
    for (Index h = 1; h <= harmonics; ++h) {
        basis.row(2 * h - 1) = (static_cast<double>(h) * phase.array()).cos().transpose();
        basis.row(2 * h) = (static_cast<double>(h) * phase.array()).sin().transpose();
    }
    return basis;
}

/// Least squares, a column for each coordinate.
Matrix wave_coefficients(const Matrix& basis, const Matrix& points) {
    Matrix normal = basis * basis.transpose();
    normal.diagonal().array() += 1e-9 * static_cast<double>(basis.cols()); // few points have fewer waves
    const Matrix right = basis * points.transpose();
    return normal.ldlt().solve(right);
}

Vector grid_of_phases() {
    return Vector::LinSpaced(steps + 1, 0.0, turn).head(steps);
}

} // namespace

Vector circular_coordinate(const Loop& loop, const Matrix& distances) {
    const Index n = distances.rows();
    const double reach = 0.5 * (loop.birth + loop.death);
    Matrix laplacian = Matrix::Zero(n, n);
    for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
            if (i != j && distances(i, j) <= reach) {
                laplacian(i, j) = -1.0;
                laplacian(j, j) += 1.0;
            }
        }
    }
    Vector flow = Vector::Zero(n); // out of each point, of what the cocycle says
    for (const CocycleEdge& edge : loop.cocycle) {
        if (distances(edge.i, edge.j) <= reach) {
            flow[edge.j] += edge.value;
            flow[edge.i] -= edge.value;
        }
    }
    // The shortest solution: each piece of the graph has its own constant, for which there is no flow.
    const SymmetricEigen eigen = symmetric_eigen(laplacian);
    constexpr double rounding = 1e-10;
    const double smallest = rounding * eigen.values.maxCoeff();
    Vector parts = eigen.vectors.transpose() * flow;
    for (Index k = 0; k < n; ++k) {
        parts[k] = eigen.values[k] > smallest ? parts[k] / eigen.values[k] : 0.0;
    }
    const Vector f = eigen.vectors * parts;
    return f.unaryExpr([](double x) { return on_circle(turn * x); });
}

Vector spread_evenly(const Vector& phase) {
    std::vector<Index> order(static_cast<std::size_t>(phase.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return phase[a] < phase[b]; });
    Vector even(phase.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        even[order[rank]] = turn * static_cast<double>(rank) / static_cast<double>(order.size());
    }
    return even;
}

Matrix without_waves(const Matrix& points, const Vector& phase) {
    const Matrix basis = waves(phase);
    const Matrix rest = points - wave_coefficients(basis, points).transpose() * basis;
    return rest.colwise() + points.rowwise().mean();
}

ClosedCurve::ClosedCurve(const Matrix& points, const Vector& phase) {
    grid_ = wave_coefficients(waves(phase), points).transpose() * waves(grid_of_phases());
    middle_ = grid_.rowwise().mean();
}

ClosedCurve::Places ClosedCurve::places(const Matrix& points, double noise) const {
    const Index n = points.cols();
    Places found{.phase = Vector(n), .distance = Vector(n)};
    const Vector angle = grid_of_phases();
    const Vector cosine = angle.array().cos();
    const Vector sine = angle.array().sin();
    constexpr Index block = 256;
    parallel_blocks(n, block, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            const Vector squares = (grid_.colwise() - points.col(j)).colwise().squaredNorm();
            Index nearest = 0;
            const double least = squares.minCoeff(&nearest);
            found.distance[j] = std::sqrt(least);
            found.phase[j] = angle[nearest];
            if (noise > 0.0) {
                const Vector weight = (-(squares.array() - least) / (2.0 * noise)).exp();
                found.phase[j] = on_circle(std::atan2(weight.dot(sine), weight.dot(cosine)));
            }
        }
    });
    return found;
}

double ClosedCurve::noise_of(const Matrix& points) const {
    const double across = std::max(1.0, static_cast<double>(points.rows() - 1));
    return places(points, 0.0).distance.squaredNorm() / (across * static_cast<double>(points.cols()));
}

double ClosedCurve::radius() const {
    return (grid_.colwise() - middle_).colwise().norm().mean();
}

} // namespace pnmf
