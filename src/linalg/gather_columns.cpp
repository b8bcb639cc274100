#include "linalg/gather_columns.hpp"

namespace pnmf {
namespace {

constexpr Index ahead = 12;                   ///< entries whose columns are fetched before they are needed
constexpr Index near_bytes = Index{1} << 17U; ///< an M of this size stays close by itself

template <class Real>
struct Entries {
    const Real* M;
    Index d;
    const std::int32_t* row;
    const Real* value;
    Index count;
    Real* result;
};

/// Rows [first, first + head) and [last, last + tail) of the result in one pass over the entries; both
/// numbers are known to the compiler. Rows in both are computed twice, to the same bits.
template <int head, int tail, bool fetch, class Real>
[[gnu::always_inline]] inline void gather_rows(const Entries<Real>& of, Index first, Index last) {
    constexpr int line = 64 / sizeof(Real);
    Real sum[head + tail];
    for (int r = 0; r < head; ++r) {
        sum[r] = of.result[first + r];
    }
    for (int r = 0; r < tail; ++r) {
        sum[head + r] = of.result[last + r];
    }
    for (Index e = 0; e < of.count; ++e) {
        if constexpr (fetch) {
            const Index later = of.row[e + ahead < of.count ? e + ahead : of.count - 1];
            const Real* const column = of.M + later * of.d;
            for (int r = 0; r < head; r += line) {
                __builtin_prefetch(column + first + r);
            }
            __builtin_prefetch(column + last + tail - 1);
        }
        const Real* const column = of.M + static_cast<Index>(of.row[e]) * of.d;
        const Real factor = of.value[e];
        for (int r = 0; r < head; ++r) {
            sum[r] += factor * column[first + r];
        }
        for (int r = 0; r < tail; ++r) {
            sum[head + r] += factor * column[last + r];
        }
    }
    for (int r = 0; r < head; ++r) {
        of.result[first + r] = sum[r];
    }
    for (int r = 0; r < tail; ++r) {
        of.result[last + r] = sum[head + r];
    }
}

/// Blocks of sixteen rows while more than 32 are left; then all that is left in one pass, its last four rows
/// those that end at row d.
template <bool fetch, class Real>
[[gnu::always_inline]] inline void gather(const Entries<Real>& of) {
    Index first = 0;
    for (; of.d - first > 32; first += 16) {
        gather_rows<12, 4, fetch>(of, first, first + 12);
    }
    const Index last = of.d - 4;
    switch ((of.d - first) <= 4 ? of.d - first : 4 + (of.d - first - 1) / 4) {
    case 1:
        return gather_rows<0, 1, fetch>(of, 0, 0);
    case 2:
        return gather_rows<0, 2, fetch>(of, 0, 0);
    case 3:
        return gather_rows<0, 3, fetch>(of, 0, 0);
    case 4:
        return gather_rows<0, 4, fetch>(of, 0, 0);
    case 5:
        return gather_rows<4, 4, fetch>(of, first, last);
    case 6:
        return gather_rows<8, 4, fetch>(of, first, last);
    case 7:
        return gather_rows<12, 4, fetch>(of, first, last);
    case 8:
        return gather_rows<16, 4, fetch>(of, first, last);
    case 9:
        return gather_rows<20, 4, fetch>(of, first, last);
    case 10:
        return gather_rows<24, 4, fetch>(of, first, last);
    default:
        return gather_rows<28, 4, fetch>(of, first, last);
    }
}

template <class Real>
using Gather = void (*)(const Entries<Real>&, bool);

template <class Real>
void gather_plain(const Entries<Real>& of, bool fetch) {
    fetch ? gather<true>(of) : gather<false>(of);
}

#ifdef __x86_64__
template <class Real>
[[gnu::target("avx2")]] void gather_avx2(const Entries<Real>& of, bool fetch) {
    fetch ? gather<true>(of) : gather<false>(of);
}

template <class Real>
[[gnu::target("avx512f")]] void gather_avx512(const Entries<Real>& of, bool fetch) {
    fetch ? gather<true>(of) : gather<false>(of);
}
#endif

/// What this processor does fastest. Products and sums are rounded one by one, so all give the same bits.
template <class Real>
Gather<Real> choose() {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        return gather_avx512<Real>;
    }
    if (__builtin_cpu_supports("avx2")) {
        return gather_avx2<Real>;
    }
#endif
    return gather_plain<Real>;
}

template <class Real>
void gather_chosen(const Entries<Real>& of, Index columns) {
    static const Gather<Real> chosen = choose<Real>();
    chosen(of, of.d * columns * static_cast<Index>(sizeof(Real)) > near_bytes);
}

} // namespace

void gather_columns(const float* M, Index d, Index columns, const std::int32_t* row, const float* value,
                    Index count, float* result) {
    gather_chosen<float>({M, d, row, value, count, result}, columns);
}

void gather_columns(const double* M, Index d, Index columns, const std::int32_t* row, const double* value,
                    Index count, double* result) {
    gather_chosen<double>({M, d, row, value, count, result}, columns);
}

} // namespace pnmf
