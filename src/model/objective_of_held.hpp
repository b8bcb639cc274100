#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/objective.hpp>

namespace pnmf {

/// HHᵀ over all cells, along the tree of blocks. H has the cells that X holds from column `first` on; where X
/// has all cells these are all. Every process must ask.
template <class Real>
DenseMatrix<Real> gram_of_held(const DataMatrix<Real>& X, const DenseMatrix<Real>& H, Index first = 0);

/// `scale_objective` where each process has the products of the cells that X holds there (WᵀX, HA and
/// degrees), the same cells of the scale before, and of H from column `first` on. `gram` is HHᵀ of all cells.
/// What cells add is summed along the tree of blocks, so that the bits are those of one process. Every
/// process must ask.
template <class Real>
Objective objective_of_held(const DataMatrix<Real>& X, const ScalePenalty& penalty, double squared_norm_X,
                            const ScaleProducts<Real>& products, const DenseMatrix<Real>& H, Index first,
                            const DenseMatrix<Real>* before, const DenseMatrix<Real>& gram);

/// `movement_H` of all cells, where everything has the cells that X holds. Each process goes on where the one
/// before it has come to.
template <class Real>
Movement movement_of_held(const DataMatrix<Real>& X, const ScalePenalty& penalty,
                          const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                          const DenseMatrix<Real>* before, const DenseMatrix<Real>* after);

} // namespace pnmf
