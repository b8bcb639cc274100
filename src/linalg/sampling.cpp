#include <pnmf/linalg/random.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace pnmf {

std::vector<Index> evenly_spaced(Index count, Index size, Rounding rounding) {
    const Index kept = std::min(count, size);
    const Index steps = std::max<Index>(kept - 1, 1);
    const Index half = rounding == Rounding::nearest ? steps : 0; // of 2·steps
    std::vector<Index> positions;
    for (Index k = 0; k < kept; ++k) {
        positions.push_back((2 * k * (size - 1) + half) / (2 * steps));
    }
    return positions;
}

std::vector<Index> random_sample(Index n, Index count, Random random) {
    std::vector<Index> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), Index{0});
    for (Index i = 0; i < count; ++i) { // the first steps of a shuffle
        std::swap(all[i], all[i + random.below(n - i)]);
    }
    all.resize(static_cast<std::size_t>(count));
    return all;
}

std::vector<Index> random_subset(Index n, Index count, Random random) {
    std::vector<Index> drawn = random_sample(n, count, random);
    std::sort(drawn.begin(), drawn.end());
    return drawn;
}

void shuffle(std::vector<Index>& values, Random random) {
    for (auto k = static_cast<Index>(values.size()) - 1; k > 0; --k) {
        std::swap(values[k], values[random.below(k + 1)]);
    }
}

} // namespace pnmf
