#pragma once

#include "linalg/kernels/kernels.hpp"
#include "linalg/kernels/lanes.hpp"

namespace pnmf::PNMF_KERNEL_SET {

/// The problems of some cells along the scales for one row: minimise ½hᵀMh − bᵀh over h ≥ 0 with M
/// tridiagonal: `diagonal`, and −coupling[t] between t − 1 and t.
///
/// M is an M-matrix, so the primal–dual active-set iteration (Hintermüller, Ito and Kunisch 2002) ends at the
/// minimiser: solve with some variables held at zero, release those the others pull up, hold those that fell
/// below. A cell for which it has not ended after `most_rounds` keeps its values. A cell that has ended stays
/// as it is while others go on, so that no cell depends on those beside it.
template <class Real>
struct ChainProblem {
    static constexpr int lanes = static_cast<int>(chain_lanes<Real>);
    using Numbers = Lanes<Real, lanes>;
    using Held = Mask<Real, lanes>;

    Index scales;
    const Real* coupling;
    Real* diagonal; ///< these: lanes of each scale
    Real* right;
    Real* h; ///< in: the values now; out: the minimiser
    Real* before;
    Real* factor;
    Real* held;

    PNMF_INLINE static Numbers at(const Real* values, Index t) { return Numbers::load(values + t * lanes); }

    PNMF_INLINE void solve() {
        for (Index t = 0; t < scales; ++t) {
            const Numbers now = at(h, t);
            now.store(before + t * lanes);
            ((now <= Real{0}) & (at(right, t) <= Real{0})).store(held + t * lanes);
        }
        constexpr int most_rounds = 40;
        Held changed = Numbers::all(Real{0}) <= Real{0};
        for (int round = 0; round < most_rounds && changed.any(); ++round) {
            eliminate();
            changed = update_held();
        }
        for (Index t = 0; t < scales; ++t) {
            positive_part(select(changed, at(before, t), at(h, t))).store(h + t * lanes);
        }
    }

    /// h by Thomas' algorithm on the variables that are not held.
    PNMF_INLINE void eliminate() {
        const Numbers zero = Numbers::all(Real{0});
        Numbers ratio = zero;
        Numbers value = zero;
        for (Index t = 0; t < scales; ++t) {
            const Held still = Held::load(held + t * lanes);
            const Numbers pivot = at(diagonal, t) - coupling[t] * ratio;
            value = select(still, zero, (at(right, t) + coupling[t] * value) / pivot);
            ratio = select(still, zero, coupling[t + 1] / pivot);
            value.store(h + t * lanes);
            ratio.store(factor + t * lanes);
        }
        for (Index t = scales - 1; t > 0; --t) {
            value = at(h, t - 1) + at(factor, t - 1) * value;
            value.store(h + (t - 1) * lanes);
        }
    }

