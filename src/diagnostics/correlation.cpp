#include "diagnostics/unknown.hpp"

#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

double away_from_zero(double x) {
    constexpr double tiny = 1e-300;
    return std::abs(x) < tiny ? tiny : x;
}

/// The continued fraction of I_x(a, b), which settles fast for x < (a + 1)/(a + b + 2).
double beta_fraction(double a, double b, double x) {
    double numerators = 1.0;
    double denominators = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    double value = denominators;
    for (int m = 1; m <= 10'000; ++m) {
        const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        denominators = 1.0 / away_from_zero(1.0 + even * denominators);
        numerators = away_from_zero(1.0 + even / numerators);
        value *= denominators * numerators;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        denominators = 1.0 / away_from_zero(1.0 + odd * denominators);
        numerators = away_from_zero(1.0 + odd / numerators);
        const double step = denominators * numerators;
        value *= step;
        if (std::abs(step - 1.0) < 1e-15) {
            break;
        }
    }
    return value;
}

/// I_x(a, b) with 1 − x given apart, so that neither loses digits.
double incomplete_beta(double a, double b, double x, double complement) {
    if (x <= 0.0) {
        return 0.0;
    }
    if (complement <= 0.0) {
        return 1.0;
    }
    const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) +
                                  b * std::log(complement));
    if (x < (a + 1.0) / (a + b + 2.0)) {
        return front * beta_fraction(a, b, x) / a;
    }
    return 1.0 - front * beta_fraction(b, a, complement) / b;
}

} // namespace

double incomplete_beta(double a, double b, double x) {
    require(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0,
            "the incomplete beta function needs a, b > 0 and 0 <= x <= 1, got a = {}, b = {}, x = {}", a, b,
            x);
    return incomplete_beta(a, b, x, 1.0 - x);
}

Correlation pearson(const std::vector<double>& x, const std::vector<double>& y) {
    require(x.size() == y.size(), "a correlation needs as many x as y, got {} and {}", x.size(), y.size());
    const auto count = static_cast<Index>(x.size());
    const Eigen::Map<const Vector> X(x.data(), count);
    const Eigen::Map<const Vector> Y(y.data(), count);
    if (count < 2) {
        return {.r = unknown, .p = unknown};
    }
    const Vector u = X.array() - X.mean();
    const Vector v = Y.array() - Y.mean();
    const double size = u.norm() * v.norm();
    if (size == 0.0) {
        return {.r = unknown, .p = unknown};
    }
    const double r = std::clamp(u.dot(v) / size, -1.0, 1.0);
    if (count < 3) {
        return {.r = r, .p = unknown};
    }
    // 1 − r² from the residual of the unit vectors: near |r| = 1 the difference would lose digits.
    const Vector residual = v / v.norm() - r * u / u.norm();
    const double unexplained = residual.squaredNorm();
    // P(|t| > s) = I_{f/(f+s²)}(f/2, 1/2) with f = N − 2, and f/(f + s²) = 1 − r².
    const double half = static_cast<double>(count - 2) / 2.0;
    return {.r = r, .p = incomplete_beta(half, 0.5, unexplained, r * r)};
}

} // namespace pnmf
