#include <pnmf/linalg/random.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace pnmf {
namespace {

std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

} // namespace

std::uint64_t Random::bits() {
    state_ += golden;
    return mix(state_);
}

double Random::uniform() {
    return static_cast<double>(bits() >> 11U) * 0x1p-53;
}

Index Random::below(Index count) {
    // Numbers past the last whole multiple of count would favour small results: draw again.
    const auto bound = static_cast<std::uint64_t>(count);
    const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / bound * bound;
    std::uint64_t draw = bits();
    while (draw >= limit) {
        draw = bits();
    }
    return static_cast<Index>(draw % bound);
}

double Random::normal() {
    // Box and Muller (1958); one of the pair is left unused so that the state stays a single number.
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Random Random::fork(std::uint64_t key) const {
    return Random(mix(state_ ^ mix(key + golden)));
}

} // namespace pnmf
