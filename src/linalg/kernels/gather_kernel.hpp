#pragma once

#include "linalg/kernels/kernels.hpp"
#include "linalg/kernels/lanes.hpp"

namespace pnmf::PNMF_KERNEL_SET {

inline constexpr Index fetched_ahead = 12; ///< entries whose columns are fetched before they are needed

#if defined(__aarch64__) || defined(__AVX512F__)
inline constexpr int registers = 32;
#else
inline constexpr int registers = 16;
#endif

/// `vectors` vectors of `lanes` rows each, from row `first` on; the last one begins at row `last`. Rows in
/// two of them are computed twice, to the same bits.
template <class Real, int lanes, int vectors>
struct RowSums {
    Lanes<Real, lanes> sum[vectors];

    PNMF_INLINE void load(const Real* result, Index first, Index last) {
        for (int v = 0; v + 1 < vectors; ++v) {
            sum[v] = Lanes<Real, lanes>::load(result + first + v * lanes);
        }
        sum[vectors - 1] = Lanes<Real, lanes>::load(result + last);
    }
    PNMF_INLINE void add(const Real* column, Real factor, Index first, Index last) {
        for (int v = 0; v + 1 < vectors; ++v) {
            sum[v].add_product(factor, Lanes<Real, lanes>::load(column + first + v * lanes));
        }
        sum[vectors - 1].add_product(factor, Lanes<Real, lanes>::load(column + last));
    }
    PNMF_INLINE void store(Real* result, Index first, Index last) const {
        for (int v = 0; v + 1 < vectors; ++v) {
            sum[v].store(result + first + v * lanes);
        }
        sum[vectors - 1].store(result + last);
    }
};

template <class Real>
PNMF_INLINE const Real* column_of(const GatherFrom<Real>& from, const GatherRun<Real>& run, Index e) {
    return from.M + (static_cast<Index>(run.row[e]) - from.first) * from.stride;
}

template <class Real, int lanes, int vectors>
PNMF_INLINE void fetch(const GatherFrom<Real>& from, const GatherRun<Real>& run, Index e, Index first,
                       Index last) {
    constexpr int line = 64 / sizeof(Real);
    const Index later = e + fetched_ahead < run.count ? e + fetched_ahead : run.count - 1;
    const Real* const column = column_of(from, run, later);
    for (int r = 0; r < lanes * (vectors - 1); r += line) {
        __builtin_prefetch(column + first + r);
    }
    __builtin_prefetch(column + last + lanes - 1);
}

/// Two columns of the result at a time where the registers hold both, as their sums do not wait for one
/// another.
template <class Real, int lanes, int vectors, bool far>
PNMF_INLINE void gather_rows(const GatherFrom<Real>& from, const GatherRun<Real>* runs, Index count,
                             Index first, Index last) {
    using Sums = RowSums<Real, lanes, vectors>;
    constexpr bool in_pairs = 2 * vectors + 4 <= registers;
    Index i = 0;
    for (; in_pairs && i + 1 < count; i += 2) {
        const GatherRun<Real>& a = runs[i];
        const GatherRun<Real>& b = runs[i + 1];
        const Index both = a.count < b.count ? a.count : b.count;
        Sums of_a;
        Sums of_b;
        of_a.load(a.result, first, last);
        of_b.load(b.result, first, last);
        for (Index e = 0; e < both; ++e) {
            if constexpr (far) {
                fetch<Real, lanes, vectors>(from, a, e, first, last);
                fetch<Real, lanes, vectors>(from, b, e, first, last);
            }
            of_a.add(column_of(from, a, e), a.value[e], first, last);
            of_b.add(column_of(from, b, e), b.value[e], first, last);
        }
        for (Index e = both; e < a.count; ++e) {
            of_a.add(column_of(from, a, e), a.value[e], first, last);
        }
        for (Index e = both; e < b.count; ++e) {
            of_b.add(column_of(from, b, e), b.value[e], first, last);
        }
        of_a.store(a.result, first, last);
        of_b.store(b.result, first, last);
    }
    for (; i < count; ++i) {
        Sums sums;
        sums.load(runs[i].result, first, last);
        for (Index e = 0; e < runs[i].count; ++e) {
            if constexpr (far) {
                fetch<Real, lanes, vectors>(from, runs[i], e, first, last);
            }
            sums.add(column_of(from, runs[i], e), runs[i].value[e], first, last);
        }
        sums.store(runs[i].result, first, last);
    }
}

template <class Real, int lanes, int vectors>
PNMF_INLINE void gather_rows(const GatherFrom<Real>& from, const GatherRun<Real>* runs, Index count,
                             Index first, Index last) {
    from.far ? gather_rows<Real, lanes, vectors, true>(from, runs, count, first, last)
             : gather_rows<Real, lanes, vectors, false>(from, runs, count, first, last);
}

/// All rows from `first` on, in at most `most` vectors: in one pass over the entries.
template <class Real, int lanes, int most>
PNMF_INLINE void gather_rest(const GatherFrom<Real>& from, const GatherRun<Real>* runs, Index count,
                             Index first) {
    if constexpr (most > 1) {
        if (from.d - first <= (most - 1) * lanes) {
            return gather_rest<Real, lanes, most - 1>(from, runs, count, first);
        }
    }
    gather_rows<Real, lanes, most>(from, runs, count, first, from.d - lanes);
}

template <class Real>
void gather(const GatherFrom<Real>& from, const GatherRun<Real>* runs, Index count) {
    constexpr int lanes = vector_lanes<Real>;
    if (from.d >= lanes) {
        constexpr int most = lanes < 8 ? 32 / lanes : 4;
        Index first = 0;
        for (; from.d - first > most * lanes; first += most / 2 * lanes) {
            gather_rows<Real, lanes, most / 2>(from, runs, count, first, first + (most / 2 - 1) * lanes);
        }
        return gather_rest<Real, lanes, most>(from, runs, count, first);
    }
    if constexpr (lanes > 8) {
        if (from.d >= 8) {
            return gather_rest<Real, 8, 2>(from, runs, count, 0);
        }
    }
    if constexpr (lanes > 4) {
        if (from.d >= 4) {
            return gather_rest<Real, 4, 2>(from, runs, count, 0);
        }
    }
    if constexpr (lanes > 2) {
        if (from.d >= 2) {
            return gather_rest<Real, 2, 2>(from, runs, count, 0);
        }
    }
    gather_rows<Real, 1, 1>(from, runs, count, 0, 0);
}

} // namespace pnmf::PNMF_KERNEL_SET
