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

/// `rows` of the result, their number known to the compiler, from row `first` on.
template <int rows, bool fetch, class Real>
[[gnu::always_inline]] inline void gather_rows(const Entries<Real>& of, Index first) {
    Real sum[rows] = {};
    const Real* const M = of.M + first;
    for (Index e = 0; e < of.count; ++e) {
        if constexpr (fetch) {
            const Index later = of.row[e + ahead < of.count ? e + ahead : of.count - 1];
            __builtin_prefetch(M + later * of.d);
            __builtin_prefetch(M + later * of.d + (rows - 1));
        }
        const Real* column = M + static_cast<Index>(of.row[e]) * of.d;
        const Real factor = of.value[e];
        for (int r = 0; r < rows; ++r) {
            sum[r] += factor * column[r];
        }
    }
    for (int r = 0; r < rows; ++r) {
        of.result[first + r] = sum[r];
    }
}

/// Blocks of sixteen rows; what is left in one block of 4, 8 or 16 that ends at row d. The rows it shares
/// with the block before are computed twice, to the same bits.
template <bool fetch, class Real>
[[gnu::always_inline]] inline void gather(const Entries<Real>& of) {
    const Index d = of.d;
    Index first = 0;
    for (; first + 16 <= d; first += 16) {
        gather_rows<16, fetch>(of, first);
    }
    if (d < 16) { // no block before to share rows with
        if (first + 8 <= d) {
            gather_rows<8, fetch>(of, first);
            first += 8;
        }
        for (; first + 4 <= d; first += 4) {
            gather_rows<4, fetch>(of, first);
        }
        for (; first < d; ++first) {
            gather_rows<1, fetch>(of, first);
        }
    } else if (d - first > 8) {
        gather_rows<16, fetch>(of, d - 16);
    } else if (d - first > 4) {
        gather_rows<8, fetch>(of, d - 8);
    } else if (d - first > 0) {
        gather_rows<4, fetch>(of, d - 4);
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
