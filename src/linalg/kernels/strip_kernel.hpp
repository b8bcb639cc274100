#pragma once

#include "linalg/kernels/kernels.hpp"
#include "linalg/kernels/lanes.hpp"

namespace pnmf::PNMF_KERNEL_SET {

PNMF_INLINE void sum_strip(const double* strip, const std::int32_t* row, const double* value, Index count,
                           double* sums) {
    using Strip = Lanes<double, strip_cells>;
    Strip sum = Strip::load(sums);
    for (Index e = 0; e < count; ++e) {
        sum.add_product(value[e], Strip::load(strip + static_cast<Index>(row[e]) * strip_cells));
    }
    sum.store(sums);
}

static void strip_products(const double* strip, const std::int32_t* row, const double* value, Index count,
                           double* sums) {
    sum_strip(strip, row, value, count, sums);
}

} // namespace pnmf::PNMF_KERNEL_SET
