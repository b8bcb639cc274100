#pragma once

#include "linalg/kernels/kernels.hpp"

#include <pnmf/types.hpp>

#include <cstdint>
#include <span>

namespace pnmf {

/// result ← result + Σ_e value[e]·M(:, row[e]), e = 0 … count − 1, added one after the other.
///
/// M is d × `columns`, column-major; result has d entries. The sums of up to 32 rows stay in registers, in
/// the widest vectors the processor has, and columns are fetched ahead where M is larger than the nearest
/// cache; the bits are those of one row at a time. Cost 2·d·count.
void gather_columns(const float* M, Index d, Index columns, const std::int32_t* row, const float* value,
                    Index count, float* result);
void gather_columns(const double* M, Index d, Index columns, const std::int32_t* row, const double* value,
                    Index count, double* result);

/// The same for several columns, which is faster: two of them are summed side by side. M has `stride` numbers
/// from column to column; its first one is column `first` to the runs.
template <class Real>
void gather_runs(const Real* M, Index d, Index stride, Index columns, std::span<const GatherRun<Real>> runs,
                 Index first = 0);

} // namespace pnmf
