#pragma once

#include "devices/cuda/device_memory.hpp"
#include "devices/cuda/shape.hpp"

namespace pnmf::cuda {

/// HHᵀ of every scale, summed over blocks of cells of fixed size; `parts` is memory for them, `gram_parts` of
/// numbers.
template <class Real>
void gram_of_rows(const Products& products, const Shape& shape, const Real* H, Real* parts, Real* HHt);
std::int64_t gram_parts(const Shape& shape);

/// w·WᵀW of every scale, w its weight.
template <class Real>
void gram_of_columns(const Products& products, const Shape& shape, const Real* W, const Real* weight,
                     Real* WtW);

/// First how far W would move (`Movement` without the weight of the scale: two sums of each scale), then
/// `passes` over its columns, each exact in turn (formula: backend.hpp). `buffer`: features numbers a scale.
template <class Real>
void step_basis(const Shape& shape, int passes, const Real* XHt, const Real* HHt, Real* W, Real* buffer,
                double* moved);

/// W ← [now + β(now − W)]₊, columns to unit length; a column without entries becomes that of `now`.
template <class Real>
void extrapolate_basis(const Shape& shape, const Real* beta, const Real* now, Real* W);

} // namespace pnmf::cuda
