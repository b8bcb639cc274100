#pragma once

#include <pnmf/simulate/cells.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Cells around a loop. `types` and `imbalance` of the cells are not looked at.
struct LoopCellsOptions {
    CellsOptions cells{.genes = 1000, .changed = 0.3, .fold = 0.7, .depth = 5000.0, .dispersion = 0.3};
    Index steps = 120; ///< places on the loop, all equally likely
};

/// What the cells are drawn from: its types are the places on the loop.
struct LoopModel {
    CellModel cells;
    std::vector<double> phase; ///< of each place, radians
};

/// A share of the genes goes up and down once around the loop: the logarithm of the expression of each is its
/// mean plus a·cos(φ − peak), with a normal amplitude a of deviation `fold` and a peak anywhere.
LoopModel make_loop_model(const LoopCellsOptions& options);

} // namespace pnmf
