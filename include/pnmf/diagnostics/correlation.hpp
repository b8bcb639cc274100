#pragma once

#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Pearson's correlation of N pairs and its two-sided p-value: under independence and normality
/// r √((N − 2)/(1 − r²)) has Student's t distribution with N − 2 degrees of freedom.
struct Correlation {
    double r = 0.0; ///< NaN when one of the two does not vary
    double p = 1.0; ///< NaN likewise, or for fewer than three pairs
};

Correlation pearson(const std::vector<double>& x, const std::vector<double>& y);

/// I_x(a, b), the regularised incomplete beta function, for a, b > 0 and 0 ≤ x ≤ 1: by its continued fraction
/// (Lentz's algorithm), to about 1e-14 relative, also where it is as small as 1e-300.
double incomplete_beta(double a, double b, double x);

} // namespace pnmf
