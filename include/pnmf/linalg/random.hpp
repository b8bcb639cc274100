#pragma once

#include <pnmf/types.hpp>

#include <cstdint>

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

} // namespace pnmf
