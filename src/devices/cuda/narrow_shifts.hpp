#pragma once

#include "devices/cuda/component_shifts.hpp"

#include <cstdint>

namespace pnmf::cuda {

/// The narrow components of the cells of one process, as the host has numbered them (`ShiftForest`). Those of
/// a block of cells stand together and are solved without other blocks. Sums of row k of component c of scale
/// t stand at [level[t]·rank + k·(slots of the scale) + c] (`BlockSlots`).
struct NarrowForest {
    int scales;
    int rank;
    std::int64_t blocks;
    std::int64_t entries;
    const std::int64_t* level;
    const std::int64_t* node;         ///< where narrow components of scale t begin in what follows; T + 1
    const std::int32_t* size;         ///< cells
    const std::int32_t* parent;       ///< at the next coarser scale: narrow, or, after these, wide
    const std::int32_t* first_child;  ///< at node[t] + t + c, one more at the end of each scale
    const std::int32_t* children;     ///< at the next finer scale
    const std::int32_t* first_narrow; ///< of block b at scale t: [t·(blocks + 1) + b]
    const std::int32_t* wide_level;   ///< where wide components of scale t begin in a row of all; T + 1
    const std::int32_t* entry_scale;  ///< entries of wide components, finest scale first
    const std::int32_t* first_inside; ///< narrow components inside each entry, and the end
    const std::int32_t* inside;       ///< at the next finer scale
};

template <class Real>
struct NarrowArguments {
    NarrowForest forest;
    ExactPenalties penalties;
    const Real* WtW;
    double* gradient; ///< S, changed by the rows before
    const Real* least;
    double* shift;            ///< before it is cut to the best length of its row
    const double* length;     ///< of each row
    Eliminated* eliminated;   ///< of one row, at node[t] + c
    Eliminated* handed;       ///< to each entry
    const double* wide_shift; ///< of one row
    double* along;            ///< two sums of each scale and block: [2·(t·blocks + b)]
};

/// S of rows [first, first + count), at most eight, after all rows before `first` have moved. `most`: narrow
/// components of the scale that has most; so below.
template <class Real>
void move_narrow_gradients(const NarrowArguments<Real>& of, std::int64_t most, int first, int count);

/// Row k: what is left of each component, its children eliminated, and what goes to entries of wide ones.
/// Rows from `first` on have moved since `move_narrow_gradients`.
template <class Real>
void eliminate_narrow(const NarrowArguments<Real>& of, int first, int k);

/// Row k: shifts, coarsest scale first, and sums along them.
template <class Real>
void substitute_narrow(const NarrowArguments<Real>& of, int k);

/// Shifts of all rows, cut, as moves of the slots of narrow components (`move_slots`).
template <class Real>
void cut_narrow(const NarrowArguments<Real>& of, std::int64_t most, Real* moves);

} // namespace pnmf::cuda
