#pragma once

#include "devices/cuda/embedding_pass.hpp"
#include "devices/cuda/shape.hpp"

/// The plain multiplicative steps of one scale (`ScalePair` of the host). Shapes have one scale.
namespace pnmf::cuda {

/// next = W ⊙ XHᵀ ⊘ (W·HHᵀ + ν).
template <class Real>
void plain_basis_step(const Shape& shape, Real nu, const Real* XHt, const Real* HHt, const Real* W,
                      Real* next);

/// H ← H ⊙ (WᵀX + λ·HA) ⊘ (WᵀWH + λ·HD + ν).
template <class Real>
void plain_embedding_step(const Shape& shape, Real lambda, Real nu, const ProductsView<Real>& products,
                          Real* H);

/// Columns of W to unit length; H, WᵀX, WᵀW and HA follow. `norms` is memory for rank numbers.
template <class Real>
void make_columns_unit(const Shape& shape, Real* norms, Real* W, Real* H, Real* WtX, Real* WtW, Real* HA);

} // namespace pnmf::cuda
