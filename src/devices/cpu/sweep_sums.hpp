#pragma once

#include "cells/cell_blocks.hpp"
#include "cells/devices/outer_neighbors.hpp"
#include "cells/processes.hpp"
#include "devices/cpu/block_sums.hpp"
#include "devices/cpu/fit_term.hpp"
#include "solvers/frozen_scales.hpp"

#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pnmf {

/// What a sweep on processors asks for, over all cells: products with the data
/// (`FitTerm`), Gram matrices, terms, how far factors would move, and products
/// with graphs. H has the cells of this process, W is everybody's.
///
/// One process has all cells, and these are the functions of
/// devices/cpu/block_sums.hpp. Several add up along the tree of blocks
/// (cells/node_sums.hpp), so that the bits are those of one process with the
/// same blocks, as long as `blocks.size` is a multiple of the panels in which
/// products are made. Scale t of W is moved by one of them, which sends it to
/// the others. All processes make the same calls in the same order.
template <class Real>
class SweepSums {
  public:
    using Matrices = std::vector<DenseMatrix<Real>>;
    using Products = std::vector<ScaleProducts<Real>>;

    SweepSums(const Problem<Real>& problem, const CellBlocks& blocks, Processes& processes);

    Processes& processes() const { return processes_; }
    bool alone() const { return processes_.count() == 1; }
    const BlockShares& shares() const { return shares_; }
    const BlockSlab& slab() const { return slab_; }
    /// Of these cells.
    const FitTerm<Real>& fit() const { return *fit_; }
    /// Whether this process moves W_t.
    bool moves_basis(Index t) const { return owner(t) == processes_.place(); }

    /// XHᵀ and HHᵀ of scales [first, past), those of a scale together, where this
    /// process moves the basis. Products of `group` scales are made together.
    Matrices with_data(Index first, Index past, const Factors<Real>& point, Index group) const;
    /// W, WᵀW and movements of scales [first, past), from who moved them to all.
    void share_bases(Index first, Index past, Matrices& W, Products& products,
                     std::vector<Movement>& moved) const;
    /// Movements of scales, the first that of `first`, from who moves the basis
    /// to all.
    void share_movements(Index first, std::span<Movement> moved) const;

    /// Of which scales graphs of all pairs may be kept from step to step: where
    /// those that move take little memory together.
    void keep_graphs(const FrozenScales& frozen);
    /// HA and the degrees of scales [first, past). Graphs of all pairs are kept
    /// where that is allowed.
    void with_graph(Index first, Index past, const Matrices& H, Products& products);

    /// The terms of the objective of scales [first, past).
    std::vector<Objective> terms(Index first, Index past, const Products& products, const Matrices& H) const;
    /// How far H would move at scales [first, past).
    std::vector<Movement> movements(Index first, Index past, const Products& products,
                                    const Matrices& H) const;

  private:
    using Graph = std::shared_ptr<const MultiscaleGraph::Scale>;

    Graph graph_at(Index t);
    int owner(Index t) const { return static_cast<int>(t % processes_.count()); }

    const Problem<Real>& problem_;
    Processes& processes_;
    BlockShares shares_;
    BlockSlab slab_;
    std::vector<BlockNode> nodes_; ///< of this process: all blocks where it is alone
    std::unique_ptr<FitTerm<Real>> fit_;
    std::vector<ScalePenalty> penalties_;
    std::vector<Graph> graphs_; ///< those that are kept
    bool may_keep_ = false;
    std::optional<OuterNeighbors>
        outer_; ///< for graphs of neighbours, where each process has some of the cells
};

} // namespace pnmf
