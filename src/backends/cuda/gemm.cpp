#include "backends/cuda/gemm.hpp"

#include <pnmf/error.hpp>

namespace pnmf::cuda {

void fail_call(const char* what, const char* answer) {
    throw SystemError(fmt::format("the CUDA device failed ({}): {}", what, answer));
}

void fail_memory(std::size_t bytes) {
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    throw SystemError(fmt::format(
        "the CUDA device has no room for {:.2f} GB more: {:.2f} of {:.2f} GB are free",
        static_cast<double>(bytes) / 1e9, static_cast<double>(free) / 1e9, static_cast<double>(total) / 1e9));
}

namespace {

cublasOperation_t operation(bool transposed) {
    return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

} // namespace

void gemm(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
          std::int64_t k, const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float* C,
          std::int64_t ldc) {
    const float one = 1.0F;
    const float zero = 0.0F;
    check(cublasSgemm_64(products.handle(), operation(transpose_A), operation(transpose_B), m, n, k, &one, A,
                         lda, B, ldb, &zero, C, ldc),
          "a product of matrices");
}

void gemm(const Products& products, bool transpose_A, bool transpose_B, std::int64_t m, std::int64_t n,
          std::int64_t k, const double* A, std::int64_t lda, const double* B, std::int64_t ldb, double* C,
          std::int64_t ldc) {
    const double one = 1.0;
    const double zero = 0.0;
    check(cublasDgemm_64(products.handle(), operation(transpose_A), operation(transpose_B), m, n, k, &one, A,
                         lda, B, ldb, &zero, C, ldc),
          "a product of matrices");
}

void grams(const Products& products, bool of_rows, std::int64_t m, std::int64_t k, const float* M,
           std::int64_t ld, std::int64_t step, float* C, std::int64_t count) {
    const float one = 1.0F;
    const float zero = 0.0F;
    check(cublasSgemmStridedBatched_64(products.handle(), operation(!of_rows), operation(of_rows), m, m, k,
                                       &one, M, ld, step, M, ld, step, &zero, C, m, m * m, count),
          "products of a matrix with itself");
}

void grams(const Products& products, bool of_rows, std::int64_t m, std::int64_t k, const double* M,
           std::int64_t ld, std::int64_t step, double* C, std::int64_t count) {
    const double one = 1.0;
    const double zero = 0.0;
    check(cublasDgemmStridedBatched_64(products.handle(), operation(!of_rows), operation(of_rows), m, m, k,
                                       &one, M, ld, step, M, ld, step, &zero, C, m, m * m, count),
          "products of a matrix with itself");
}

} // namespace pnmf::cuda
