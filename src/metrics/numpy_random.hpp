#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <random>

namespace pnmf {

/// The random numbers of NumPy's `RandomState(seed)`, seed < 2³²: MT19937, whose output the C++ standard
/// fixes too; integers by masked rejection, doubles from 53 bits.
class NumpyRandom {
  public:
    explicit NumpyRandom(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed ^ (seed >> 32U))) {}

    /// `randint(count)`, 1 ≤ count ≤ 2³².
    Index below(Index count) {
        const auto largest = static_cast<std::uint32_t>(count - 1);
        if (largest == 0) {
            return 0;
        }
        std::uint32_t mask = largest;
        for (const unsigned shift : {1U, 2U, 4U, 8U, 16U}) {
            mask |= mask >> shift;
        }
        std::uint32_t draw = bits() & mask;
        while (draw > largest) {
            draw = bits() & mask;
        }
        return draw;
    }

    /// `random_sample()`, uniform in [0, 1).
    double uniform() {
        const std::uint32_t high = bits() >> 5U;
        const std::uint32_t low = bits() >> 6U;
        return (high * 67108864.0 + low) / 9007199254740992.0;
    }

  private:
    std::uint32_t bits() { return static_cast<std::uint32_t>(engine_()); }

    std::mt19937 engine_;
};

} // namespace pnmf
