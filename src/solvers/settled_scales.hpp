#pragma once

#include "solvers/frozen_scales.hpp"

#include <vector>

namespace pnmf {

/// Scales whose marks change: those that freeze, and those that move again.
struct FrozenChange {
    std::vector<Index> freeze;
    std::vector<Index> wake;

    bool empty() const { return freeze.empty() && wake.empty(); }
};

/// Which scales a run freezes or wakes after a sweep (docs/decisions/0071-frozen-scales.md). `frozen` has a
/// mark for each scale.
///
/// `share` is the part of each scale in what the tolerance allows to move (squared residuals: together at
/// most 1 at the certificate); `at_rest` says whether the terms of a scale have stopped falling, without
/// which it does not freeze.
///
/// Scales are taken by their shares, smallest first, frozen or not. One freezes while the shares up to its
/// own come to at most `most_freezing`, and stays frozen up to 0.2. So a frozen scale with much of the
/// residual cannot keep others from freezing that have next to nothing of it: it wakes itself. Fewer than a
/// quarter of the scales that move do not freeze: they would not be worth the products that freezing makes
/// anew.
FrozenChange settled_scales(const FrozenScales& frozen, const std::vector<double>& share,
                            const std::vector<char>& at_rest, double most_freezing);

} // namespace pnmf
