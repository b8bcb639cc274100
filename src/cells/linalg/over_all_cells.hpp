#pragma once

#include "cells/cell_sums.hpp"
#include "cells/processes.hpp"
#include "linalg/dense_product.hpp"
#include "linalg/sparse_block_product.hpp"
#include "parallel_region.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

/// What is over all cells, where each process holds some of them (`DataMatrix::has_all_cells`). Without parts
/// these are the operations of the matrix itself, and the bits are the same with any number of processes.
namespace pnmf {

/// Sums over cells whose terms are added in the order of the cells, one after the other: `sums` has items of
/// `width` numbers each, and add(begin, end) adds the terms of this process's cells to items [begin, end). A
/// rank goes on where the one before it has come to, with some items at a time, so that all are busy once the
/// first items have reached the last process. All processes get the sums.
template <class Number>
void sum_along_cells(Processes& processes, std::span<Number> sums, Index width,
                     const std::function<void(Index, Index)>& add) {
    const Index items = width > 0 ? std::ssize(sums) / width : 0;
    if (processes.count() == 1) {
        add(0, items);
        return;
    }
    constexpr Index rounds = 4; // more keep processes busier, fewer have less to start
    const Index chunk =
        std::max<Index>(1, (items + rounds * processes.count() - 1) / (rounds * processes.count()));
    const Index chunks = (items + chunk - 1) / chunk;
    const auto numbers = [&](Index c) {
        const Index begin = c * chunk;
        return sums.subspan(begin * width, (std::min(items, begin + chunk) - begin) * width);
    };
    const auto is_chunk = [&](Index c) { return 0 <= c && c < chunks && width > 0; };
    const int rank = processes.place();
    for (Index step = 0; step <= chunks + processes.count(); ++step) {
        const Index here = step - rank;
        std::vector<Processes::Outgoing> sends;
        std::vector<Processes::Incoming> receives;
        if (rank + 1 < processes.count() && is_chunk(here - 1)) {
            sends.push_back({rank + 1, std::as_bytes(std::span<const Number>(numbers(here - 1)))});
        }
        if (rank > 0 && is_chunk(here)) {
            receives.push_back({rank - 1, std::as_writable_bytes(numbers(here))});
        }
        processes.exchange(sends, receives);
        if (is_chunk(here)) {
            add(here * chunk, std::min(items, (here + 1) * chunk));
        }
    }
    broadcast(processes, sums, processes.count() - 1);
}

template <class Number>
void sum_along_cells(Processes& processes, std::vector<Number>& sums, Index width,
                     const std::function<void(Index, Index)>& add) {
    sum_along_cells(processes, std::span<Number>(sums), width, add);
}

/// X·Hᵀ over all cells. H has the cells that this process holds.
template <class Real>
DenseMatrix<Real> times_transposed_over_cells(const DataMatrix<Real>& X, const DenseMatrix<Real>& H) {
    if (X.has_all_cells()) {
        return X.times_transposed(H);
    }
    return sum_over_cells<Real>(X.processes(), X.cells(), X.features(), H.rows(),
                                [&](const BlockSlab& slab, const BlockNode& node) {
                                    return slab.blocks.count() == 1 ? X.times_transposed(H)
                                           : X.is_sparse() ? sparse_times_transposed(X, H, slab, node)
                                                           : dense_times_transposed(X.dense(), H, slab, node);
                                });
}

/// X·(Xᵀ·Y) over all cells, p × m for Y p × m.
template <class Real>
DenseMatrix<Real> normal_times_over_cells(const DataMatrix<Real>& X, const DenseMatrix<Real>& Y) {
    if (Y.cols() > 1 || !X.is_sparse() || usual_blocks(X.cells()).count() == 1) {
        return times_transposed_over_cells(X, X.transposed_times(Y));
    }
    return sum_over_cells<Real>(X.processes(), X.cells(), X.features(), 1,
                                [&](const BlockSlab& slab, const BlockNode& node) {
                                    return sparse_normal_times(X.columns(), Y, slab, node);
                                });
}

/// What `share_columns` and `gather_cells` send and receive: columns of `rows` numbers, those of this process
/// from `mine`, the others into `all`.
template <class Real, class Number>
void exchange_columns(const DataMatrix<Real>& X, const Number* mine, Index rows, Number* all,
                      std::optional<int> only) {
    if (X.has_all_cells()) {
        return;
    }
    Processes& processes = X.processes();
    const auto wanted_by = [&](int r) { return !only || *only == r; };
    const std::vector<CellRange> ranges = gather_one(processes, X.local());
    exchange_parts<Number>(
        processes,
        [&](int r) {
            return std::span(mine, wanted_by(r) ? static_cast<std::size_t>(rows * X.local().count) : 0);
        },
        [&](int r) {
            const Index columns = wanted_by(processes.place()) ? ranges[r].count : 0;
            return std::span(all + rows * (columns > 0 ? ranges[r].first : 0),
                             static_cast<std::size_t>(rows * columns));
        });
}

/// Columns of all cells of which each process has its own: they are sent to the others, where they belong.
/// With `only`, to that process alone.
template <class Real, class Number>
void share_columns(const DataMatrix<Real>& X, DenseMatrix<Number>& all, std::optional<int> only = {}) {
    exchange_columns<Real, Number>(X, all.data() + all.rows() * X.local().first, all.rows(), all.data(),
                                   only);
}

/// Columns of all cells that process 0 has, to all processes: each gets its own from there and shares them.
template <class Real, class Number>
void columns_from_first(const DataMatrix<Real>& X, DenseMatrix<Number>& all) {
    if (X.has_all_cells()) {
        return;
    }
    Processes& processes = X.processes();
    const std::vector<CellRange> ranges = gather_one(processes, X.local());
    const auto columns = [&](int r) {
        return std::span<Number>(all.data() + all.rows() * ranges[r].first,
                                 static_cast<std::size_t>(all.rows() * ranges[r].count));
    };
    const auto travels = [&](bool here, int r) { return here ? columns(r) : std::span<Number>(); };
    exchange_parts<Number>(
        processes, [&](int r) { return travels(processes.place() == 0, r); },
        [&](int r) { return travels(r == 0, processes.place()); });
    share_columns(X, all);
}

/// The columns of all cells, from those that each process holds: on every process, or on `only` alone and
/// empty on the others. Where nothing is divided every process has them anyway.
template <class Real, class Number>
DenseMatrix<Number> gather_cells(const DataMatrix<Real>& X, DenseMatrix<Number> here,
                                 std::optional<int> only = {}) {
    if (X.has_all_cells()) {
        return here;
    }
    DenseMatrix<Number> all;
    if (!only || *only == X.processes().place()) {
        all.resize(here.rows(), X.cells());
    }
    exchange_columns<Real, Number>(X, here.data(), here.rows(), all.data(), only);
    return all;
}

/// The same on every process, in `buffer` unless it is here already.
template <class Real, class Number>
const DenseMatrix<Number>& cells_of_all(const DataMatrix<Real>& X, const DenseMatrix<Number>& here,
                                        DenseMatrix<Number>& buffer) {
    if (X.has_all_cells()) {
        return here;
    }
    buffer = gather_cells(X, here);
    return buffer;
}

/// Of columns of all cells those that are kept here.
template <class Real, class Number>
DenseMatrix<Number> local_columns(const DataMatrix<Real>& X, DenseMatrix<Number> all) {
    if (X.has_all_cells()) {
        return all;
    }
    return all.middleCols(X.local().first, X.local().count);
}

/// X·Hᵀ, H with all cells.
template <class Real>
DenseMatrix<Real> times_transposed_of_all(const DataMatrix<Real>& X, const DenseMatrix<Real>& H) {
    if (X.has_all_cells()) {
        return X.times_transposed(H);
    }
    return times_transposed_over_cells<Real>(X, H.middleCols(X.local().first, X.local().count));
}

/// Wᵀ·X for all cells.
template <class Real>
DenseMatrix<Real> transposed_times_of_all(const DataMatrix<Real>& X, const DenseMatrix<Real>& W) {
    return gather_cells(X, X.transposed_times(W));
}

/// reduce(rows with all cells), for some rows at a time of columns of which each process has its own; every
/// process gets the numbers of all rows.
Vector reduce_rows(Processes& processes, const Matrix& columns, const CellRange& local,
                   const std::function<Vector(const Matrix&)>& reduce);

/// `parallel_for` of a body that goes over all cells. One after the other where processes have parts of
/// these, who must ask in the same order. Where cells are enough to keep all threads busy inside of a body,
/// four at a time: few need memory, and threads that wait at the end of a loop of one have work in another.
template <class Real>
void for_each_with_all(const DataMatrix<Real>& X, Index count, const std::function<void(Index)>& body) {
    if (!X.has_all_cells()) {
        for (Index i = 0; i < count; ++i) {
            body(i);
        }
        return;
    }
    const bool enough = usual_blocks(X.cells()).count() >= 4 * thread_count();
    parallel_few(count, enough ? 4 : count, body);
}

} // namespace pnmf
