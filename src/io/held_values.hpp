#pragma once

#include <pnmf/io/dataset.hpp>

namespace pnmf::io {

/// Calls `visit(cell, feature, value)` for each value held, cell by cell. Cells have their number among all.
template <class Visit>
void for_each_value(const Dataset& data, const Visit& visit) {
    const Index first = data.part ? data.part->first : 0;
    if (const auto* dense = std::get_if<Matrix>(&data.X)) {
        for (Index j = 0; j < dense->cols(); ++j) {
            for (Index i = 0; i < dense->rows(); ++i) {
                visit(first + j, i, (*dense)(i, j));
            }
        }
        return;
    }
    const auto& sparse = std::get<SparseMatrix<double>>(data.X);
    for (Index j = 0; j < sparse.cols; ++j) {
        for (auto e = sparse.start[j]; e < sparse.start[j + 1]; ++e) {
            visit(first + j, Index{sparse.row[e]}, sparse.value[e]);
        }
    }
}

} // namespace pnmf::io
