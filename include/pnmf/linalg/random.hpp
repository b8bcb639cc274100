#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// A seeded stream of random numbers, the same on every machine and compiler (splitmix64; Steele et al.
/// 2014).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits();
    /// Uniform in [0, 1).
    double uniform();
    /// Uniform among 0 … count − 1. count ≥ 1.
    Index below(Index count);
    /// Standard normal.
    double normal();
    /// A stream of its own for item `key`, whatever else was drawn: for parallel work.
    Random fork(std::uint64_t key) const;

  private:
    std::uint64_t state_;
};

/// Where an evenly spaced position goes that falls between two whole ones.
enum class Rounding {
    nearest, ///< halves up
    down,
};

/// `count` of the positions 0 … size − 1, evenly spaced, ascending, the first and the last among them:
///
///     ⌊k·(size − 1)/(count − 1) + ½⌋,  k = 0 … count − 1;   without the ½ when rounded down
///
/// All of them when count ≥ size; the first one when count = 1.
std::vector<Index> evenly_spaced(Index count, Index size, Rounding rounding = Rounding::nearest);

/// `count` of the numbers 0 … n − 1, drawn without repetition, in the order drawn. 0 ≤ count ≤ n.
std::vector<Index> random_sample(Index n, Index count, Random random);

/// The same, ascending.
std::vector<Index> random_subset(Index n, Index count, Random random);

/// Puts the values into random order.
void shuffle(std::vector<Index>& values, Random random);

} // namespace pnmf
