#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/kkt.hpp>
#include <pnmf/model/objective.hpp>

namespace pnmf {

/// `scale_objective` where each rank has the products of the cells that X holds there (WᵀX, HA and degrees),
/// H of all cells, and of the scale before those that X holds. What cells add is gathered and added up in
/// their order, so that the bits are those of one process. Every rank must ask.
template <class Real>
Objective objective_of_held(const DataMatrix<Real>& X, const ScalePenalty& penalty, double squared_norm_X,
                            const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                            const DenseMatrix<Real>* before);

/// `movement_H` of all cells, where everything has the cells that X holds. Each rank goes on where the one
/// before it has come to.
template <class Real>
Movement movement_of_held(const DataMatrix<Real>& X, const ScalePenalty& penalty,
                          const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                          const DenseMatrix<Real>* before, const DenseMatrix<Real>* after);

} // namespace pnmf
