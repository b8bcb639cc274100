#pragma once

#include "cells/cell_blocks.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace pnmf {

/// The columns of a slab of cells; dense ones stay where they are, and so does a part that is these already.
/// InputError where it is a part of other cells.
template <class Real>
std::shared_ptr<const DataMatrix<Real>> columns_of(const DataMatrix<Real>& X, const BlockSlab& slab) {
    const Index first = slab.first_cell();
    const Index count = slab.cells();
    if (!X.has_all_cells()) {
        require(X.local() == CellRange{first, count, X.cells()},
                "this rank must hold {} cells from cell {} on, got {} from {}", count, first + 1,
                X.local().count, X.local().first + 1);
        return {std::shared_ptr<void>{}, &X}; // somebody else's
    }
    if (!X.is_sparse()) {
        const Real* const begin = X.dense().data() + first * X.features();
        const bool lies_well = reinterpret_cast<std::uintptr_t>(begin) % 16 == 0;
        auto some =
            lies_well
                ? std::make_shared<DataMatrix<Real>>(DenseView<Real>(begin, X.features(), count))
                : std::make_shared<DataMatrix<Real>>(DenseMatrix<Real>(X.dense().middleCols(first, count)));
        some->set_panel(slab.blocks.panel());
        return some;
    }
    const SparseView<Real> all = X.columns();
    const auto begin = all.start[first];
    const auto end = all.start[first + count];
    SparseMatrix<Real> part;
    part.rows = all.rows;
    part.cols = count;
    for (Index j = 1; j <= count; ++j) {
        part.start.push_back(all.start[first + j] - begin);
    }
    part.row.assign(all.row.begin() + begin, all.row.begin() + end);
    part.value.assign(all.value.begin() + begin, all.value.begin() + end);
    return std::make_shared<DataMatrix<Real>>(std::move(part));
}

} // namespace pnmf
