#pragma once

#include <pnmf/types.hpp>

#include <string>

namespace pnmf {

/// A column-major block of a larger matrix, as BLAS takes it; read-only or not.
template <class Real>
using ConstBlock = Eigen::Ref<const DenseMatrix<Real>, 0, Eigen::OuterStride<>>;
template <class Real>
using MutableBlock = Eigen::Ref<DenseMatrix<Real>, 0, Eigen::OuterStride<>>;

/// C ← A·B, on the calling thread. The one door to the dense matrix product of the BLAS library.
///
/// Threads come from the caller (`parallel_for` over blocks of fixed size): the library splits a product by
/// the number of threads, and then the last bits depend on it. Cost 2·rows(A)·cols(A)·cols(B).
void multiply(ConstBlock<float> A, ConstBlock<float> B, MutableBlock<float> C);
void multiply(ConstBlock<double> A, ConstBlock<double> B, MutableBlock<double> C);

/// C ← Aᵀ·B.
void multiply_transposed(ConstBlock<float> A, ConstBlock<float> B, MutableBlock<float> C);
void multiply_transposed(ConstBlock<double> A, ConstBlock<double> B, MutableBlock<double> C);

/// C ← A·Bᵀ.
void multiply_by_transposed(ConstBlock<float> A, ConstBlock<float> B, MutableBlock<float> C);
void multiply_by_transposed(ConstBlock<double> A, ConstBlock<double> B, MutableBlock<double> C);

/// Name of the library in use and of the kernel it picked for this CPU.
std::string blas_description();

/// What the kernels outside of the matrix product run on, as "x86-64, AVX-512": the best that this processor
/// has, or what the variable PNMF_KERNELS names (`baseline`, `avx2`, `avx512`). No result depends on it.
std::string instruction_set();

} // namespace pnmf
