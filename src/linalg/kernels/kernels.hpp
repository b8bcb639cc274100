#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Loops that are compiled once for each instruction set a processor may have, and chosen when the first of
/// them is needed (docs/decisions/0160-kernels.md). They know plain arrays alone. The bits are the same on
/// every instruction set.
namespace pnmf {

/// One column of a sparse product: result ← result + Σ_e value[e]·M(:, row[e]), e = 0 … count − 1, added one
/// after the other.
template <class Real>
struct GatherRun {
    const std::int32_t* row;
    const Real* value;
    std::ptrdiff_t count;
    Real* result;
};

/// M, d × columns, column-major with `stride` ≥ d numbers from column to column.
template <class Real>
struct GatherFrom {
    const Real* M;
    std::ptrdiff_t d;
    std::ptrdiff_t stride;
    bool far;                 ///< larger than the nearest cache: columns are fetched ahead
    std::ptrdiff_t first = 0; ///< number of the first column, where rows of the runs do not begin at 0
};

/// The pass along the chain of scales (backends/cpu/embedding_pass.hpp); a pointer for each scale.
template <class Real>
struct ChainArguments {
    std::ptrdiff_t scales;
    std::ptrdiff_t rank;
    const Real* const* WtX;
    const Real* const* WtW;
    const Real* const* HA;
    const Real* const* degree;
    Real* const* H;
    const Real* graph;    ///< wλ₁ of each scale
    const Real* anchor;   ///< wλ₃ of each scale
    const Real* coupling; ///< of scales t − 1 and t; 0 before the first and after the last
};

/// Cells that the chain's kernel treats together: 64 bytes of them.
template <class Real>
inline constexpr std::ptrdiff_t chain_lanes = 64 / static_cast<std::ptrdiff_t>(sizeof(Real));

/// Numbers that it needs as room, at an address divisible by 64.
template <class Real>
constexpr std::ptrdiff_t chain_room(std::ptrdiff_t scales, std::ptrdiff_t rank) {
    return (2 * rank + 7) * scales * chain_lanes<Real>;
}

/// Cells whose coordinates lie side by side for `strip_products`.
inline constexpr std::ptrdiff_t strip_cells = 32;

/// Centres as `nearest_centres` wants them: coordinate after coordinate, those of all centres side by side.
struct CentreTable {
    const double* centres;      ///< coordinate f of centre c: centres[f·stride + c]
    const double* half_squares; ///< ½‖c‖²
    std::ptrdiff_t count;
    std::ptrdiff_t stride; ///< count or more, divisible by 8
};

/// Cells that are compared with the centres together: the kernel needs room for their scores, `stride` each.
inline constexpr std::ptrdiff_t centre_room_cells = 4;

template <class Real>
struct KernelsOf {
    /// Several columns of a sparse product.
    void (*gather)(const GatherFrom<Real>& from, const GatherRun<Real>* runs, std::ptrdiff_t count);
    /// Cells [begin, end), at most `chain_lanes`.
    void (*chain)(const ChainArguments<Real>& in, std::ptrdiff_t begin, std::ptrdiff_t end, Real* room);
    /// v ← max(v, 0); returns ‖v‖².
    Real (*positive_square)(Real* v, std::ptrdiff_t count);
    /// v ← v / norm, moved ← v − w, w ← v.
    void (*take_direction)(Real norm, std::ptrdiff_t count, Real* v, Real* moved, Real* w);
};

struct Kernels {
    const char* name; ///< of the instruction set
    KernelsOf<float> of_float;
    KernelsOf<double> of_double;
    /// sums[a] ← sums[a] + Σ_e value[e]·strip[row[e]·32 + a] for the 32 cells of a strip.
    void (*strip_products)(const double* strip, const std::int32_t* row, const double* value,
                           std::ptrdiff_t count, double* sums);
    /// out[4j + m] = ‖x_j − p_m‖² for cells x_j, columns of X, and four points p_m: coordinate f of p_m is
    /// points[4f + m].
    void (*squared_distances)(const double* X, std::ptrdiff_t d, std::ptrdiff_t cells, const double* points,
                              double* out);
    /// The nearest centre of each cell, the first among equals.
    void (*nearest_centres)(const double* X, std::ptrdiff_t d, std::ptrdiff_t cells, const CentreTable& table,
                            double* room, std::ptrdiff_t* labels);

    template <class Real>
    const KernelsOf<Real>& of() const {
        if constexpr (sizeof(Real) == sizeof(float)) {
            return of_float;
        } else {
            return of_double;
        }
    }
};

/// Those for the best instruction set of this processor, or the one that the variable PNMF_KERNELS names:
/// `baseline`, `avx2`, `avx512`, `sve`. A set that the processor does not have is not taken, and SVE only
/// when it is named.
const Kernels& kernels();

/// Those of this name, or the best ones where the processor has none of that name.
const Kernels& kernels_called(const char* name);

/// All that this processor can run, the baseline first.
std::vector<const Kernels*> kernels_of_processor();

} // namespace pnmf
