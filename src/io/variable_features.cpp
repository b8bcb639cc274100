#include "cells/cell_sums.hpp"
#include "cells/io/local_cells.hpp"
#include "io/local_values.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/values.hpp>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pnmf {
namespace {

/// For each feature two sums over its values, p × 2, to which `add(sums, feature, value)` adds one: over
/// blocks of cells and along the tree of these. Of sparse data zeros are not seen.
template <class Add>
Matrix sums_of_features(const Dataset& data, const Add& add) {
    const Index p = data.features();
    return sum_over_cells<double>(
        io::processes_of(data), data.cells(), p, 2, [&](const BlockSlab& slab, const BlockNode& node) {
            return sum_of_node<Matrix>(node, pieces_for_threads(1), [&](Index b) {
                Matrix sums = Matrix::Zero(p, 2);
                io::for_each_value(data, slab.begin(b), slab.end(b),
                                   [&](Index, Index i, double x) { add(sums, i, x); });
                return sums;
            });
        });
}

struct Moments {
    Vector mean;
    Vector variance;
};

Moments moments_of(const Dataset& data) {
    const auto n = static_cast<double>(data.cells());
    const Matrix sums = sums_of_features(data, [](Matrix& sum, Index i, double x) {
        sum(i, 0) += x;
        sum(i, 1) += x * x;
    });
    if (n < 2.0) {
        return {sums.col(0), Vector::Zero(sums.rows())};
    }
    return {sums.col(0) / n, ((sums.col(1).array() - sums.col(0).array().square() / n) / (n - 1.0)).max(0.0)};
}

/// The value at `place` of the quadratic that fits the `nearest` points best, with tricube weights.
double local_quadratic(const Vector& x, const Vector& y, double place, Index nearest) {
    const Vector distance = (x.array() - place).abs();
    std::vector<double> sorted(distance.begin(), distance.end());
    std::nth_element(sorted.begin(), sorted.begin() + nearest - 1, sorted.end());
    const double width = std::max(sorted[static_cast<std::size_t>(nearest - 1)], 1e-12);
    Eigen::Matrix3d normal = Eigen::Matrix3d::Zero();
    Eigen::Vector3d right = Eigen::Vector3d::Zero();
    for (Index i = 0; i < x.size(); ++i) {
        if (distance[i] < width || distance[i] == 0.0) {
            const double u = (x[i] - place) / width;
            const double weight = std::pow(1.0 - std::pow(std::abs(u), 3.0), 3.0);
            const Eigen::Vector3d terms(1.0, u, u * u);
            normal += weight * terms * terms.transpose();
            right += weight * y[i] * terms;
        }
    }
    return normal.completeOrthogonalDecomposition().solve(right)[0];
}

/// What y is at each x where it follows a smooth curve.
Vector trend(const Vector& x, const Vector& y) {
    constexpr double share = 0.3;
    constexpr Index places = 64;
    constexpr Index fewest = 20;
    const Index nearest = std::max(std::min(fewest, x.size()),
                                   static_cast<Index>(std::ceil(share * static_cast<double>(x.size()))));
    const double first = x.minCoeff();
    const double step = std::max((x.maxCoeff() - first) / (places - 1), 1e-12);
    Vector curve(places);
    parallel_for(places, [&](Index k) {
        curve[k] = local_quadratic(x, y, first + step * static_cast<double>(k), nearest);
    });
    return x.unaryExpr([&](double at) {
        const double place = (at - first) / step;
        const Index k = std::min(static_cast<Index>(place), places - 2);
        const double beyond = place - static_cast<double>(k);
        return (1.0 - beyond) * curve[k] + beyond * curve[k + 1];
    });
}

/// σ of each feature by the trend over all that vary; 0 for others.
Vector usual_deviations(const Moments& moments) {
    std::vector<Index> vary;
    for (Index i = 0; i < moments.mean.size(); ++i) {
        if (moments.variance[i] > 0.0 && moments.mean[i] > 0.0) {
            vary.push_back(i);
        }
    }
    Vector sigma = Vector::Zero(moments.mean.size());
    if (!vary.empty()) {
        const Vector fitted =
            trend(moments.mean(vary).array().log10(), moments.variance(vary).array().log10());
        sigma(vary) = (fitted.array() * (0.5 * std::log(10.0))).exp();
    }
    return sigma;
}

std::vector<Index> largest_of(const Vector& variance, Index count) {
    require(count >= 1, "at least 1 feature must be kept, got {}", count);
    std::vector<Index> order(static_cast<std::size_t>(variance.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return variance[a] > variance[b]; });
    order.resize(static_cast<std::size_t>(std::min<Index>(count, std::ssize(order))));
    while (!order.empty() && variance[order.back()] <= 0.0) {
        order.pop_back();
    }
    std::sort(order.begin(), order.end());
    return order;
}

} // namespace

Vector feature_variances(const Dataset& data) {
    return moments_of(data).variance;
}

Vector standardised_variances(const Dataset& data) {
    const auto n = static_cast<double>(data.cells());
    const Moments of = moments_of(data);
    const Vector sigma = usual_deviations(of);
    const double most = std::sqrt(n);
    // Beside the squares, how many values they are: the others are zeros.
    const Matrix sums = sums_of_features(data, [&](Matrix& sum, Index i, double x) {
        const double z = std::min((x - of.mean[i]) / sigma[i], most);
        sum(i, 0) += z * z;
        sum(i, 1) += 1.0;
    });
    const auto of_zero = (of.mean.array() / sigma.array()).square();
    return (sigma.array() > 0.0)
        .select((sums.col(0).array() + (n - sums.col(1).array()) * of_zero) / (n - 1.0), 0.0);
}

std::vector<Index> variable_features(const Dataset& data, Index count, const std::vector<Index>& also) {
    Vector variance = feature_variances(data);
    for (const Index i : also) {
        if (variance[i] > 0.0) {
            variance[i] = std::numeric_limits<double>::infinity();
        }
    }
    return largest_of(variance, count);
}

std::vector<Index> overdispersed_features(const Dataset& data, Index count) {
    return largest_of(standardised_variances(data), count);
}

} // namespace pnmf
