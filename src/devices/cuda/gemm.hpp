#pragma once

#include "devices/cuda/device_memory.hpp"

#include <cuda_fp16.h>

#include <cstdint>

namespace pnmf::cuda {

/// C ← op(A)·op(B), column-major, op the transpose where said; op(A) is m × k, op(B) is k × n. In the full
/// precision of the numbers.
void gemm(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
          std::int64_t k, const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float* C,
          std::int64_t ldc);
void gemm(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
          std::int64_t k, const double* A, std::int64_t lda, const double* B, std::int64_t ldb, double* C,
          std::int64_t ldc);

/// The same with operands cut to TF32, on tensor cores: for numbers that are no longer than that, and whoever
/// calls it accounts for sums in float that may lose the last bit at every addition.
void gemm_tf32(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
               std::int64_t k, const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float* C,
               std::int64_t ldc);

/// The same with operands in half precision, whose products are exact in float, and sums in float as above.
void gemm_half(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
               std::int64_t k, const __half* A, std::int64_t lda, const __half* B, std::int64_t ldb, float* C,
               std::int64_t ldc);

/// `count` products of M with its own transpose, rows M·Mᵀ (m × m, M m × k) or columns Mᵀ·M (M k × m); one
/// begins `step` after the other, the results stand one after another.
void grams(const Products& products, bool of_rows, std::int64_t m, std::int64_t k, const float* M,
           std::int64_t ld, std::int64_t step, float* C, std::int64_t count);
void grams(const Products& products, bool of_rows, std::int64_t m, std::int64_t k, const double* M,
           std::int64_t ld, std::int64_t step, double* C, std::int64_t count);

} // namespace pnmf::cuda
