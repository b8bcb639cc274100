#pragma once

#include "cells/cell_blocks.hpp"

#include <pnmf/model/objective.hpp>
#include <pnmf/types.hpp>

#include <vector>

/// The sums over cells of a sweep, over blocks of cells (cells/cell_blocks.hpp). Matrices hold the cells of
/// a slab alone, which are all cells where there is one process. With one block these are the sums of
/// model/objective and model/kkt, bit for bit.
namespace pnmf {

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

/// `scale_objective` from these sums over all cells, and the value of its fit term.
template <class Real>
Objective objective_from(const ScalePenalty& penalty, double fit, const TermSums<Real>& sums);

/// `movement_H` over the blocks of a node.
template <class Real>
Movement movement_H(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                    const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                    const DenseMatrix<Real>* after, const BlockSlab& slab, const BlockNode& node);

} // namespace pnmf
