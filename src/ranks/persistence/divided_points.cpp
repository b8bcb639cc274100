#include "ranks/persistence/divided_points.hpp"

#include "ranks/linalg/divided_columns.hpp"
#include "ranks/linalg/sparse_move.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

Matrix side_by_side(const Matrix& left, const DenseView<double>& right) {
    Matrix both(left.rows(), left.cols() + right.cols());
    both.leftCols(left.cols()) = left;
    both.rightCols(right.cols()) = right;
    return both;
}

SparseMatrix<double> side_by_side(SparseMatrix<double> left, const SparseView<double>& right) {
    const std::int64_t before = left.nonzeros();
    left.cols += right.cols;
    left.start.reserve(static_cast<std::size_t>(left.cols) + 1);
    for (Index j = 0; j < right.cols; ++j) {
        left.start.push_back(before + right.start[j + 1]);
    }
    left.row.insert(left.row.end(), right.row.begin(), right.row.end());
    left.value.insert(left.value.end(), right.value.begin(), right.value.end());
    return left;
}

/// One message to a process and one from another.
template <class Item>
void exchange_with(Processes& processes, int to, std::span<const Item> sent, int from,
                   std::span<Item> received) {
    std::vector<Processes::Outgoing> sends;
    std::vector<Processes::Incoming> receives;
    if (!sent.empty()) {
        sends.push_back({to, std::as_bytes(sent)});
    }
    if (!received.empty()) {
        receives.push_back({from, std::as_writable_bytes(received)});
    }
    processes.exchange(sends, receives);
}

} // namespace

DividedPoints::DividedPoints(const DataView& mine, const CellRange& held, Processes& processes)
    : DividedCells(held, processes), mine_(mine) {}

Index DividedPoints::dimensions() const {
    const auto* sparse = std::get_if<SparseView<double>>(&mine_);
    return sparse != nullptr ? sparse->rows : std::get<DenseView<double>>(mine_).rows();
}

std::optional<Points> DividedPoints::own() const {
    return local().count > 0 ? std::optional(Points(mine_)) : std::nullopt;
}

std::optional<Points> DividedPoints::fetch(const ColumnWishes& wishes) const {
    return std::visit(
        [&](const auto& mine) -> std::optional<Points> {
            auto columns = wishes.columns(mine);
            return wishes.wanted() > 0 ? std::optional(Points(std::move(columns))) : std::nullopt;
        },
        mine_);
}

std::optional<Points> DividedPoints::fetch(std::span<const Index> cells) const {
    return fetch(ColumnWishes(*this, cells));
}

Points DividedPoints::beside_own(std::span<const Index> cells) const {
    const ColumnWishes wishes(*this, cells);
    return std::visit([&](const auto& mine) { return Points(side_by_side(wishes.columns(mine), mine)); },
                      mine_);
}

Points DividedPoints::gathered(Metric metric) const {
    if (const auto* dense = std::get_if<DenseView<double>>(&mine_)) {
        return Points(DividedColumns(*dense, local(), processes()).gathered(), metric);
    }
    const auto& sparse = std::get<SparseView<double>>(mine_);
    const std::vector<CellRange> to(ranges().size(), CellRange{0, count(), count()});
    const SparseMove move(sparse.start, ranges(), to, processes());
    SparseMatrix<double> all;
    all.rows = sparse.rows;
    all.cols = count();
    all.start = move.arriving();
    all.row = move(sparse.row);
    all.value = move(sparse.value);
    return Points(std::move(all), metric);
}

Meeting::Meeting(const DividedPoints& points) : points_(points), visitor_{0, 0, points.count()} {
    if (const auto* dense = std::get_if<DenseView<double>>(&points.mine())) {
        Index most = 0;
        for (const CellRange& range : points.ranges()) {
            most = std::max(most, range.count);
        }
        dense_.resize(dense->rows(), own() + most);
        dense_.leftCols(own()) = *dense;
        return;
    }
    const auto& sparse = std::get<SparseView<double>>(points.mine());
    entries_ = gather_one(points.processes(), sparse.nonzeros());
    const std::int64_t buffer = sparse.nonzeros() + *std::max_element(entries_.begin(), entries_.end());
    sparse_.rows = sparse.rows;
    sparse_.row.reserve(static_cast<std::size_t>(buffer));
    sparse_.value.reserve(static_cast<std::size_t>(buffer));
    sparse_ = side_by_side(std::move(sparse_), sparse);
}

void Meeting::meet(Index step) {
    const Processes& processes = points_.processes();
    const Index size = processes.count();
    const auto to = static_cast<int>((processes.place() + step) % size);
    const auto from = static_cast<int>((processes.place() + size - step % size) % size);
    const bool alone = step % size == 0;
    visitor_ = alone ? CellRange{0, 0, points_.count()} : points_.ranges()[from];
    if (points_.is_sparse()) {
        const std::int64_t entries = entries_[processes.place()] + (alone ? 0 : entries_[from]);
        sparse_.cols = count();
        sparse_.start.resize(static_cast<std::size_t>(count()) + 1);
        sparse_.row.resize(static_cast<std::size_t>(entries));
        sparse_.value.resize(static_cast<std::size_t>(entries));
    }
    if (!alone) {
        points_.is_sparse() ? exchange_sparse(to, from) : exchange_dense(to, from);
    }
}

void Meeting::exchange_dense(int to, int from) {
    const auto columns = [&](Index first, Index count) {
        return std::span<double>(dense_.data() + dense_.rows() * first,
                                 static_cast<std::size_t>(dense_.rows() * count));
    };
    exchange_with<double>(points_.processes(), to, columns(0, own()), from, columns(own(), visitor_.count));
}

void Meeting::exchange_sparse(int to, int from) {
    const auto exchange = [&]<class Item>(std::span<Item> both, std::int64_t mine) {
        const auto here = static_cast<std::size_t>(mine);
        exchange_with<Item>(points_.processes(), to, both.first(here), from, both.subspan(here));
    };
    const std::int64_t mine = entries_[points_.processes().place()];
    const auto start = std::span(sparse_.start).subspan(1);
    exchange(start, own());
    for (std::int64_t& place : start.subspan(static_cast<std::size_t>(own()))) {
        place += mine;
    }
    exchange(std::span(sparse_.row), mine);
    exchange(std::span(sparse_.value), mine);
}

Points Meeting::points() const {
    return points_.is_sparse() ? Points(DataView(view_of(sparse_)))
                               : Points(DataView(DenseView<double>(dense_.data(), dense_.rows(), count())));
}

std::vector<Index> Meeting::names() const {
    std::vector<Index> names(static_cast<std::size_t>(count()));
    std::iota(names.begin(), names.begin() + own(), points_.local().first);
    std::iota(names.begin() + own(), names.end(), visitor_.first);
    return names;
}

} // namespace pnmf
