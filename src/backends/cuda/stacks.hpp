#pragma once

#include "backends/cuda/device_memory.hpp"
#include "backends/cuda/shape.hpp"

namespace pnmf::cuda {

/// H of one scale, rank × cells, into its rows of the stack, and back.
template <class Real>
void put_scale(const Shape& shape, int t, const Real* of_scale, Real* stack);
template <class Real>
void get_scale(const Shape& shape, int t, const Real* stack, Real* of_scale);

/// H ← [now + β(now − H)]₊ at every scale.
template <class Real>
void extrapolate_stack(const Shape& shape, const Real* beta, const Real* now, Real* H);

} // namespace pnmf::cuda
