#pragma once

#include "cells/io/local_cells.hpp"

#include <pnmf/io/dataset.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <vector>

namespace pnmf::io {

/// Calls `visit(cell, feature, value)` for each value of the cells [begin, end) of the local ones, cell by
/// cell. Cells have their number among all.
template <class Visit>
void for_each_value(const Dataset& data, Index begin, Index end, const Visit& visit) {
    const Index first = local_cells(data).first;
    if (const auto* dense = std::get_if<Matrix>(&data.X)) {
        for (Index j = begin; j < end; ++j) {
            for (Index i = 0; i < dense->rows(); ++i) {
                visit(first + j, i, (*dense)(i, j));
            }
        }
        return;
    }
    const auto& sparse = std::get<SparseMatrix<double>>(data.X);
    for (Index j = begin; j < end; ++j) {
        for (auto e = sparse.start[j]; e < sparse.start[j + 1]; ++e) {
            visit(first + j, Index{sparse.row[e]}, sparse.value[e]);
        }
    }
}

/// The same for all local cells. Threads share them out: the values of one cell are visited by one thread.
template <class Visit>
void for_each_value(const Dataset& data, const Visit& visit) {
    constexpr Index cells_of_thread = 256; // at a time
    parallel_blocks(local_cells(data).count, cells_of_thread,
                    [&](Index begin, Index end) { for_each_value(data, begin, end, visit); });
}

/// What is found in runs of the local cells, in order: each begins as `nothing` and gets all values of its
/// cells, `found.add(cell, feature, value)`. Threads share out the runs, of which there are only a few for
/// each thread: what is put together from them must not depend on how many there are.
template <class Found>
std::vector<Found> found_in_values(const Dataset& data, const Found& nothing = {}) {
    constexpr Index fewest_cells = 256;
    const Index cells = local_cells(data).count;
    const Index runs = 4 * Index{thread_count()};
    const Index length = std::max(fewest_cells, (cells + runs - 1) / runs);
    std::vector<Found> found(static_cast<std::size_t>((cells + length - 1) / length), nothing);
    parallel_blocks(cells, length, [&](Index begin, Index end) {
        Found here = nothing; // its own, not beside those that other threads write to
        for_each_value(data, begin, end, [&](Index j, Index i, double x) { here.add(j, i, x); });
        found[begin / length] = std::move(here);
    });
    return found;
}

} // namespace pnmf::io
