#pragma once

/// Numbers side by side, as many as the source says, whatever the width of the processor's vectors: sums then
/// have the same order on every instruction set. Products and sums are rounded one by one.
///
/// This header is compiled once for each instruction set, in a namespace of its own (`PNMF_KERNEL_SET`), with
/// `PNMF_VECTOR_BYTES` the width of a vector. Nothing here or in the kernels may be a function that several
/// of these sources share: the linker would keep one of them, for machines that do not have its
/// instructions. So the kernels use neither Eigen nor the standard library.

#include <cstddef>
#include <cstdint>
#ifdef __aarch64__
#include <arm_neon.h>
#endif

#define PNMF_INLINE [[gnu::always_inline]] inline

namespace pnmf::PNMF_KERNEL_SET {

using Index = std::int64_t; ///< as outside of the kernels, also where pointers have 32 bits

/// a·b + c: rounded once on ARM64, where every processor can, and twice on x86-64, where SSE2 cannot. So all
/// sets of a processor agree.
template <class Real>
PNMF_INLINE Real fused(Real a, Real b, Real c) {
#ifdef __aarch64__
    if constexpr (sizeof(Real) == sizeof(float)) {
        return __builtin_fmaf(a, b, c);
    } else {
        return __builtin_fma(a, b, c);
    }
#else
    return a * b + c;
#endif
}

template <class Real>
inline constexpr int vector_lanes = PNMF_VECTOR_BYTES / static_cast<int>(sizeof(Real));

/// The same for a vector of the processor.
#ifdef __aarch64__
PNMF_INLINE float32x4_t fused_part(float a, float32x4_t b, float32x4_t c) {
    return vfmaq_n_f32(c, b, a);
}
PNMF_INLINE float64x2_t fused_part(double a, float64x2_t b, float64x2_t c) {
    return vfmaq_n_f64(c, b, a);
}
#else
template <class Real, class Part>
PNMF_INLINE Part fused_part(Real a, Part b, Part c) {
    return a * b + c;
}
#endif

/// Some numbers as a vector of others. Compilers convert vectors of 8 bytes number by number.
template <class Part, int width, class Other>
PNMF_INLINE Part converted(const Other* from) {
#ifdef __aarch64__
    if constexpr (width == 2 && sizeof(Other) == sizeof(float)) {
        return vcvt_f64_f32(vld1_f32(from));
    }
#endif
    typedef Other Others
        __attribute__((vector_size(width * sizeof(Other)), aligned(alignof(Other)), may_alias));
    return __builtin_convertvector(*reinterpret_cast<const Others*>(from), Part);
}

template <class Real, int count>
struct Lanes {
    static constexpr int width = count < vector_lanes<Real> ? count : vector_lanes<Real>;
    static constexpr int parts = count / width;
    static_assert(parts * width == count);
    typedef Real Part __attribute__((vector_size(width * sizeof(Real))));
    typedef Real Anywhere
        __attribute__((vector_size(width * sizeof(Real)), aligned(alignof(Real)), may_alias));

    Part part[parts];

    PNMF_INLINE static Lanes all(Real value) {
        Lanes result;
        for (int p = 0; p < parts; ++p) {
            result.part[p] = value - Part{}; // keeps the sign of 0
        }
        return result;
    }
    PNMF_INLINE static Lanes load(const Real* from) {
        Lanes result;
        for (int p = 0; p < parts; ++p) {
            result.part[p] = *reinterpret_cast<const Anywhere*>(from + p * width);
        }
        return result;
    }
    /// Numbers of the same or of single precision.
    template <class Other>
    PNMF_INLINE static Lanes load_from(const Other* from) {
        Lanes result;
        for (int p = 0; p < parts; ++p) {
            result.part[p] = converted<Part, width>(from + p * width);
        }
        return result;
    }
    PNMF_INLINE void store(Real* to) const {
        for (int p = 0; p < parts; ++p) {
            *reinterpret_cast<Anywhere*>(to + p * width) = part[p];
        }
    }

    /// a·b is added, the product rounded first.
    PNMF_INLINE void add_product(Real a, const Lanes& b) {
        for (int p = 0; p < parts; ++p) {
            part[p] += a * b.part[p];
        }
    }

    /// a·b is added, as `fused` does.
    PNMF_INLINE void add_fused(Real a, const Lanes& b) {
        for (int p = 0; p < parts; ++p) {
            part[p] = fused_part(a, b.part[p], part[p]);
        }
    }
};

/// One number is no vector: compilers keep vectors of one lane in memory.
template <class Real>
struct Lanes<Real, 1> {
    Real number;

