#pragma once

#include "devices/cuda/component_sums.cuh"

namespace pnmf::cuda {

/// Pieces of the order and wide components on the device (`MergeOrder`).
struct Pieces {
    const std::int32_t* narrow;
    const std::int32_t* narrow_scales;
    const std::int32_t* first_place;
    const std::int32_t* wide_level;
    const std::int32_t* wide;
    const std::int32_t* wide_scale;
    const std::int32_t* wide_size;
    const std::int32_t* wide_parent;
    const std::int32_t* wide_inside;
    const std::int32_t* wide_first_piece;
    const std::int32_t* wide_last_piece;
    std::int32_t wides;
};

template <class Real>
struct ShiftArguments {
    int scales;
    int rank;
    Forest forest;
    Pieces pieces;
    ExactPenalties penalties;
    const Real* WtW;
    double* gradient; ///< S, of row and component (`Forest::at`); so the next two
    double* shift;    ///< before it is cut to the best length of its row
    const Real* least;
    Eliminated* eliminated; ///< of each component, for one row
    Eliminated* handed;     ///< narrow components of a piece to the wide one they are in: `place_of_handed`
    Eliminated* wide;       ///< of each wide component
    double* wide_least;
    double* wide_shift;
    double* along;  ///< two sums of each block of threads, for two rows
    double* length; ///< of each row
};

/// Blocks of threads that can wait for each other on this device: as many pieces can there be at most.
template <class Real>
std::int64_t most_pieces();

/// The shifts of every row of H and their lengths. The sums over components are changed.
template <class Real>
void solve_rows(ShiftArguments<Real> of, std::int64_t pieces);

} // namespace pnmf::cuda
