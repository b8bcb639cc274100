#pragma once

#include "linalg/kernels/kernels.hpp"
#include "linalg/kernels/lanes.hpp"

namespace pnmf::PNMF_KERNEL_SET {

/// v ← max(v, 0); returns ‖v‖²: 32 bytes of sums side by side, added up to 16 bytes, then to one, evenly; the
/// last numbers come after these. So Eigen adds up a column on processors with vectors of 16 bytes.
template <class Real>
Real positive_square(Real* v, Index count) {
    constexpr int half = 16 / static_cast<int>(sizeof(Real));
    constexpr int lanes = 2 * half;
    using Numbers = Lanes<Real, lanes>;
    using Half = Lanes<Real, half>;
    const Index pairs_end = count / lanes * lanes;
    const Index end = count / half * half;

    Numbers sum = Numbers::all(Real{0});
    for (Index i = 0; i < pairs_end; i += lanes) {
        const Numbers positive = positive_part(Numbers::load(v + i));
        positive.store(v + i);
        sum = sum + positive * positive;
    }
    Real side[lanes];
    sum.store(side);
    Half total = Half::load(side) + Half::load(side + half);
    if (end > pairs_end) {
        const Half positive = positive_part(Half::load(v + pairs_end));
        positive.store(v + pairs_end);
        total = total + positive * positive;
    }
    Real part[half];
    total.store(part);
    Real result{};
    if constexpr (half == 4) {
        result = (part[0] + part[2]) + (part[1] + part[3]);
    } else {
        result = part[0] + part[1];
    }
    for (Index i = end; i < count; ++i) {
        v[i] = v[i] > Real{0} ? v[i] : Real{0};
        result = result + v[i] * v[i];
    }
    return result;
}

/// v ← v / norm, moved ← v − w, w ← v.
template <class Real>
void take_direction(Real norm, Index count, Real* v, Real* moved, Real* w) {
    constexpr int lanes = 64 / static_cast<int>(sizeof(Real));
    using Numbers = Lanes<Real, lanes>;
    Index i = 0;
    for (; i + lanes <= count; i += lanes) {
        const Numbers direction = Numbers::load(v + i) / norm;
        (direction - Numbers::load(w + i)).store(moved + i);
        direction.store(v + i);
        direction.store(w + i);
    }
    for (; i < count; ++i) {
        v[i] = v[i] / norm;
        moved[i] = v[i] - w[i];
        w[i] = v[i];
    }
}

} // namespace pnmf::PNMF_KERNEL_SET
