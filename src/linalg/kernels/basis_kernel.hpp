#pragma once

#include "linalg/kernels/kernels.hpp"
#include "linalg/kernels/lanes.hpp"

namespace pnmf::PNMF_KERNEL_SET {

/// Vectors of a column side by side: with four columns, sums of 16 vectors where there are 32 registers. No
/// bits depend on it.
#if defined(__aarch64__) || defined(__AVX512F__)
inline constexpr int basis_vectors = 4;
#else
inline constexpr int basis_vectors = 2;
#endif

template <class Real, int columns>
void rest_of(const BasisBlock<Real>& in, Index skipped, Index past) {
    constexpr int lanes = basis_vectors * vector_lanes<Real>;
    using Numbers = Lanes<Real, lanes>;
    const Index rows = in.rows;
    const Real* const XHt = in.XHt + in.first * rows;
    Index i = 0;
    for (; i + lanes <= rows; i += lanes) {
        Numbers sum[columns];
        for (int c = 0; c < columns; ++c) {
            sum[c] = Numbers::load(XHt + c * rows + i);
        }
        const auto add = [&](Index begin, Index end) __attribute__((always_inline)) {
            for (Index j = begin; j < end; ++j) {
                const Numbers w = Numbers::load(in.W + j * rows + i);
                for (int c = 0; c < columns; ++c) {
                    sum[c].add_fused(in.factors[basis_columns * j + c], w);
                }
            }
        };
        add(0, skipped);
        add(past, in.rank);
        for (int c = 0; c < columns; ++c) {
            sum[c].store(in.rest + c * rows + i);
        }
    }
    for (; i < rows; ++i) {
        for (int c = 0; c < columns; ++c) {
            Real sum = XHt[c * rows + i];
            for (Index j = 0; j < in.rank; ++j) {
                if (j < skipped || j >= past) {
                    sum = fused(in.factors[basis_columns * j + c], in.W[j * rows + i], sum);
                }
            }
            in.rest[c * rows + i] = sum;
        }
    }
}

template <class Real>
void basis_rest(const BasisBlock<Real>& in, bool over_all) {
    const Index skipped = over_all ? in.rank : in.first;
    const Index past = over_all ? in.rank : in.first + in.count;
    switch (in.count) {
    case 1:
        return rest_of<Real, 1>(in, skipped, past);
    case 2:
        return rest_of<Real, 2>(in, skipped, past);
    case 3:
        return rest_of<Real, 3>(in, skipped, past);
    default:
        return rest_of<Real, 4>(in, skipped, past);
    }
}

/// The other columns of a block, for a step on one of them.
template <class Real, int others>
struct OtherColumns {
    static constexpr int lanes = 128 / static_cast<int>(sizeof(Real));
    using Numbers = Lanes<Real, lanes>;

    const Real* rest;
    const Real* w[others + 1];
    Real factor[others + 1];

    PNMF_INLINE Numbers direction(Index i) const {
        Numbers v = Numbers::load(rest + i);
        for (int j = 0; j < others; ++j) {
            v.add_fused(factor[j], Numbers::load(w[j] + i));
        }
        return v;
    }
    PNMF_INLINE Real direction_of_row(Index i) const {
        Real v = rest[i];
        for (int j = 0; j < others; ++j) {
            v = fused(factor[j], w[j][i], v);
        }
        return v;
    }
};

/// The square is 128 bytes of sums side by side, then these one after the other, then the last rows.
template <class Real, int others>
Real step_on(const BasisBlock<Real>& in, Index c, Real* w) {
    using Others = OtherColumns<Real, others>;
    using Numbers = typename Others::Numbers;
    constexpr int lanes = Others::lanes;
    const Index rows = in.rows;
    Others from;
    from.rest = in.rest + c * rows;
    for (int j = 0; j < others; ++j) {
        const Index column = in.first + j + (j < c ? 0 : 1);
        from.w[j] = in.W + column * rows;
        from.factor[j] = in.factors[basis_columns * column + c];
    }
    Index i = 0;
    while (i + lanes <= rows && !(from.direction(i) > Real{0}).any()) {
        i += lanes;
    }
    if (i + lanes > rows) { // nothing is written before a positive entry is found
        while (i < rows && !(from.direction_of_row(i) > Real{0})) {
            ++i;
        }
        if (i == rows) {
            return Real{-1};
        }
    }
    for (Index before = 0; before < i; ++before) {
        w[before] = Real{0};
    }
    Numbers sum = Numbers::all(Real{0});
    for (; i + lanes <= rows; i += lanes) {
        const Numbers positive = positive_part(from.direction(i));
        positive.store(w + i);
        sum = sum + positive * positive;
    }
    Real side[lanes];
    sum.store(side);
    Real square{0};
    for (int lane = 0; lane < lanes; ++lane) {
        square += side[lane];
    }
    for (; i < rows; ++i) {
        const Real v = from.direction_of_row(i);
        w[i] = v > Real{0} ? v : Real{0};
        square += w[i] * w[i];
    }
    return square;
}

template <class Real>
Real basis_column(const BasisBlock<Real>& in, Index c, Real* w) {
    switch (in.count) {
    case 1:
        return step_on<Real, 0>(in, c, w);
    case 2:
        return step_on<Real, 1>(in, c, w);
    case 3:
        return step_on<Real, 2>(in, c, w);
    default:
        return step_on<Real, 3>(in, c, w);
    }
}

/// Sums over the rows of a column are in double precision: eight side by side, then these one after the
/// other, then the last rows.
inline constexpr int movement_lanes = 8;
using Doubles = Lanes<double, movement_lanes>;

PNMF_INLINE double sum_of(const Doubles& sums) {
    double side[movement_lanes];
    sums.store(side);
    double sum = 0.0;
    for (int lane = 0; lane < movement_lanes; ++lane) {
        sum += side[lane];
    }
    return sum;
}

template <class Real>
void basis_products(const Real* w, const Real* rest, Index rows, double* sums) {
    Doubles squares = Doubles::all(0.0);
    Doubles products = Doubles::all(0.0);
    Index i = 0;
    for (; i + movement_lanes <= rows; i += movement_lanes) {
        const Doubles here = Doubles::load_from(w + i);
        squares = squares + here * here;
        products = products + here * Doubles::load_from(rest + i);
    }
    sums[0] = sum_of(squares);
    sums[1] = sum_of(products);
    for (; i < rows; ++i) {
        const auto here = static_cast<double>(w[i]);
        sums[0] += here * here;
        sums[1] += here * static_cast<double>(rest[i]);
    }
}

template <class Real>
double basis_movement(const Real* w, const Real* rest, Index rows, double along, double inverse) {
    Doubles squares = Doubles::all(0.0);
    Index i = 0;
    for (; i + movement_lanes <= rows; i += movement_lanes) {
        const Doubles here = Doubles::load_from(w + i);
        const Doubles next = here + inverse * (Doubles::load_from(rest + i) - along * here);
        const Doubles moved = here - positive_part(next);
        squares = squares + moved * moved;
    }
    double sum = sum_of(squares);
    for (; i < rows; ++i) {
        const auto here = static_cast<double>(w[i]);
        const double next = here + inverse * (static_cast<double>(rest[i]) - along * here);
        const double moved = here - (next > 0.0 ? next : 0.0);
        sum += moved * moved;
    }
    return sum;
}

} // namespace pnmf::PNMF_KERNEL_SET
