#pragma once

#include "cells/cell_blocks.hpp"

#include <pnmf/model/objective.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

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

/// The fit term F of the objective as a sweep on processors sees it: nothing else there looks at the data.
/// F(W, H) = ‖X − WH‖², in fit_term.cpp, is the one there is. Another loss is one more class in a file beside
/// it, made by `make_fit_term`. Steps, sums over cells, momentum and stopping stay as they are.
///
/// # What a term must give
///
/// The steps lower ‖X̂ − WH‖² over W, then over H, and see of X̂ only the products below. Of a term that is no
/// square, X̂ belongs to the point (W, H) at which it is asked for, so that a square lies above F and touches
/// it there:
///
///     F(W′, H′) ≤ l·‖X̂ − W′H′‖² + c ,   with equality at (W, H)
///
/// Then no step raises F. Every function gets the point for this; the term for ‖X − WH‖² looks at one factor.
///
/// - Values that are missing where M is 0, F = ‖M∘(X − WH)‖²: X̂ = M∘X + (1 − M)∘WH and l = 1. It need not be
///   made, for X̂Hᵀ = (M∘(X − WH))Hᵀ + W·HHᵀ and WᵀX̂ = Wᵀ(M∘(X − WH)) + WᵀW·H.
/// - Kullback and Leibler, F = Σ WH − X log WH: with a bound L of X/(WH)², which needs WH to be kept away
/// from
///   zero, X̂ = WH + (X/WH − 1)/L and l = L/2, to be multiplied into the weights of the scales.
///
/// `Problem` says which term it is. The objective that is evaluated from W and H alone (model/objective.cpp)
/// must have the same one, which is how it is tested. Starts and devices that do not know a term refuse it.
template <class Real>
class FitTerm {
  public:
    virtual ~FitTerm() = default;

    /// X̂Hᵀ of scales [first, first + count), p × d each, over the blocks of a node: a sum over cells.
    virtual ScalesOfProduct<Real> times_transposed(const Factors<Real>& point, Index first, Index count,
                                                   const BlockSlab& slab, const BlockNode& node) const = 0;
    /// WᵀX̂ of some scales, d × cells of this process.
    virtual std::vector<DenseMatrix<Real>> transposed_times(std::span<const DenseMatrix<Real>> W,
                                                            std::span<const DenseMatrix<Real>> H) const = 0;
    /// w·F of a scale, from w·WᵀW and sums over all cells: ⟨wWᵀX̂, H⟩ as it was last made and HHᵀ.
    virtual double value(double weight, double with_data, const DenseMatrix<Real>& WtW,
                         const DenseMatrix<Real>& gram) const = 0;
};

/// X has the cells of this process, `problem` may have more. All processes must ask.
template <class Real>
std::unique_ptr<FitTerm<Real>> make_fit_term(const Problem<Real>& problem,
                                             std::shared_ptr<const DataMatrix<Real>> X);

} // namespace pnmf
