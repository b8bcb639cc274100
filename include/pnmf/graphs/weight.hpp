#pragma once

#include <pnmf/types.hpp>

#include <cmath>

namespace pnmf {

/// The weight of an edge at one scale, eq. (adjacency_matrix); the formula of the graphs, here and nowhere
/// else:
///
///     w(d) = exp(−d² / ε^α)  where d < ε,  0 elsewhere
///
/// The comparison is strict and between distances as `Points` gives them, not squares: a spanning-tree edge
/// of length exactly ε is not in the graph at ε. With α ≠ 2 the exponent has a unit: multiplying X by c
/// multiplies it by c^(2−α), so that the weights depend on the unit of X. Weights below 1e-307 are 0; the
/// pair still counts as an edge.
class EdgeWeight {
  public:
    /// ε and α finite and positive, ε^α within the range of a double, or InputError.
    EdgeWeight(double epsilon, double alpha);

    double epsilon() const { return epsilon_; }
    bool joins(double distance) const { return distance < epsilon_; }
    /// For a pair that is joined.
    double of_edge(double distance) const {
        const double exponent = distance * distance * negative_rate_;
        return exponent < smallest_exponent ? 0.0 : std::exp(exponent);
    }
    double operator()(double distance) const { return joins(distance) ? of_edge(distance) : 0.0; }

  private:
    static constexpr double smallest_exponent = -706.0; // below it results lose digits, and time
    double epsilon_;
    double negative_rate_; ///< −1 / ε^α
};

/// α as every graph takes it: finite and positive, or InputError.
void check_alpha(double alpha);

} // namespace pnmf
