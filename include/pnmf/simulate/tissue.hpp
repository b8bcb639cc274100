#pragma once

#include <pnmf/simulate/cells.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// A tissue of layers that differ in how many cells of each type they have.
struct TissueOptions {
    CellsOptions cells{};
    Index layers = 4;
    double mixing =
        0.4; ///< in [0, 1]; share of the cells that lie in any layer, not in the one of their type
};

/// Cells, and where they are.
struct SimulatedTissue {
    SimulatedCells cells;
    std::vector<Index> layers{}; ///< of each cell, 0 … layers − 1
    Matrix places{}; ///< 2 × cells: anywhere in a square, of which layer l has the strip y ∈ [l, l + 1)
};

/// Type c has its home in layer c mod layers. InputError for options out of range.
SimulatedTissue simulate_tissue(const TissueOptions& options);

} // namespace pnmf
