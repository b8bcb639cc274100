#include <pnmf/linalg/gemm.hpp>

/// In place of gemm.cpp where no library can be loaded when the program runs: in a page.
namespace pnmf {
namespace {

template <class Left, class Right, class Real>
void product(const Left& A, const Right& B, MutableBlock<Real>& C) {
    if (C.size() > 0) {
        C.noalias() = A * B;
    }
}

} // namespace

void multiply(ConstBlock<float> A, ConstBlock<float> B, MutableBlock<float> C) {
    product(A, B, C);
}

void multiply(ConstBlock<double> A, ConstBlock<double> B, MutableBlock<double> C) {
    product(A, B, C);
}

void multiply_transposed(ConstBlock<float> A, ConstBlock<float> B, MutableBlock<float> C) {
    product(A.transpose(), B, C);
}

void multiply_transposed(ConstBlock<double> A, ConstBlock<double> B, MutableBlock<double> C) {
    product(A.transpose(), B, C);
}

void multiply_by_transposed(ConstBlock<float> A, ConstBlock<float> B, MutableBlock<float> C) {
    product(A, B.transpose(), C);
}

void multiply_by_transposed(ConstBlock<double> A, ConstBlock<double> B, MutableBlock<double> C) {
    product(A, B.transpose(), C);
}

std::string blas_description() {
    return "Eigen";
}

} // namespace pnmf
