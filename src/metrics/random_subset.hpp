#pragma once

#include <pnmf/linalg/random.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace pnmf {

/// `count` of the numbers 0 … n − 1, ascending: the first of a shuffle.
inline std::vector<Index> random_subset(Index n, Index count, Random random) {
    std::vector<Index> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), Index{0});
    for (Index i = 0; i < count; ++i) {
        std::swap(all[i], all[i + random.below(n - i)]);
    }
    all.resize(static_cast<std::size_t>(count));
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace pnmf