    PNMF_INLINE static Lanes load(const Real* from) { return {*from}; }
    PNMF_INLINE void store(Real* to) const { *to = number; }
    PNMF_INLINE void add_product(Real a, const Lanes& b) { number += a * b.number; }
};

/// Which lanes a condition holds for: all bits of a lane set, or none.
template <class Real, int count>
struct Mask {
    using Of = Lanes<Real, count>;
    using Part = decltype(typename Of::Part{} < typename Of::Part{});

    Part part[Of::parts];

    PNMF_INLINE static Mask load(const Real* from) {
        Mask result;
        for (int p = 0; p < Of::parts; ++p) {
            const typename Of::Part bits =
                *reinterpret_cast<const typename Of::Anywhere*>(from + p * Of::width);
            result.part[p] = (Part)bits; // the same bits
        }
        return result;
    }
    PNMF_INLINE void store(Real* to) const {
        for (int p = 0; p < Of::parts; ++p) {
            *reinterpret_cast<typename Of::Anywhere*>(to + p * Of::width) = (typename Of::Part)part[p];
        }
    }

    PNMF_INLINE bool any() const {
        Part together = part[0];
        for (int p = 1; p < Of::parts; ++p) {
            together |= part[p];
        }
        std::int64_t words[sizeof(Part) / sizeof(std::int64_t)];
        __builtin_memcpy(words, &together, sizeof words);
        std::int64_t bits = 0;
        for (const std::int64_t word : words) {
            bits |= word;
        }
        return bits != 0;
    }
};

#define PNMF_LANES_OPERATION(symbol)                                                                         \
    template <class Real, int count>                                                                         \
    PNMF_INLINE Lanes<Real, count> operator symbol(const Lanes<Real, count>& a,                              \
                                                   const Lanes<Real, count>& b) {                            \
        Lanes<Real, count> result;                                                                           \
        for (int p = 0; p < Lanes<Real, count>::parts; ++p) {                                                \
            result.part[p] = a.part[p] symbol b.part[p];                                                     \
        }                                                                                                    \
        return result;                                                                                       \
    }                                                                                                        \
    template <class Real, int count>                                                                         \
    PNMF_INLINE Lanes<Real, count> operator symbol(const Lanes<Real, count>& a, Real b) {                    \
        return a symbol Lanes<Real, count>::all(b);                                                          \
    }                                                                                                        \
    template <class Real, int count>                                                                         \
    PNMF_INLINE Lanes<Real, count> operator symbol(Real a, const Lanes<Real, count>& b) {                    \
        return Lanes<Real, count>::all(a) symbol b;                                                          \
    }
PNMF_LANES_OPERATION(+)
PNMF_LANES_OPERATION(-)
PNMF_LANES_OPERATION(*)
PNMF_LANES_OPERATION(/)
#undef PNMF_LANES_OPERATION

#define PNMF_LANES_COMPARISON(symbol)                                                                        \
    template <class Real, int count>                                                                         \
    PNMF_INLINE Mask<Real, count> operator symbol(const Lanes<Real, count>& a, Real b) {                     \
        Mask<Real, count> result;                                                                            \
        for (int p = 0; p < Lanes<Real, count>::parts; ++p) {                                                \
            result.part[p] = a.part[p] symbol(b - typename Lanes<Real, count>::Part{});                      \
        }                                                                                                    \
        return result;                                                                                       \
    }
PNMF_LANES_COMPARISON(<)
PNMF_LANES_COMPARISON(<=)
PNMF_LANES_COMPARISON(>)
#undef PNMF_LANES_COMPARISON

#define PNMF_MASK_OPERATION(symbol)                                                                          \
    template <class Real, int count>                                                                         \
    PNMF_INLINE Mask<Real, count> operator symbol(const Mask<Real, count>& a, const Mask<Real, count>& b) {  \
        Mask<Real, count> result;                                                                            \
        for (int p = 0; p < Lanes<Real, count>::parts; ++p) {                                                \
            result.part[p] = a.part[p] symbol b.part[p];                                                     \
        }                                                                                                    \
        return result;                                                                                       \
    }
PNMF_MASK_OPERATION(&)
PNMF_MASK_OPERATION(|)
PNMF_MASK_OPERATION(^)
#undef PNMF_MASK_OPERATION

/// a where the mask is set, else b.
template <class Real, int count>
PNMF_INLINE Lanes<Real, count> select(const Mask<Real, count>& mask, const Lanes<Real, count>& a,
                                      const Lanes<Real, count>& b) {
    Lanes<Real, count> result;
    for (int p = 0; p < Lanes<Real, count>::parts; ++p) {
        result.part[p] = mask.part[p] ? a.part[p] : b.part[p];
    }
    return result;
}

/// max(a, 0).
template <class Real, int count>
PNMF_INLINE Lanes<Real, count> positive_part(const Lanes<Real, count>& a) {
    return select(a > Real{0}, a, Lanes<Real, count>::all(Real{0}));
}

} // namespace pnmf::PNMF_KERNEL_SET
