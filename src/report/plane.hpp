#pragma once

#include <pnmf/types.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace pnmf::report {

/// The plane in which all scales are drawn: position = directionsᵀ·(h − centre).
struct Plane {
    Matrix directions;                     ///< d × 2, orthonormal; the unit vectors for d = 2
    Vector centre;                         ///< d; zero for d ≤ 2
    std::array<double, 2> share{1.0, 1.0}; ///< of the variance of all cells at all scales, for d > 2
};

/// For d ≤ 2 the plane is H itself. Else the two leading eigenvectors of
///
///     Σ_t Σ_j (h_tj − h̄)(h_tj − h̄)ᵀ ,    h̄ the mean over the cells and scales
///
/// over the given scales, signs such that the entry of largest size is positive. O(T·n·d²).
Plane common_plane(const std::function<Matrix(Index)>& embedding, const std::vector<Index>& scales,
                   Index rank);

/// Positions of n cells at one scale as 16-bit numbers in the box that holds them.
struct ScalePositions {
    std::array<double, 4> box{}; ///< x from, y from, x to, y to
    std::vector<std::uint16_t> x;
    std::vector<std::uint16_t> y;
};

ScalePositions quantised_positions(const Plane& plane, const Matrix& H);

/// Positions of one scale after another as differences to the scale before, modulo 2¹⁶ and zigzag (0, −1, 1,
/// −2, … become 0, 1, 2, 3, …): small numbers where cells hardly move. All low bytes come first, then all
/// high bytes, each in the order scale, axis, cell; so they compress.
class PositionCoder {
  public:
    explicit PositionCoder(Index cells);
    void add(const ScalePositions& positions);
    std::vector<std::uint8_t> bytes() const;

  private:
    void add_axis(const std::vector<std::uint16_t>& values, std::vector<std::uint16_t>& before);

    std::vector<std::uint16_t> x_;
    std::vector<std::uint16_t> y_;
    std::vector<std::uint8_t> low_;
    std::vector<std::uint8_t> high_;
};

} // namespace pnmf::report
