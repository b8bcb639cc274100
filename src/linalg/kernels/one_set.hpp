#pragma once

#include "linalg/kernels/basis_kernel.hpp"
#include "linalg/kernels/chain_kernel.hpp"
#include "linalg/kernels/distance_kernel.hpp"
#include "linalg/kernels/gather_kernel.hpp"
#include "linalg/kernels/gradient_kernel.hpp"
#include "linalg/kernels/shift_kernel.hpp"
#include "linalg/kernels/strip_kernel.hpp"

/// The kernels of the instruction set that this source is compiled for, as `table`.
namespace pnmf::PNMF_KERNEL_SET {

#define PNMF_QUOTED(name) #name
#define PNMF_NAME_OF(name) PNMF_QUOTED(name)

extern const Kernels table;
const Kernels table{
    PNMF_NAME_OF(PNMF_KERNEL_SET),
    {gather<float>, chain<float>, basis_rest<float>, basis_column<float>, basis_products<float>,
     basis_movement<float>, half_gradient<float>, step_lengths<float>, term_rows<float>,
     add_to_components<float>, move_with_components<float>},
    {gather<double>, chain<double>, basis_rest<double>, basis_column<double>, basis_products<double>,
     basis_movement<double>, half_gradient<double>, step_lengths<double>, term_rows<double>,
     add_to_components<double>, move_with_components<double>},
    strip_products,
    squared_distances,
    nearest_centres,
    add_columns,
    begin_shifts,
    end_elimination,
    end_shifts,
};

} // namespace pnmf::PNMF_KERNEL_SET
