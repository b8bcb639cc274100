#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define PNMF_EVERYWHERE __host__ __device__ // host compilers do not know these words
#else
#define PNMF_EVERYWHERE
#endif

namespace pnmf::cuda {

/// Sizes of a problem on the device, and where its numbers stand.
///
/// The scales are stacked: every column holds one cell at all scales, so that products with X and with the
/// graphs read long runs of memory and go through X once for all scales.
///
///     H, HA, WᵀX   entry k of cell j at scale t:      [j·stride + t·rank + k]
///     W, XHᵀ       feature i of column k at scale t:  [(t·rank + k)·features + i]
///     WᵀW, HHᵀ     of scale t:                        [t·rank² + k·rank + l]
///     degrees      of cell j at scale t:              [j·scales + t]
struct Shape {
    std::int64_t features = 0;
    std::int64_t cells = 0;
    int scales = 0;
    int rank = 0;

    PNMF_EVERYWHERE std::int64_t rows() const { return static_cast<std::int64_t>(scales) * rank; }
    /// Columns begin at a multiple of 32 bytes, what the device fetches at a time.
    PNMF_EVERYWHERE std::int64_t stride() const { return (rows() + 7) / 8 * 8; }
    PNMF_EVERYWHERE std::int64_t stacked() const { return stride() * cells; }
    PNMF_EVERYWHERE std::int64_t bases() const { return rows() * features; }
    PNMF_EVERYWHERE std::int64_t grams() const { return rows() * rank; }
};

/// `ScalePenalty` of every scale as arrays on the device, in the precision of the numbers.
template <class Real>
struct Penalties {
    const Real* fit = nullptr;
    const Real* graph = nullptr;
    const Real* anchor = nullptr;
    const Real* before = nullptr; ///< scales + 1 of them: 0 before the first scale and after the last
};

} // namespace pnmf::cuda
