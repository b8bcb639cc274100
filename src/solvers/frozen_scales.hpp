#pragma once

#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Scales that sweeps leave as they are: a mark for each scale, or none at all where every scale moves.
using FrozenScales = std::vector<char>;

inline bool is_frozen(const FrozenScales& frozen, Index t) {
    return !frozen.empty() && frozen[static_cast<std::size_t>(t)] != 0;
}

/// A scale and both its neighbours are frozen: nothing that is measured there can change.
inline bool stands_still(const FrozenScales& frozen, Index t) {
    const Index last = static_cast<Index>(frozen.size()) - 1;
    return is_frozen(frozen, t) && (t == 0 || is_frozen(frozen, t - 1)) &&
           (t == last || is_frozen(frozen, t + 1));
}

/// The scales that move, ascending.
inline std::vector<Index> moving_scales(const FrozenScales& frozen, Index scales) {
    std::vector<Index> result;
    for (Index t = 0; t < scales; ++t) {
        if (!is_frozen(frozen, t)) {
            result.push_back(t);
        }
    }
    return result;
}

} // namespace pnmf