    PNMF_INLINE Held update_held() {
        Held changed = Numbers::all(Real{0}) < Real{0};
        for (Index t = 0; t < scales; ++t) {
            Numbers pull = at(right, t);
            if (t > 0) {
                pull = pull + coupling[t] * positive_part(at(h, t - 1));
            }
            if (t + 1 < scales) {
                pull = pull + coupling[t + 1] * positive_part(at(h, t + 1));
            }
            const Held now = Held::load(held + t * lanes);
            const Held kept = now & (pull <= Real{0});
            const Held next = kept | ((at(h, t) < Real{0}) & (now ^ (Numbers::all(Real{0}) <= Real{0})));
            changed = changed | (next ^ now);
            next.store(held + t * lanes);
        }
        return changed;
    }
};

/// The columns of the cells as rows of lanes, [t][k]; lanes past the last cell are zero.
template <class Real>
PNMF_INLINE void load_cells(const ChainArguments<Real>& in, Index begin, Index end, Real* h, Real* pull,
                            Real* weight) {
    constexpr Index lanes = chain_lanes<Real>;
    const Index rank = in.rank;
    for (Index t = 0; t < in.scales; ++t) {
        Real* const h_t = h + t * rank * lanes;
        Real* const pull_t = pull + t * rank * lanes;
        for (Index c = 0; c < lanes; ++c) {
            if (begin + c >= end) {
                for (Index k = 0; k < rank; ++k) {
                    h_t[k * lanes + c] = Real{0};
                    pull_t[k * lanes + c] = Real{0};
                }
                weight[t * lanes + c] = Real{0};
                continue;
            }
            const Index column = (begin + c) * rank;
            for (Index k = 0; k < rank; ++k) {
                h_t[k * lanes + c] = in.H[t][column + k];
                pull_t[k * lanes + c] = in.WtX[t][column + k] + in.graph[t] * in.HA[t][column + k];
            }
            weight[t * lanes + c] = in.graph[t] * in.degree[t][begin + c];
        }
    }
}

/// Diagonal and right-hand side of row k at scales [t, t + together), whose sums do not wait for one another.
template <class Real, int together>
PNMF_INLINE void set_up(const ChainArguments<Real>& in, Index t, Index k, const Real* h, const Real* pull,
                        const Real* weight, ChainProblem<Real>& problem) {
    constexpr Index lanes = chain_lanes<Real>;
    using Numbers = typename ChainProblem<Real>::Numbers;
    const Index rank = in.rank;
    Numbers gradient[together];
    for (int i = 0; i < together; ++i) {
        const Index row = (t + i) * rank + k;
        gradient[i] =
            (Numbers::load(weight + (t + i) * lanes) + in.anchor[t + i]) * Numbers::load(h + row * lanes) -
            Numbers::load(pull + row * lanes);
    }
    for (Index l = 0; l < rank; ++l) {
        for (int i = 0; i < together; ++i) {
            gradient[i].add_product(in.WtW[t + i][k * rank + l],
                                    Numbers::load(h + ((t + i) * rank + l) * lanes));
        }
    }
    for (int i = 0; i < together; ++i) {
        const Index at = (t + i) * lanes;
        const Numbers now = Numbers::load(h + ((t + i) * rank + k) * lanes);
        const Numbers curvature =
            (in.WtW[t + i][k * rank + k] + Real{2} * Numbers::load(weight + at)) + in.anchor[t + i];
        (curvature + (in.coupling[t + i] + in.coupling[t + i + 1])).store(problem.diagonal + at);
        (curvature * now - gradient[i]).store(problem.right + at);
        now.store(problem.h + at);
    }
}

template <class Real>
void chain(const ChainArguments<Real>& in, Index begin, Index end, Real* buffer) {
    constexpr Index lanes = chain_lanes<Real>;
    using Numbers = typename ChainProblem<Real>::Numbers;
    const Index scales = in.scales;
    const Index rank = in.rank;
    const Index row = scales * lanes;
    Real* const h = buffer;
    Real* const pull = h + rank * row;
    Real* const weight = pull + rank * row;
    ChainProblem<Real> problem{scales,           in.coupling,      weight + row,     weight + 2 * row,
                               weight + 3 * row, weight + 4 * row, weight + 5 * row, weight + 6 * row};
    load_cells(in, begin, end, h, pull, weight);
    for (Index k = 0; k < rank; ++k) {
        constexpr int together = 4;
        Index t = 0;
        for (; t + together <= scales; t += together) {
            set_up<Real, together>(in, t, k, h, pull, weight, problem);
        }
        for (; t < scales; ++t) {
            set_up<Real, 1>(in, t, k, h, pull, weight, problem);
        }
        problem.solve();
        for (t = 0; t < scales; ++t) {
            Numbers::load(problem.h + t * lanes).store(h + (t * rank + k) * lanes);
        }
    }
    for (Index t = 0; t < scales; ++t) {
        for (Index j = begin; j < end; ++j) {
            for (Index k = 0; k < rank; ++k) {
                in.H[t][j * rank + k] = h[(t * rank + k) * lanes + (j - begin)];
            }
        }
    }
}

} // namespace pnmf::PNMF_KERNEL_SET
