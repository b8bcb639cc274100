#pragma once

#include "solvers/frozen_scales.hpp"

#include <pnmf/model/objective.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// One pass over the rows of every H_t for fixed W, with the graph term majorised (L ≼ 2D), which makes the
/// cells independent: row after row, the other rows fixed at their newest values.
///
/// With g the half gradient at h without the smoothness term, w the weight of a scale, s_t the coupling of
/// scales t − 1 and t, and c = w(WᵀW)_kk + 2wλ₁·deg + wλ₃, each cell j and row k has along the scales the
/// problem
///
///     min over h ≥ 0 of  Σ_t [ ½ c_t (h_t − h̄_t)² + g_t (h_t − h̄_t) ] + ½ Σ_{t≥2} s_t (h_t − h_{t−1})²
///
/// It is solved exactly: a tridiagonal system with bounds, for all scales at once. The objective cannot rise.
/// `products` hold w·WᵀX, w·WᵀW, HA and degrees that belong to H; HA is out of date afterwards. Parallel over
/// cells. Cost 2nd² for each scale.
///
/// Frozen scales keep their H, and pull at their neighbours.
template <class Real>
void pass_along_chain(const std::vector<ScalePenalty>& penalties,
                      const std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H,
                      const FrozenScales& frozen = {});

} // namespace pnmf
