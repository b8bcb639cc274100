#pragma once

#include "solvers/frozen_scales.hpp"

#include <pnmf/model/objective.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// What a sweep of `stationary` asks of the machine it runs on. A backend owns the factors and does all work
/// on data; `Stationary` only counts, compares and decides. Another device is one new folder beside
/// src/devices/cpu and one row in src/devices/table.cpp; neither the solver loop nor `Stationary` changes.
/// `reference` and `paper` do not use this: they exist to repeat published runs, step by step, on the CPU.
///
/// A backend is made for one problem and one run, also for each level of the nested start. Shapes: W_t is
/// p × d, H_t is d × n, scales run finest → coarsest.
///
/// # The points
///
/// There are two: `current`, the last point that was accepted, and `previous`, the one before it. A sweep
/// moves *the moving point*: `current` itself after `move_in_place()`, else `previous`, so that `current` is
/// still there if the sweep does not pay. All steps and measures below are those of the moving point.
///
///     load → { move_in_place | move_copy | extrapolate → steps and measures → [accept | undo] → store? } …
///
/// # The products
///
/// A backend keeps, for each scale of the moving point, what its steps share (`ScaleProducts`): w·WᵀX and
/// w·WᵀW since the last `basis_step`, HA and the degrees since the last `graph_products`; w is the weight of
/// the scale. What each operation needs and leaves behind is said at the operation.
///
/// # What must be summed over cells
///
/// Processes share the **cells** out: each has some columns of X and of every H_t, and all of every W_t.
/// Where X has not all cells, neither have the factors outside, and a backend may work on them in place. Else
/// these are those of all cells, on every process: a backend takes its own at `load` and gathers at `store`.
///
/// | operation | local to a cell | summed over all cells |
/// | --- | --- | --- |
/// | `basis_step` | WᵀX, after W is known | XHᵀ (p × d) and HHᵀ (d × d) of each scale, before W moves |
/// | `graph_products` | degrees | – ; HA of a cell needs the columns of H of its neighbours |
/// | `embedding_pass` | everything: all scales and rows of a cell | – |
/// | `shift_components` | the move itself | half gradient and least entry of each component, each scale |
/// | `terms` | – | four numbers of each scale |
/// | `movement_H` | – | two numbers of each scale |
/// | `objective`, `evaluate`, `freeze` | – | as `basis_step`, `terms` and `movement_H` |
///
/// A sum over cells is taken over blocks of cells whose size does not depend on threads or processes, and the
/// sums of the blocks are added in the order of the cells. Then results do not depend on how many threads or
/// processes there are. Between two kinds of device they may differ by rounding: products of matrices add in
/// their own order. On the CPU and over processes the blocks are those of cells/cell_blocks.hpp, added along
/// a binary tree; inside a block its matrix product library adds as it likes.
///
/// Everything that leaves a backend is the same on every process, so that every process takes the same
/// decisions.
///
/// # What a backend may assume and must keep
///
/// No step may raise the objective by more than rounding. W keeps columns of unit length, all entries stay
/// ≥ 0. From the same loaded factors the same calls give the same bits. Numbers handed out are in double
/// precision whatever `Real` is. `Problem` and what it points to outlive the backend.
template <class Real>
class Backend {
  public:
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    /// Takes the factors over. `previous` may be empty. Until `store` only the backend may use them; both
    /// must outlive it. The CPU works on them in place; a device copies them to its own memory. Bases may
    /// rest in a file (`Factors::bring`).
    virtual void load(Factors<Real>& current, Factors<Real>& previous) = 0;
    /// Brings what was loaded up to date: for checkpoints, interruption and the end. The run may go on
    /// afterwards. Free on the CPU; a device copies, so it is asked only where somebody will read.
    virtual void store() = 0;
    /// The same for a run that is over: `current` alone. What `previous` was loaded with may be gone.
    virtual void store_last() { store(); }

