#pragma once

#include <pnmf/simulate/cells.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Cells on the way from one start to several ends. `types` and `imbalance` of the cells are not looked at.
struct BranchesOptions {
    CellsOptions cells{.genes = 1000, .changed = 0.3, .depth = 5000.0, .dispersion = 0.3};
    Index ends = 3;   ///< where paths end, at least 1
    Index steps = 20; ///< places on a branch
};

/// A tree whose branches hold cells: a trunk from the start to the first fork, then branches to the ends.
struct BranchesModel {
    CellModel cells; ///< its types are the places on the branches
    /// Of each place: how far it is from the start, in branches; 0 at the start. The k-th of a branch's
    /// places is at (k + ½) / steps of it.
    std::vector<double> time;
    std::vector<Index> branch;               ///< of each place: 0 is the trunk
    std::vector<std::vector<Index>> reaches; ///< of each branch: the ends that can be reached from it
};

/// Draws the tree and the profiles of its nodes as `make_cell_model` does, with a trunk before the root. The
/// profile of a place lies between those of the nodes at both ends of its branch, on the log scale; all
/// places hold equally many cells on average. `simulate_cells(model.cells, …)` draws cells, whose types are
/// places.
BranchesModel make_branches_model(const BranchesOptions& options);

} // namespace pnmf
