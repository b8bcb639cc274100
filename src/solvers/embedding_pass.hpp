#pragma once

#include <pnmf/model/objective.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// One pass over the rows of every H_t for fixed W, with the graph term majorised (L ≼ 2D), which makes the
/// cells independent: row after row, the other rows fixed at their newest values.
///
/// With g the half gradient at h without the smoothness term and c = (WᵀW)_kk + 2λ₁·deg + λ₃, each cell j and
/// row k has along the scales the problem
///
///     min over h ≥ 0 of  Σ_t [ ½ c_t (h_t − h̄_t)² + g_t (h_t − h̄_t) ] + ½ λ₂ Σ_{t≥2} (h_t − h_{t−1})²
///
/// The three passes differ in how they treat it. None can raise the objective. `products` hold WᵀX, WᵀW, HA
/// and degrees that belong to H; HA is out of date afterwards. Cost 2nd² for each scale.

/// Solves it exactly: a tridiagonal system with bounds, for all scales at once. Parallel over cells.
template <class Real>
void pass_along_chain(const Penalty& penalty, const std::vector<ScaleProducts<Real>>& products,
                      std::vector<DenseMatrix<Real>>& H);

/// One coordinate step at scale t, its neighbours fixed:
/// h ← [h − g / (c + mλ₂)]₊ with g the whole half gradient. For sweeps that visit one scale after another.
template <class Real>
void pass_at_scale(const Penalty& penalty, const ScaleProducts<Real>& products, DenseMatrix<Real>& H,
                   const DenseMatrix<Real>* before, const DenseMatrix<Real>* after);

} // namespace pnmf
