#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/objective.hpp>

namespace pnmf {

/// `scale_objective` where each rank has the products of the cells that X holds there (WᵀX, HA and degrees),
/// and H of all cells. What cells add is gathered and added up in their order, so that the bits are those of
/// one process. Every rank must ask.
template <class Real>
Objective objective_of_held(const DataMatrix<Real>& X, const ScalePenalty& penalty, double squared_norm_X,
                            const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                            const DenseMatrix<Real>* before);

} // namespace pnmf
