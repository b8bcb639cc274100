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
    std::int64_t count;
    Real* result;
};

/// M, d × columns, column-major with `stride` ≥ d numbers from column to column.
template <class Real>
struct GatherFrom {
    const Real* M;
    std::int64_t d;
    std::int64_t stride;
    bool far;               ///< larger than the nearest cache: columns are fetched ahead
    std::int64_t first = 0; ///< number of the first column, where rows of the runs do not begin at 0
};

/// The pass along the chain of scales (devices/cpu/embedding_pass.hpp); a pointer for each scale.
template <class Real>
struct ChainArguments {
    std::int64_t scales;
    std::int64_t rank;
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
inline constexpr std::int64_t chain_lanes = 64 / static_cast<std::int64_t>(sizeof(Real));

/// Numbers that it needs as memory, at an address divisible by 64.
template <class Real>
constexpr std::int64_t chain_buffer(std::int64_t scales, std::int64_t rank) {
    return (2 * rank + 7) * scales * chain_lanes<Real>;
}

/// Cells whose coordinates lie side by side for `strip_products`.
inline constexpr std::int64_t strip_cells = 32;

/// Centres as `nearest_centres` wants them: coordinate after coordinate, those of all centres side by side.
struct CentreTable {
    const double* centres;      ///< coordinate f of centre c: centres[f·stride + c]
    const double* half_squares; ///< ½‖c‖²
    std::int64_t count;
    std::int64_t stride; ///< count or more, divisible by 8
};

/// Cells that are compared with the centres together: the kernel needs memory for their scores, `stride`
/// each.
inline constexpr std::int64_t centre_buffer_cells = 4;

/// out_o ← out_o + Σ_l factors[o·columns + l]·column_l, l ascending: columns of `count` numbers each.
struct ColumnSums {
    std::int64_t count;
    const double* column; ///< the first; `stride` numbers from one to the next
    std::int64_t stride;
    std::int64_t columns;
    const double* factors;
    double* out;
    std::int64_t out_stride;
    std::int64_t outputs;
};

/// Components of one scale that stand side by side, and their shifts in one row of H
/// (devices/cpu/row_shift.hpp).
struct ShiftLevel {
    std::int64_t count;
    const std::int32_t* size;
    double own;         ///< curvature of a cell
    double after;       ///< coupling with the next coarser scale
    double last_factor; ///< (WᵀW) of the row before and this one
    double* gradient;
    const double* least;
    double* shift;
    double* last;    ///< shifts of the row before, not yet shortened; null in the first row
    double* inverse; ///< of the pivot
    double* right;
    double* slope;
};

/// What components hand on to those that hold them.
struct HandedRows {
    double* pivot;
    double* right;
    double* slope;
};

/// The half gradient in H of one scale, from WᵀW·H on. All have `rank` numbers for each cell, but for
/// `degree`; null for what is not to be added.
template <class Real>
struct HalfGradient {
    std::int64_t rank;
    const Real* H;
    const Real* WtX;
    const Real* HA;
    const Real* degree;
    const Real* before; ///< H of the next finer scale
    const Real* after;  ///< H of the next coarser scale
    Real graph;
    Real anchor;
    Real to_before;
    Real to_after;
};

/// Sums that coordinate steps of all cells add to, one for each row of H.
struct StepLengths {
    const double* curvature; ///< (WᵀW)_kk
    double graph;
    double rest; ///< of the curvature, for all rows and cells
    double* moved;
    double* size;
};

/// Columns of W that are stepped on together.
inline constexpr std::int64_t basis_columns = 4;

/// Columns [first, first + count) of W, at most `basis_columns` of them, one step on each in turn
/// (devices/cpu/basis_step.hpp). W and XHt are rows × rank.
template <class Real>
struct BasisBlock {
    std::int64_t rows;
    std::int64_t rank;
    const Real* W;
    const Real* XHt;
    std::int64_t first;
    std::int64_t count;
    const Real* factors; ///< of column j of W for the c-th of these: factors[basis_columns·j + c]
    Real* rest;          ///< rows × count
};

/// Sums over the components of one scale and their least entries of H, `stride` numbers from row to row.
template <class Real>
struct ComponentAdder {
    std::int64_t cells;
    std::int64_t rank;
    const std::int32_t* place; ///< of each cell: its component, or −1 − the number of a wide one
    const Real* gradient;
    const Real* H;
    double* sums;
    double* least;
    std::int64_t stride;
    double* wide; ///< `rank` numbers for each
    double* wide_least;
};

/// Cells that move with their components: shifts of row k begin at shift[k·stride].
template <class Real>
struct ComponentMover {
    std::int64_t cells;
    std::int64_t rank;
    const std::int32_t* component; ///< of each cell
    const double* shift;
    std::int64_t stride;
    const Real* degree;
    Real* H;
    Real* HA;
};

/// Cells that are summed or moved together, so that what is read across their columns stays at hand.
inline constexpr std::int64_t component_cells = 64;

/// Numbers that moving cells needs as memory.
constexpr std::int64_t component_buffer(std::int64_t rank) {
    return component_cells * rank;
}

template <class Real>
struct KernelsOf {
    /// Several columns of a sparse product.
    void (*gather)(const GatherFrom<Real>& from, const GatherRun<Real>* runs, std::int64_t count);
    /// Cells [begin, end), at most `chain_lanes`.
    void (*chain)(const ChainArguments<Real>& in, std::int64_t begin, std::int64_t end, Real* buffer);
    /// rest_c ← XHt_c + Σ_j factor·w_j for each of these columns, j ascending: over all columns of W, or over
    /// those of other blocks.
    void (*basis_rest)(const BasisBlock<Real>& in, bool over_all);
    /// w ← max(v, 0) with v = rest_c + Σ_j factor·w_j, over the other columns of the block; w is its c-th.
    /// Returns its square; −1 where no entry of v is positive, and w stays.
    Real (*basis_column)(const BasisBlock<Real>& in, std::int64_t c, Real* w);
    /// sums[0] and [1]: w·w and w·rest.
    void (*basis_products)(const Real* w, const Real* rest, std::int64_t rows, double* sums);
    /// ‖w − max(0, w + inverse·(rest − along·w))‖².
    double (*basis_movement)(const Real* w, const Real* rest, std::int64_t rows, double along,
                             double inverse);
    /// `gradient` has WᵀW·H of cells [begin, begin + count); the other terms are added.
    void (*half_gradient)(const HalfGradient<Real>& in, std::int64_t begin, std::int64_t count,
                          Real* gradient);
    /// Adds how far each row of H would move: q·(h − max(0, h − gradient/q))², and q·h².
    void (*step_lengths)(const HalfGradient<Real>& in, std::int64_t begin, std::int64_t count,
                         const Real* gradient, const StepLengths& out);
    /// Adds to five sums for each row of H, those of a kind together: of WᵀX ⊙ H, HA ⊙ H, H ⊙ H, H ⊙ H·D and
    /// (H − before) ⊙ (H − before).
    void (*term_rows)(const HalfGradient<Real>& in, std::int64_t begin, std::int64_t count, double* sums);
    void (*add_to_components)(const ComponentAdder<Real>& in);
    /// H ← max(0, H + shift), HA ← HA + shift·degree.
    void (*move_with_components)(const ComponentMover<Real>& in, Real* buffer);
};

struct Kernels {
    const char* name; ///< of the instruction set
    KernelsOf<float> of_float;
    KernelsOf<double> of_double;
    /// sums[a] ← sums[a] + Σ_e value[e]·strip[row[e]·32 + a] for the 32 cells of a strip.
    void (*strip_products)(const double* strip, const std::int32_t* row, const double* value,
                           std::int64_t count, double* sums);
    /// out[4j + m] = ‖x_j − p_m‖² for cells x_j, columns of X, and four points p_m: coordinate f of p_m is
    /// points[4f + m].
    void (*squared_distances)(const double* X, std::int64_t d, std::int64_t cells, const double* points,
                              double* out);
    /// The nearest centre of each cell, the first among equals.
    void (*nearest_centres)(const double* X, std::int64_t d, std::int64_t cells, const CentreTable& table,
                            double* buffer, std::int64_t* labels);
    void (*add_columns)(const ColumnSums& in);
    /// S after the rows before have moved, `moved` for each cell, and what a component has of itself: pivot
    /// (in the place of its inverse), right side and slope.
    void (*begin_shifts)(const ShiftLevel& in, const double* moved);
    /// From pivots to their inverses, and to what is handed on.
    void (*end_elimination)(const ShiftLevel& in, const HandedRows& handed);
    /// The shifts, where those of the components around them are `above`; the row before is shortened to
    /// `length`. along[0] and [1]: linear term and curvature along the shifts.
    void (*end_shifts)(const ShiftLevel& in, double length, const double* above, double* along);

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
/// `baseline`, `avx2`, `avx512`. A set that the processor does not have is not taken.
const Kernels& kernels();

/// Those of this name, or the best ones where the processor has none of that name.
const Kernels& kernels_called(const char* name);

/// All that this processor can run, the baseline first.
std::vector<const Kernels*> kernels_of_processor();

} // namespace pnmf
