#pragma once

#include "cells/processes.hpp"
#include "devices/cpu/shift_forest.hpp"
#include "solvers/frozen_scales.hpp"

#include <pnmf/model/objective.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// The components of the graphs at all scales, each inside one of the next coarser scale: the merge tree,
/// read at the scales of the problem. Where a graph falls apart at its coarsest scale, several trees.
class ComponentForest {
  public:
    struct Level {
        std::vector<std::int32_t> component; ///< of each cell
        std::vector<std::int32_t> parent; ///< of each component, at the next coarser scale; empty at the last
        std::vector<std::int32_t> size;   ///< cells of each component
        /// The components inside component c, at the next finer scale, ascending: children[e] for
        /// first_child[c] ≤ e < first_child[c + 1]; none at the finest.
        std::vector<std::int32_t> first_child;
        std::vector<std::int32_t> children;

        Index count() const { return static_cast<Index>(size.size()); }
    };

    /// The components at ε are those of the tree's edges shorter than ε.
    ComponentForest(const SpanningTree& tree, const std::vector<double>& epsilon);

    Index scales() const { return static_cast<Index>(levels_.size()); }
    const Level& operator[](Index t) const { return levels_[static_cast<std::size_t>(t)]; }

  private:
    std::vector<Level> levels_;
};

/// What `shift_components` works with; kept from one call to the next, so that memory is not asked for anew.
struct ShiftBuffer {
    /// Sums and minima over the components of one scale, and the shifts found for it; all count × d, a column
    /// for each row of H.
    struct Level {
        Matrix gradient; ///< S: the half gradient summed over each component
        Matrix least;    ///< the smallest entry of H on each component
        Matrix shift;
        Matrix moved;   ///< of a few rows: how far the rows before have moved them
        Vector inverse; ///< of one row, the elimination: of the pivots
        Vector right;   ///< sides
        Vector slope;   ///< how the right sides change with the length of the row before
    };
    std::vector<Level> levels;
};

/// Moves whole components: to row k of H_t a constant a_{t,C} is added on each component C, for all scales
/// and components at once.
///
/// L_t·1_C = 0, so the graph term does not see such a move, while coordinate steps, held back by λ₁·deg,
/// hardly make it. With S_{t,C} the half gradient summed over C, w_t the weight of scale t and s_t the
/// coupling of scales t and t + 1, the best a minimises
///
///     Σ_{t,C} [ ½|C|w_t((WᵀW)_kk + λ₃) a² + S a ] + ½ Σ_{t,C} s_t |C| (a_{t,C} − a_{t+1,parent(C)})²
///
/// a quadratic on the forest, solved exactly by one elimination from leaves to root and one substitution
/// back; bounded below so that H stays ≥ 0, then shortened to the best length. The objective cannot rise.
/// `products` hold w·WᵀX and w·WᵀW of the current W, and HA and degrees of the current H; HA is kept up to
/// date. Rows one after another. Cost 2nd² for each scale, and d² for each component.
///
/// Products and H are those of the forest's slab. Narrow components are eliminated before wide ones, which
/// every process then solves for itself: what travels is sums over wide components, once for each row. Sums
/// over cells or components of several blocks are taken along the tree of blocks. At frozen scales a = 0.
template <class Real>
void shift_components(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                      std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H,
                      ShiftBuffer& buffer, Processes& processes, const FrozenScales& frozen = {});

/// What the elimination of a component hands on to its parent.
struct HandedOn {
    double pivot = 0.0;
    double right = 0.0;

    HandedOn& operator+=(const HandedOn& other) {
        pivot += other.pivot;
        right += other.right;
        return *this;
    }
};

/// linear·θ + ½·curvature·θ²: what a shift of length θ changes.
struct ShiftQuadratic {
    double linear = 0.0;
    double curvature = 0.0;

    ShiftQuadratic& operator+=(const ShiftQuadratic& other) {
        linear += other.linear;
        curvature += other.curvature;
        return *this;
    }
};

/// The narrow components of a slab where they are on a device. Asked row after row, in the
/// order below.
class NarrowShifts {
  public:
    NarrowShifts() = default;
    NarrowShifts(const NarrowShifts&) = delete;
    NarrowShifts& operator=(const NarrowShifts&) = delete;
    virtual ~NarrowShifts() = default;

    /// Rows [first, first + count) come next.
    virtual void begin(Index first, Index count) = 0;
    virtual void eliminate(Index k) = 0;
    /// What those inside an entry of a wide component (`ShiftForest::Level::block`) hand on to it.
    virtual HandedOn handed(Index t, Index entry) const = 0;
    /// `wide` has the shifts of wide components in row k.
    virtual void substitute(Index k, const std::vector<ShiftBuffer::Level>& wide) = 0;
    /// Of the narrow components of scale t in a block of the slab.
    virtual ShiftQuadratic along(Index t, Index block) const = 0;
    virtual void shorten(Index k, double length) = 0;
};

/// The middle of it alone: from half gradients and least entries of all components in `buffer`, whose wide
/// ones are those of all processes, to the shifts. Of `products` only WᵀW is read. `gradient` is changed.
/// Where narrow components are on a device, `forest` and `buffer` have wide ones alone (`wide_alone`).
template <class Real>
void solve_shifts(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                  const std::vector<ScaleProducts<Real>>& products, ShiftBuffer& buffer, Processes& processes,
                  const FrozenScales& frozen = {}, NarrowShifts* on_device = nullptr);

} // namespace pnmf
