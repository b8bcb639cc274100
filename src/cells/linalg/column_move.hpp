#pragma once

#include "cells/processes.hpp"
#include "cells/shared_work.hpp"
#include "linalg/large_pages.hpp"

#include <pnmf/linalg/fit_order.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pnmf {

/// Columns, one of each cell, that go into another order: at place i then stands what was that of cell
/// order.cell[i]. With `inverse(order)` they go back. Processes that hold some of the columns each exchange
/// them, and hold places of the same range afterwards; all must take part.
class ColumnMove {
  public:
    ColumnMove(const FitOrder& order, const std::optional<CellRange>& held);

    template <class Number>
    DenseMatrix<Number> operator()(const DenseMatrix<Number>& columns) const;

    /// Sparse columns, in another precision.
    template <class Real>
    SparseMatrix<Real> operator()(const SparseView<double>& columns) const;

  private:
    /// The items of columns that leave, those for the first process first, and where each column begins among
    /// them, to those of columns that arrive, which stand in the same way.
    template <class Item>
    void exchange(std::span<const Item> leaving, std::span<const std::int64_t> leaving_start,
                  std::span<Item> arriving, std::span<const std::int64_t> arriving_start) const;

    Processes* processes_;
    Index here_ = 0;                   ///< local columns
    std::vector<std::int32_t> leave_;  ///< columns that are here, those for the first process first
    std::vector<Index> leave_first_;   ///< of each process among them, and their number
    std::vector<std::int32_t> arrive_; ///< places that are here, those from the first process first
    std::vector<Index> arrive_first_;
};

inline ColumnMove::ColumnMove(const FitOrder& order, const std::optional<CellRange>& held)
    : processes_(held ? &all_processes() : &one_process()) {
    const Index n = std::ssize(order.cell);
    const CellRange mine = held.value_or(CellRange{0, n, n});
    here_ = mine.count;
    const std::vector<CellRange> ranges = gather_one(*processes_, mine);
    const auto is_in = [](const CellRange& range, Index cell) {
        return range.first <= cell && cell < range.past();
    };
    for (const CellRange& range : ranges) {
        leave_first_.push_back(std::ssize(leave_));
        for (Index place = range.first; place < range.past(); ++place) {
            if (is_in(mine, order.cell[place])) {
                leave_.push_back(order.cell[place] - static_cast<std::int32_t>(mine.first));
            }
        }
        arrive_first_.push_back(std::ssize(arrive_));
        for (Index place = mine.first; place < mine.past(); ++place) {
            if (is_in(range, order.cell[place])) {
                arrive_.push_back(static_cast<std::int32_t>(place - mine.first));
            }
        }
    }
    leave_first_.push_back(std::ssize(leave_));
    arrive_first_.push_back(std::ssize(arrive_));
}

template <class Item>
void ColumnMove::exchange(std::span<const Item> leaving, std::span<const std::int64_t> leaving_start,
                          std::span<Item> arriving, std::span<const std::int64_t> arriving_start) const {
    const auto part = [](auto items, std::span<const std::int64_t> start, const std::vector<Index>& first,
                         int r) {
        const auto begin = start[first[r]];
        return items.subspan(static_cast<std::size_t>(begin),
                             static_cast<std::size_t>(start[first[r + 1]] - begin));
    };
    exchange_parts<Item>(
        *processes_, [&](int r) { return part(leaving, leaving_start, leave_first_, r); },
        [&](int r) { return part(arriving, arriving_start, arrive_first_, r); });
}

template <class Number>
DenseMatrix<Number> ColumnMove::operator()(const DenseMatrix<Number>& columns) const {
    constexpr Index block = 1024;
    const Index d = columns.rows();
    DenseMatrix<Number> result(d, here_);
    if (processes_->count() == 1) {
        parallel_blocks(here_, block, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) {
                result.col(i) = columns.col(leave_[i]);
            }
        });
        return result;
    }
    DenseMatrix<Number> leaving(d, here_);
    DenseMatrix<Number> arriving(d, here_);
    std::vector<std::int64_t> start(static_cast<std::size_t>(here_) + 1);
    for (Index i = 0; i <= here_; ++i) {
        start[i] = i * d;
    }
    parallel_blocks(here_, block, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            leaving.col(i) = columns.col(leave_[i]);
        }
    });
    exchange<Number>(std::span(leaving.data(), static_cast<std::size_t>(leaving.size())), start,
                     std::span(arriving.data(), static_cast<std::size_t>(arriving.size())), start);
    parallel_blocks(here_, block, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            result.col(arrive_[i]) = arriving.col(i);
        }
    });
    return result;
}

template <class Real>
SparseMatrix<Real> ColumnMove::operator()(const SparseView<double>& columns) const {
    constexpr Index block = 1024;
    const auto buffer = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    // How many entries each column has, first: then everybody knows what will arrive.
    std::vector<std::int64_t> one_each(buffer(here_ + 1));
    std::vector<std::int64_t> leaving_count(buffer(here_));
    std::vector<std::int64_t> arriving_count(buffer(here_));
    for (Index i = 0; i < here_; ++i) {
        one_each[i + 1] = i + 1;
        leaving_count[i] = columns.start[leave_[i] + 1] - columns.start[leave_[i]];
    }
    exchange<std::int64_t>(leaving_count, one_each, arriving_count, one_each);
    const auto offsets = [&](const std::vector<std::int64_t>& counts) {
        std::vector<std::int64_t> start(buffer(here_ + 1), 0);
        std::partial_sum(counts.begin(), counts.end(), start.begin() + 1);
        return start;
    };
    const std::vector<std::int64_t> leaving_start = offsets(leaving_count);
    const std::vector<std::int64_t> arriving_start = offsets(arriving_count);
    SparseMatrix<Real> result;
    result.rows = columns.rows;
    result.cols = here_;
    result.start.assign(buffer(here_ + 1), 0);
    for (Index i = 0; i < here_; ++i) {
        result.start[arrive_[i] + 1] = arriving_count[i];
    }
    std::partial_sum(result.start.begin(), result.start.end(), result.start.begin());
    const auto move = [&]<class From, class To>(std::span<const From> from, std::vector<To>& to) {
        std::vector<To> leaving;
        resize_on_large_pages(leaving, buffer(leaving_start.back()));
        parallel_blocks(here_, block, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) {
                const auto first = columns.start[leave_[i]];
                for (auto e = leaving_start[i]; e < leaving_start[i + 1]; ++e) {
                    leaving[e] = static_cast<To>(from[first + e - leaving_start[i]]);
                }
            }
        });
        if (processes_->count() == 1) { // they left in the order of the places
            to = std::move(leaving);
            return;
        }
        std::vector<To> arriving(buffer(arriving_start.back()));
        exchange<To>(leaving, leaving_start, arriving, arriving_start);
        leaving = {};
        to.resize(arriving.size());
        parallel_blocks(here_, block, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) {
                std::copy(arriving.begin() + arriving_start[i], arriving.begin() + arriving_start[i + 1],
                          to.begin() + result.start[arrive_[i]]);
            }
        });
    };
    move(columns.row, result.row);
    move(columns.value, result.value);
    return result;
}

} // namespace pnmf
