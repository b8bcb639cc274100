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

/// What is over all cells, where each rank holds some of them (`DataMatrix::is_part`). Without parts these
/// are the operations of the matrix itself, and the bits are the same with any number of ranks.
namespace pnmf {

/// Sums over cells whose terms are added in the order of the cells, one after the other: `sums` has items of
/// `width` numbers each, and add(begin, end) adds the terms of this rank's cells to items [begin, end). A
/// rank goes on where the one before it has come to, with some items at a time, so that all are busy once the
/// first items have reached the last rank. All ranks get the sums.
template <class Number>
void sum_along_ranks(Communicator& ranks, std::span<Number> sums, Index width,
                     const std::function<void(Index, Index)>& add) {
    const Index items = width > 0 ? std::ssize(sums) / width : 0;
    if (ranks.size() == 1) {
        add(0, items);
        return;
    }
    constexpr Index rounds = 4; // more keep ranks busier, fewer have less to start
    const Index chunk = std::max<Index>(1, (items + rounds * ranks.size() - 1) / (rounds * ranks.size()));
    const Index chunks = (items + chunk - 1) / chunk;
    const auto numbers = [&](Index c) {
        const Index begin = c * chunk;
        return sums.subspan(begin * width, (std::min(items, begin + chunk) - begin) * width);
    };
    const auto is_chunk = [&](Index c) { return 0 <= c && c < chunks && width > 0; };
    const int rank = ranks.rank();
    for (Index step = 0; step <= chunks + ranks.size(); ++step) {
        const Index here = step - rank;
        std::vector<Communicator::Outgoing> sends;
        std::vector<Communicator::Incoming> receives;
        if (rank + 1 < ranks.size() && is_chunk(here - 1)) {
            sends.push_back({rank + 1, std::as_bytes(std::span<const Number>(numbers(here - 1)))});
        }
        if (rank > 0 && is_chunk(here)) {
            receives.push_back({rank - 1, std::as_writable_bytes(numbers(here))});
        }
        ranks.exchange(sends, receives);
        if (is_chunk(here)) {
            add(here * chunk, std::min(items, (here + 1) * chunk));
        }
    }
    broadcast(ranks, sums, ranks.size() - 1);
}

template <class Number>
void sum_along_ranks(Communicator& ranks, std::vector<Number>& sums, Index width,
                     const std::function<void(Index, Index)>& add) {
    sum_along_ranks(ranks, std::span<Number>(sums), width, add);
}

/// X·Hᵀ over all cells. H has the cells that this rank holds.
template <class Real>
DenseMatrix<Real> times_transposed_of_parts(const DataMatrix<Real>& X, const DenseMatrix<Real>& H) {
    if (!X.is_part()) {
        return X.times_transposed(H);
    }
    return sum_over_cells<Real>(X.ranks(), X.cells(), X.features(), H.rows(),
                                [&](const BlockSlab& slab, const BlockNode& node) {
                                    return slab.blocks.count() == 1 ? X.times_transposed(H)
                                           : X.is_sparse() ? sparse_times_transposed(X, H, slab, node)
                                                           : dense_times_transposed(X.dense(), H, slab, node);
                                });
}

/// X·(Xᵀ·Y) over all cells, p × m for Y p × m.
template <class Real>
DenseMatrix<Real> normal_times_of_parts(const DataMatrix<Real>& X, const DenseMatrix<Real>& Y) {
    if (Y.cols() > 1 || !X.is_sparse() || usual_blocks(X.cells()).count() == 1) {
        return times_transposed_of_parts(X, X.transposed_times(Y));
    }
    return sum_over_cells<Real>(X.ranks(), X.cells(), X.features(), 1,
                                [&](const BlockSlab& slab, const BlockNode& node) {
                                    return sparse_normal_times(X.columns(), Y, slab, node);
                                });
}

/// What `share_columns` and `gather_cells` send and receive: columns of `rows` numbers, those of this rank
/// from `mine`, the others into `all`.
template <class Real, class Number>
void exchange_columns(const DataMatrix<Real>& X, const Number* mine, Index rows, Number* all,
                      std::optional<int> only) {
    if (!X.is_part()) {
        return;
    }
    Communicator& ranks = X.ranks();
    const auto wanted_by = [&](int r) { return !only || *only == r; };
    const std::vector<Index> cells = gather_one<Index>(ranks, X.held().count);
    const auto count = static_cast<std::size_t>(rows * X.held().count);
    std::vector<Communicator::Outgoing> sends;
    std::vector<Communicator::Incoming> receives;
    Index first = 0;
    for (int r = 0; r < ranks.size(); ++r) {
        if (r != ranks.rank() && wanted_by(r) && count > 0) {
            sends.push_back({r, std::as_bytes(std::span<const Number>(mine, count))});
        }
        if (r != ranks.rank() && wanted_by(ranks.rank()) && rows * cells[r] > 0) {
            receives.push_back({r, std::as_writable_bytes(std::span<Number>(
                                       all + rows * first, static_cast<std::size_t>(rows * cells[r])))});
        }
        first += cells[r];
    }
    ranks.exchange(sends, receives);
}

/// Columns of all cells of which each rank has its own: they are sent to the others, where they belong. With
/// `only`, to that rank alone.
template <class Real, class Number>
void share_columns(const DataMatrix<Real>& X, DenseMatrix<Number>& all, std::optional<int> only = {}) {
    exchange_columns<Real, Number>(X, all.data() + all.rows() * X.held().first, all.rows(), all.data(), only);
}

/// Columns of all cells that rank 0 has, to all ranks: each gets its own from there and shares them.
template <class Real, class Number>
void columns_from_first(const DataMatrix<Real>& X, DenseMatrix<Number>& all) {
    if (!X.is_part()) {
        return;
    }
    Communicator& ranks = X.ranks();
    const std::vector<CellRange> ranges = gather_one(ranks, X.held());
    const auto columns = [&](int r) {
        return std::span<Number>(all.data() + all.rows() * ranges[r].first,
                                 static_cast<std::size_t>(all.rows() * ranges[r].count));
    };
    std::vector<Communicator::Outgoing> sends;
    std::vector<Communicator::Incoming> receives;
    for (int r = 1; r < ranks.size(); ++r) {
        if (ranks.rank() == 0 && !columns(r).empty()) {
            sends.push_back({r, std::as_bytes(std::span<const Number>(columns(r)))});
        }
        if (ranks.rank() == r && !columns(r).empty()) {
            receives.push_back({0, std::as_writable_bytes(columns(r))});
        }
    }
    ranks.exchange(sends, receives);
    share_columns(X, all);
}

/// The columns of all cells, from those that each rank holds: on every rank, or on `only` alone and empty on
/// the others. Where nothing is divided every rank has them anyway.
template <class Real, class Number>
DenseMatrix<Number> gather_cells(const DataMatrix<Real>& X, DenseMatrix<Number> here,
                                 std::optional<int> only = {}) {
    if (!X.is_part()) {
        return here;
    }
    DenseMatrix<Number> all;
    if (!only || *only == X.ranks().rank()) {
        all.resize(here.rows(), X.cells());
        all.middleCols(X.held().first, here.cols()) = here;
    }
    exchange_columns<Real, Number>(X, here.data(), here.rows(), all.data(), only);
    return all;
}

/// The same on every rank, in `room` unless it is here already.
template <class Real, class Number>
const DenseMatrix<Number>& cells_of_all(const DataMatrix<Real>& X, const DenseMatrix<Number>& here,
                                        DenseMatrix<Number>& room) {
    if (!X.is_part()) {
        return here;
    }
    room = gather_cells(X, here);
    return room;
}

/// Of columns of all cells those that are held here.
template <class Real, class Number>
DenseMatrix<Number> held_columns(const DataMatrix<Real>& X, DenseMatrix<Number> all) {
    if (!X.is_part()) {
        return all;
    }
    return all.middleCols(X.held().first, X.held().count);
}

/// X·Hᵀ, H with all cells.
template <class Real>
DenseMatrix<Real> times_transposed_of_all(const DataMatrix<Real>& X, const DenseMatrix<Real>& H) {
    if (!X.is_part()) {
        return X.times_transposed(H);
    }
    return times_transposed_of_parts<Real>(X, H.middleCols(X.held().first, X.held().count));
}

/// Wᵀ·X for all cells.
template <class Real>
DenseMatrix<Real> transposed_times_of_all(const DataMatrix<Real>& X, const DenseMatrix<Real>& W) {
    return gather_cells(X, X.transposed_times(W));
}

/// `parallel_for` of a body that goes over all cells. One after the other where ranks have parts of these,
/// who must ask in the same order. Where cells are enough to keep all threads busy inside of a body, four at
/// a time: few need room, and threads that wait at the end of a loop of one have work in another.
template <class Real>
void for_each_with_all(const DataMatrix<Real>& X, Index count, const std::function<void(Index)>& body) {
    if (X.is_part()) {
        for (Index i = 0; i < count; ++i) {
            body(i);
        }
        return;
    }
    const bool enough = usual_blocks(X.cells()).count() >= 4 * thread_count();
    parallel_few(count, enough ? 4 : count, body);
}

} // namespace pnmf
