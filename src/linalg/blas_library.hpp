#pragma once

#include <cblas.h>

#include <optional>
#include <string>
#include <string_view>

namespace pnmf {

/// What OpenBLAS could use of a processor.
struct CpuFeatures {
    bool avx2 = false;   ///< AVX2 and FMA
    bool avx512 = false; ///< AVX-512 F, CD, BW, DQ and VL: all its SkylakeX kernels use
    bool neon = false;   ///< 64-bit ARM
};

CpuFeatures cpu_features();

/// The kernel to ask OpenBLAS for when the one it picked by itself leaves the processor's vectors unused, as
/// it does on processors newer than itself: it then falls back to its oldest (Prescott, SSE3; ARMV8). None
/// when the pick is sound.
std::optional<std::string_view> better_kernel(std::string_view picked, const CpuFeatures& cpu);

/// OpenBLAS, loaded when first needed. It picks its kernel while it is being loaded and never again, so it is
/// asked what it picked and, where `better_kernel` knows a better one, put away and loaded once more with
/// OPENBLAS_CORETYPE set. A user's own OPENBLAS_CORETYPE stands; so does a copy that the process had loaded
/// before.
struct BlasLibrary {
    decltype(&cblas_sgemm) sgemm = nullptr;
    decltype(&cblas_dgemm) dgemm = nullptr;
    std::string config;
    std::string kernel;        ///< in use
    std::string picked_kernel; ///< what the library picked by itself
};

/// SystemError when the library cannot be loaded.
const BlasLibrary& blas_library();

} // namespace pnmf
