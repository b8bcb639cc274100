#pragma once

#include "devices/cuda/device_memory.hpp"
#include "devices/cuda/shape.hpp"

namespace pnmf::cuda {

/// H of one scale, rank × cells, into its rows of the stack, and back.
template <class Real>
void put_scale(const Shape& shape, int t, const Real* of_scale, Real* stack);
template <class Real>
void get_scale(const Shape& shape, int t, const Real* stack, Real* of_scale);

/// H ← [now + β(now − H)]₊ at every scale.
template <class Real>
void extrapolate_stack(const Shape& shape, const Real* beta, const Real* now, Real* H);

/// Columns of a stack at one scale each, to or from a row of them: the i-th begins at place[i] of the stack
/// and at rank·i of the row.
template <class Real>
void take_columns(int rank, const std::int64_t* place, std::int64_t count, const Real* stack, Real* row);
template <class Real>
void put_columns(int rank, const std::int64_t* place, std::int64_t count, const Real* row, Real* stack);

} // namespace pnmf::cuda
