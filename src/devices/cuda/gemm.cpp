#include "devices/cuda/gemm.hpp"

namespace pnmf::cuda {

namespace {

cublasOperation_t operation(bool transposed) {
    return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/// Every product of matrices goes through this one call, every batch of them through the next.
template <class Real>
void multiply(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
              std::int64_t k, const Real* A, std::int64_t lda, const Real* B, std::int64_t ldb, Real* C,
              std::int64_t ldc, cublasComputeType_t precision) {
    constexpr cudaDataType_t type = sizeof(Real) == sizeof(float) ? CUDA_R_32F : CUDA_R_64F;
    const Real one = 1;
    const Real zero = 0;
    check(cublasGemmEx_64(products.handle(), operation(transpose_A), operation(transpose_B), m, n, k, &one, A,
                          type, lda, B, type, ldb, &zero, C, type, ldc, precision, CUBLAS_GEMM_DEFAULT),
          "a product of matrices");
}

template <class Real>
void multiply_batch(const Products& products, bool of_rows, std::int64_t m, std::int64_t k, const Real* M,
                    std::int64_t ld, std::int64_t step, Real* C, std::int64_t count,
                    cublasComputeType_t precision) {
    constexpr cudaDataType_t type = sizeof(Real) == sizeof(float) ? CUDA_R_32F : CUDA_R_64F;
    const Real one = 1;
    const Real zero = 0;
    check(cublasGemmStridedBatchedEx_64(products.handle(), operation(!of_rows), operation(of_rows), m, m, k,
                                        &one, M, type, ld, step, M, type, ld, step, &zero, C, type, m, m * m,
                                        count, precision, CUBLAS_GEMM_DEFAULT),
          "products of a matrix with itself");
}

} // namespace

void gemm(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
          std::int64_t k, const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float* C,
          std::int64_t ldc) {
    multiply(products, transpose_A, transpose_B, m, n, k, A, lda, B, ldb, C, ldc, CUBLAS_COMPUTE_32F);
}

void gemm(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
          std::int64_t k, const double* A, std::int64_t lda, const double* B, std::int64_t ldb, double* C,
          std::int64_t ldc) {
    multiply(products, transpose_A, transpose_B, m, n, k, A, lda, B, ldb, C, ldc, CUBLAS_COMPUTE_64F);
}

void gemm_tf32(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
               std::int64_t k, const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float* C,
               std::int64_t ldc) {
    multiply(products, transpose_A, transpose_B, m, n, k, A, lda, B, ldb, C, ldc,
             CUBLAS_COMPUTE_32F_FAST_TF32);
}

void gemm_half(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
               std::int64_t k, const __half* A, std::int64_t lda, const __half* B, std::int64_t ldb, float* C,
               std::int64_t ldc) {
    const float one = 1.0F;
    const float zero = 0.0F;
    check(cublasGemmEx_64(products.handle(), operation(transpose_A), operation(transpose_B), m, n, k, &one, A,
                          CUDA_R_16F, lda, B, CUDA_R_16F, ldb, &zero, C, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F,
                          CUBLAS_GEMM_DEFAULT),
          "a product of matrices");
}

void grams(const Products& products, bool of_rows, std::int64_t m, std::int64_t k, const float* M,
           std::int64_t ld, std::int64_t step, float* C, std::int64_t count) {
    multiply_batch(products, of_rows, m, k, M, ld, step, C, count, CUBLAS_COMPUTE_32F);
}

void grams(const Products& products, bool of_rows, std::int64_t m, std::int64_t k, const double* M,
           std::int64_t ld, std::int64_t step, double* C, std::int64_t count) {
    multiply_batch(products, of_rows, m, k, M, ld, step, C, count, CUBLAS_COMPUTE_64F);
}

} // namespace pnmf::cuda
