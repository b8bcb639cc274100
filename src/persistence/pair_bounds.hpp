#pragma once

#include <pnmf/persistence/distances.hpp>

#include <span>
#include <vector>

namespace pnmf {

/// Bounds on the distances of many pairs by one matrix product: what they cannot decide is left to
/// `Points::distance`.
///
/// A pair's key orders pairs as its distance does: the canonical sum ŝ of squared differences, of which the
/// distance is √ŝ (Euclidean) or ½ŝ (cosine), or the user's distance itself. With s_a = ‖a‖² and any order of
/// summation, s_a + s_b − 2⟨a, b⟩ is within 2c(s_a + s_b) of ŝ, c = (2q + 32)·1.05·2⁻⁵³ for sums of q terms
/// (Higham, Accuracy and Stability of Numerical Algorithms, §3.1; both ŝ and the product err by at most q
/// roundings each, and (‖a‖ + ‖b‖)² ≤ 2s_a + 2s_b). The bound separates, so it costs nothing for a pair:
///
///     lower_a + lower_b − 2⟨a, b⟩  ≤  key  ≤  that + width_a + width_b
///
/// Dense coordinates are centred first, which moves no distance and makes the bounds tight for data far from
/// 0.
class PairBounds {
  public:
    explicit PairBounds(const Points& points);

    const Points& points() const { return points_; }

    /// Cells brought side by side for a product.
    struct Panel {
        std::vector<Index> cells;
        Matrix values; ///< centred coordinates, features × cells; empty for sparse data and tables
        Vector lower;
        Vector width;
    };
    void gather(std::span<const Index> cells, Panel& panel) const;

    /// out(a, b) ≤ key(a, b) ≤ out(a, b) + A.width[a] + B.width[b]. On the calling thread.
    void lower_bounds(const Panel& A, const Panel& B, Matrix& out) const;

    /// No smaller than the key of any pair at distance ≤ d. Does not fall as d grows.
    double key_above(double d) const;
    /// No larger than the key of any pair at distance ≥ d.
    double key_below(double d) const;
    /// No smaller than the key of any pair whose distance equals that of a pair with this key.
    double widen(double key) const;

  private:
    void products(const Panel& A, const Panel& B, Matrix& out) const;

    const Points& points_;
    Vector centre_;
    Vector lower_;
    Vector width_;
};

/// Cells in a panel: large enough for the product to run at full speed, small enough for a few megabytes.
inline constexpr Index panel_cells = 256;

} // namespace pnmf
