#pragma once

#include "cells/cell_blocks.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/types.hpp>

#include <span>
#include <utility>
#include <vector>

/// The sums over cells of a sweep, over blocks of cells (cells/cell_blocks.hpp). Matrices hold the cells of
/// a slab alone, which are all cells where there is one process. With one block these are the sums of
/// model/objective and model/kkt, bit for bit.
namespace pnmf {

/// X·Hᵀ of some scales, p × d each: as one product made them, side by side in one matrix, or in one each.
template <class Real>
class ScalesOfProduct {
  public:
    ScalesOfProduct(std::vector<DenseMatrix<Real>> matrices, Index rank)
        : matrices_(std::move(matrices)), rank_(rank) {}

    Eigen::Map<const DenseMatrix<Real>> operator[](Index i) const {
        const DenseMatrix<Real>& first = matrices_.front();
        const bool one = matrices_.size() == 1;
        return {one ? first.data() + i * rank_ * first.rows() : matrices_[static_cast<std::size_t>(i)].data(),
                first.rows(), rank_};
    }

  private:
    std::vector<DenseMatrix<Real>> matrices_;
    Index rank_;
};

/// X·Hᵀ over the blocks of a node, for each H.
template <class Real>
ScalesOfProduct<Real> times_transposed(const DataMatrix<Real>& X, std::span<const DenseMatrix<Real>> H,
                                       const BlockSlab& slab, const BlockNode& node);

/// HHᵀ over the blocks of a node, d × d.
template <class Real>
DenseMatrix<Real> gram_of_rows(const DenseMatrix<Real>& H, const BlockSlab& slab, const BlockNode& node);

/// What the terms of one scale need of its cells.
template <class Real>
struct TermSums {
    double with_data = 0.0;  ///< ⟨wWᵀX, H⟩
    double with_graph = 0.0; ///< ⟨HA, H⟩
    double weighted = 0.0;   ///< Σⱼ D_jj ‖h_j‖²
    double squares = 0.0;    ///< ‖H‖²
    double steps = 0.0;      ///< ‖H − H_{t−1}‖²
    DenseMatrix<Real> gram;  ///< HHᵀ

    TermSums& operator+=(const TermSums& other);
    /// As numbers in a row, and back: 5 + d².
    void put(std::vector<double>& numbers) const;
    static TermSums take(const double* numbers, Index rank);
};

template <class Real>
TermSums<Real> term_sums(const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                         const DenseMatrix<Real>* before, const BlockSlab& slab, const BlockNode& node);

/// `scale_objective` from these sums over all cells; WtW is w·WᵀW.
template <class Real>
Objective objective_from(const ScalePenalty& penalty, double squared_norm_X, const DenseMatrix<Real>& WtW,
                         const TermSums<Real>& sums);

/// `movement_H` over the blocks of a node.
template <class Real>
Movement movement_H(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                    const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                    const DenseMatrix<Real>* after, const BlockSlab& slab, const BlockNode& node);

} // namespace pnmf
