#include "linalg/blas_library.hpp"

#include <pnmf/linalg/gemm.hpp>

#include <cassert>
#include <limits>

namespace pnmf {
namespace {

blasint blas_int(Index value) {
    assert(value <= std::numeric_limits<blasint>::max());
    return static_cast<blasint>(value);
}

void call_gemm(CBLAS_TRANSPOSE a, CBLAS_TRANSPOSE b, Index m, Index n, Index k, const ConstBlock<double>& A,
               const ConstBlock<double>& B, MutableBlock<double>& C) {
    blas_library().dgemm(CblasColMajor, a, b, blas_int(m), blas_int(n), blas_int(k), 1.0, A.data(),
                         blas_int(A.outerStride()), B.data(), blas_int(B.outerStride()), 0.0, C.data(),
                         blas_int(C.outerStride()));
}

void call_gemm(CBLAS_TRANSPOSE a, CBLAS_TRANSPOSE b, Index m, Index n, Index k, const ConstBlock<float>& A,
               const ConstBlock<float>& B, MutableBlock<float>& C) {
    blas_library().sgemm(CblasColMajor, a, b, blas_int(m), blas_int(n), blas_int(k), 1.0F, A.data(),
                         blas_int(A.outerStride()), B.data(), blas_int(B.outerStride()), 0.0F, C.data(),
                         blas_int(C.outerStride()));
}

template <class Real>
void product(CBLAS_TRANSPOSE a, CBLAS_TRANSPOSE b, const ConstBlock<Real>& A, const ConstBlock<Real>& B,
             MutableBlock<Real>& C) {
    const Index m = C.rows();
    const Index n = C.cols();
    const Index k = a == CblasNoTrans ? A.cols() : A.rows();
    assert((a == CblasNoTrans ? A.rows() : A.cols()) == m);
    assert((b == CblasNoTrans ? B.rows() : B.cols()) == k);
    assert((b == CblasNoTrans ? B.cols() : B.rows()) == n);
    if (m == 0 || n == 0) {
        return;
    }
    if (k == 0) {
        C.setZero();
        return;
    }
    call_gemm(a, b, m, n, k, A, B, C);
}

} // namespace

void multiply(ConstBlock<float> A, ConstBlock<float> B, MutableBlock<float> C) {
    product<float>(CblasNoTrans, CblasNoTrans, A, B, C);
}

void multiply(ConstBlock<double> A, ConstBlock<double> B, MutableBlock<double> C) {
    product<double>(CblasNoTrans, CblasNoTrans, A, B, C);
}

void multiply_transposed(ConstBlock<float> A, ConstBlock<float> B, MutableBlock<float> C) {
    product<float>(CblasTrans, CblasNoTrans, A, B, C);
}

void multiply_transposed(ConstBlock<double> A, ConstBlock<double> B, MutableBlock<double> C) {
    product<double>(CblasTrans, CblasNoTrans, A, B, C);
}

void multiply_by_transposed(ConstBlock<float> A, ConstBlock<float> B, MutableBlock<float> C) {
    product<float>(CblasNoTrans, CblasTrans, A, B, C);
}

void multiply_by_transposed(ConstBlock<double> A, ConstBlock<double> B, MutableBlock<double> C) {
    product<double>(CblasNoTrans, CblasTrans, A, B, C);
}

std::string blas_description() {
    const BlasLibrary& library = blas_library();
    const std::string picked =
        library.kernel == library.picked_kernel ? "" : " (it picked " + library.picked_kernel + " by itself)";
    return library.config + ", kernel " + library.kernel + picked;
}

} // namespace pnmf
