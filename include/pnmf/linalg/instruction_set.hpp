#pragma once

#include <string>

namespace pnmf {

/// What the kernels outside of the matrix product run on, as "x86-64, AVX-512": the best that this processor
/// has, or what the variable PNMF_KERNELS names (`baseline`, `avx2`, `avx512`). No result depends on it.
std::string instruction_set();

} // namespace pnmf
