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

#define PNMF_INLINE [[gnu::always_inline]] inline

namespace pnmf::PNMF_KERNEL_SET {

using Index = std::ptrdiff_t;

template <class Real>
inline constexpr int vector_lanes = PNMF_VECTOR_BYTES / static_cast<int>(sizeof(Real));

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
