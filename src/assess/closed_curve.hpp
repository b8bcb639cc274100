#pragma once

#include "persistence/loops.hpp"

#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// The circular coordinate of each point that a class of H1 gives, radians (de Silva, Morozov and
/// Vejdemo-Johansson 2011, Discrete Comput. Geom. 45:737): with α the cocycle on the edges no longer than ε,
/// half-way from birth to death, f minimises Σ (f_j − f_i − α_ij)² and the coordinate is 2πf. Points that
/// edges do not join to the loop get 0.
Vector circular_coordinate(const Loop& loop, const Matrix& distances);

/// The same order, evenly spread over the circle: 2π times the share of the points before each.
Vector spread_evenly(const Vector& phase);

/// The points without what two harmonics of their phases and a constant explain by least squares; their mean
/// stays.
Matrix without_waves(const Matrix& points, const Vector& phase);

/// A closed curve of two harmonics,
///
///     c(φ) = a₀ + a₁ cos φ + b₁ sin φ + a₂ cos 2φ + b₂ sin 2φ ,
///
/// by least squares through points whose phases are known.
class ClosedCurve {
  public:
    /// `points`: m × n, n ≥ 1.
    ClosedCurve(const Matrix& points, const Vector& phase);

    struct Places {
        Vector phase;    ///< radians, 0 to 2π
        Vector distance; ///< from the nearest point of the curve
    };
    /// Where points are on the curve. With noise of variance s² in each direction across it, the phase of x
    /// is the mean direction of places that have the weight exp(−‖x − c(φ)‖²/2s²).
    Places places(const Matrix& points, double noise) const;
    /// The mean square of the distances of points from it, for each of the m − 1 directions across it.
    double noise_of(const Matrix& points) const;
    /// The mean distance of the curve from its middle.
    double radius() const;

  private:
    Matrix grid_; ///< m × steps, points of the curve
    Vector middle_;
};

} // namespace pnmf
