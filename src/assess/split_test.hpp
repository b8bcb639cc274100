#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// Cells on the line from one group to another: in the middle of either, and between them.
struct SplitTest {
    Index first = 0;
    Index between = 0;
    Index second = 0;
    double p_value = 1.0; ///< of so few between them, were there a single mode
    bool tested = false;  ///< false where a side has too few cells, or no line tells them apart
};

/// What is asked of one population: a single mode, or a log-concave density. The latter is for a rare group,
/// less than a fifth of the cells.
enum class SplitShape { one_mode, log_concave };

/// What is asked of a split.
struct SplitQuestion {
    SplitShape shape = SplitShape::one_mode;
    double valley = 1.0; ///< v: one population has more than this share of the emptier end between the groups
};

/// Tests whether two groups of cells are two populations, or parts of one.
///
/// The cells are projected on the line along which the groups differ most, and counted in three windows of
/// equal width: at the centre of either group and at the place between them that is as many standard
/// deviations from either. Where there is one mode, the middle window is at least as dense as the emptier of
/// the ends. So if x are in it, and a and b at the ends,
///
///     p = P(Bin(x + min(a, b), v/(1 + v)) ≤ x) ,  v = 1 .
///
/// With v < 1 a valley is asked for: that a plain or a shallow dip was cut is then not enough.
///
/// The tail of many cells fills the valley beside a rare group. There a stronger property of one population
/// can be asked for: that the density on the line is log-concave. With the middle window where a cell is as
/// likely of the one group as of the other, x ≥ v a^{1−t} b^t in expectation, t being the share of the way
/// where the middle window lies (Prékopa 1973); p is of the shortfall of log x, and 1 unless 2 min(a, b) > x:
/// the rarer end is a mode, or nearly.
///
/// The line of a cell is found without it: cells are dealt into ten parts, and those of a part are projected
/// on Fisher's direction Σ⁻¹(μ₂ − μ₁) of the other nine, Σ shrunk towards a multiple of the unit matrix. So
/// cells are not put where the groups want them. Nothing is assumed of the form of the population.
///
/// How many features a cell expresses moves it along a curve, on which even spread can look like two ends.
/// Where the groups differ in that number by two standard deviations or more, the windows are also counted in
/// the half of the cells nearest to the border in it, and the larger p is taken.
///
/// Groups are unions of `leaves`, so that several ways to divide the same cells cost little more than one:
/// set-up O(n d²), each test O(n d + d³).
class SplitTester {
  public:
    /// `cells`: d × n, coordinates that the groups were not found in; `leaf` of each, 0 … leaves − 1;
    /// `depth`: the logarithm of the number of features that each expresses, or empty.
    SplitTester(const Matrix& cells, std::vector<Index> leaf, Index leaves, std::vector<double> depth,
                std::uint64_t seed);

    /// The cells of the leaves that are true against all others. p is 1 where a side has too few cells, or
    /// where none is rare though the shape is for rare groups.
    SplitTest test(const std::vector<bool>& second, const SplitQuestion& question = {}) const;

    /// Cells of the smaller of the two groups.
    Index smaller_side(const std::vector<bool>& second) const;

  private:
    /// Sums over the cells of a leaf that are in a part.
    struct Moments {
        double count = 0.0;
        Vector sum;
        Matrix products;
    };
    struct Line {
        Vector direction;
        double origin = 0.0;  ///< the first group's centre along the direction
        double length = 0.0;  ///< from there to the second's
        double between = 0.5; ///< as many standard deviations from either
        double border = 0.5;  ///< where a cell is as likely of the one as of the other
        bool exists = false;
    };
    const Moments& moments(Index leaf, Index part) const;
    Line line_without(Index part, const std::vector<bool>& second) const;
    static SplitTest count(const Vector& place, double between, const SplitQuestion& question,
                           const std::vector<Index>& cells);
    std::vector<Index> near_border_in_depth(const std::vector<bool>& second) const;

    Matrix cells_; ///< along their principal axes
    std::vector<Index> leaf_;
    std::vector<Index> part_;
    std::vector<double> depth_;
    std::vector<Moments> moments_; ///< leaf by leaf
};

/// P(Bin(n, share) ≤ x).
double binomial_below(Index x, Index n, double share);

} // namespace pnmf