    /// The moving point is `current`: for sweeps that are never undone. Needs no second point.
    virtual void move_in_place() = 0;
    /// previous ← current, and it moves.
    virtual void move_copy() = 0;
    /// previous ← [current + β_t·(current − previous)]₊ for W and H of each scale, then columns of W to unit
    /// length (a column without entries becomes that of `current`), and it moves. Local to a cell but for W.
    virtual void extrapolate(const std::vector<double>& beta) = 0;
    /// The moving point becomes `current`, the old `current` becomes `previous`. Products stay.
    virtual void accept() = 0;
    /// The moving point is given up; `current` is as it was. The next sweep begins with `move_copy`.
    virtual void undo() = 0;

    /// Whether `freeze` does what it says. Where it does not, every sweep is one of all scales.
    virtual bool can_freeze() const { return false; }
    /// From the next sweep on the marked scales stay as they are: W, H and products of `current`, in both
    /// points. The steps below leave them out and treat them as constants, the measures count them. Allowed
    /// after `load` and after `accept`; empty: all scales move again.
    ///
    /// Products of a scale that is marked are made anew from W and H alone, so that a run that goes on from
    /// stored factors has the same ones, and how far W would move there, which `basis_step` goes on
    /// returning.
    virtual void freeze(const FrozenScales& /*frozen*/) {}
    /// All products of `current`, from W and H alone, so that it can be measured before the first sweep.
    /// Allowed after `load`, where `can_freeze`.
    virtual void make_products() {}

    /// `passes` exact passes over the columns of every W_t, H fixed:
    ///
    ///     w_k ← v₊ / ‖v₊‖ ,   v = (XHᵀ)_k − W(HHᵀ)_k + w_k (HHᵀ)_kk ,   k = 1 … d in turn
    ///
    /// XHᵀ and HHᵀ serve all passes. Where v₊ = 0 the column stays. Needs no products; leaves WᵀX and WᵀW of
    /// the new W. Returns for each scale how far W would have moved from where the step began
    /// (`movement_W`, unit columns), times the weight of the scale.
    virtual std::vector<Movement> basis_step(Index passes) = 0;

    /// HA and the degrees of the graph at every scale, for H as it is now.
    virtual void graph_products() = 0;

    /// One pass over the rows of every H_t, W fixed, graph term majorised (L ≼ 2D). For each cell j and each
    /// row k in turn, with g the half gradient at h̄ without the smoothness term, c = w·(WᵀW)_kk + 2wλ₁·deg +
    /// wλ₃, and s_t the coupling of scales t − 1 and t, exactly:
    ///
    ///     min over h ≥ 0 of  Σ_t [ ½c_t(h_t − h̄_t)² + g_t(h_t − h̄_t) ] + ½ Σ_{t≥2} s_t (h_t − h_{t−1})²
    ///
    /// Other rows at their newest values, HA as it was before the pass. Needs all products; HA is out of date
    /// afterwards.
    virtual void embedding_pass() = 0;

    /// Adds to row k of every H_t a constant on each component of its graph, all scales and components at
    /// once, rows in turn: the minimiser of a quadratic on the merge tree, bounded so that H stays ≥ 0, then
    /// shortened to the best length (formula: devices/cpu/component_shifts.hpp). Needs all products; keeps
    /// HA up to date. Components come from the graph's tree. Needs memory for sums over components only
    /// once it has been called.
    virtual void shift_components() = 0;

    /// The terms of the objective, scale by scale; the distance to the scale before belongs to the later
    /// one. Needs all products.
    virtual std::vector<Objective> terms() = 0;
    /// How far H would move at each scale (`movement_H`). Needs all products.
    virtual std::vector<Movement> movement_H() = 0;

    /// The objective of `current` from W and H alone. For between sweeps: products of the moving point may be
    /// others afterwards.
    virtual Objective objective() = 0;
    /// The same with the residuals of every scale: the certificate that ends a run, and that of the start.
    virtual Evaluation evaluate() = 0;
};

} // namespace pnmf
