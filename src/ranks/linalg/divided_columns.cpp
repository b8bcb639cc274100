#include "ranks/linalg/divided_columns.hpp"

#include "cells/linalg/over_all_cells.hpp"

#include <algorithm>
#include <cassert>

namespace pnmf {
namespace {

/// Rows that are reduced together. A multiple of the numbers that Eigen takes at once, so that a row is in
/// the same place of a group of them as in the whole matrix.
constexpr Index rows_at_once = 4;

/// The part of columns that begin with cell `first`.
template <class Number>
std::span<Number> part_of(Number* columns, Index rows, Index first, const CellRange& cells) {
    return cells.count == 0 ? std::span<Number>()
                            : std::span<Number>(columns + rows * (cells.first - first),
                                                static_cast<std::size_t>(rows * cells.count));
}

} // namespace

DividedColumns::DividedColumns(const Matrix& mine, const CellRange& held, Processes& processes)
    : DividedColumns(view_of(mine), held, processes) {}

DividedColumns::DividedColumns(const DenseView<double>& mine, const CellRange& held, Processes& processes)
    : DividedCells(held, processes), mine_(mine.data()), rows_(mine.rows()) {
    assert(mine.cols() == held.count);
}

Matrix DividedColumns::moved(const std::vector<CellRange>& to) const {
    const CellRange& target = to[processes().place()];
    Matrix result(rows_, target.count);
    exchange_parts<double>(
        processes(), [&](int r) { return part_of(mine_, rows_, local().first, overlap(local(), to[r])); },
        [&](int r) { return part_of(result.data(), rows_, target.first, overlap(ranges()[r], target)); });
    return result;
}

Matrix DividedColumns::gathered(std::optional<int> only) const {
    std::vector<CellRange> to;
    for (int r = 0; r < processes().count(); ++r) {
        const bool wants = !only || *only == r;
        to.push_back(wants ? CellRange{0, count(), count()} : CellRange{count(), 0, count()});
    }
    return moved(to);
}

Vector DividedColumns::of_rows(const std::function<Vector(const Matrix&)>& reduce) const {
    Vector result(rows_);
    const auto group_rows = [&](Index first) { return std::min(rows_at_once, rows_ - first); };
    for (Index first = 0, group = 0; first < rows_; first += rows_at_once, ++group) {
        const Matrix some = mine().middleRows(first, group_rows(first));
        const Matrix all = DividedColumns(some, local(), processes()).gathered(dealt_to(processes(), group));
        if (is_mine(processes(), group)) {
            result.segment(first, group_rows(first)) = reduce(all);
        }
    }
    for (Index first = 0, group = 0; first < rows_; first += rows_at_once, ++group) {
        broadcast(processes(), std::span(result.data() + first, static_cast<std::size_t>(group_rows(first))),
                  dealt_to(processes(), group));
    }
    return result;
}

Vector reduce_rows(Processes& processes, const Matrix& columns, const CellRange& local,
                   const std::function<Vector(const Matrix&)>& reduce) {
    return processes.count() == 1 ? reduce(columns)
                                  : DividedColumns(columns, local, processes).of_rows(reduce);
}

} // namespace pnmf
