#include "ranks/linalg/divided_cells.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
    std::vector<std::int64_t> start(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), start.begin() + 1);
    return start;
}

/// Of so many columns with as many items each.
std::vector<std::int64_t> even_offsets(Index columns, Index items) {
    std::vector<std::int64_t> start(static_cast<std::size_t>(columns) + 1);
    for (Index j = 0; j <= columns; ++j) {
        start[j] = j * items;
    }
    return start;
}

} // namespace

DividedCells::DividedCells(const CellRange& held, Processes& processes)
    : held_(held), processes_(processes), ranges_(gather_one(processes, held)) {}

int DividedCells::rank_of(Index cell) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), cell,
                                        [](Index c, const CellRange& range) { return c < range.past(); });
    return static_cast<int>(after - ranges_.begin());
}

CellRange overlap(const CellRange& a, const CellRange& b) {
    const Index first = std::max(a.first, b.first);
    return {first, std::max<Index>(0, std::min(a.past(), b.past()) - first), a.all};
}

ColumnWishes::ColumnWishes(const DividedCells& cells, std::span<const Index> wanted)
    : processes_(cells.processes()) {
    const auto size = static_cast<std::size_t>(processes_.count());
    std::vector<Index> ascending(wanted.begin(), wanted.end());
    if (!std::is_sorted(wanted.begin(), wanted.end())) {
        order_.resize(wanted.size());
        std::iota(order_.begin(), order_.end(), Index{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](Index a, Index b) { return wanted[a] < wanted[b]; });
        std::stable_sort(ascending.begin(), ascending.end());
    }
    std::vector<Index> from_rank(size, 0);
    for (const Index cell : ascending) {
        ++from_rank[cells.rank_of(cell)];
    }
    const std::vector<Index> counts = gather_to_all(processes_, std::span<const Index>(from_rank),
                                                    std::vector<Index>(size, std::ssize(from_rank)));
    leaving_first_.push_back(0);
    arriving_first_.push_back(0);
    for (std::size_t r = 0; r < size; ++r) {
        leaving_first_.push_back(leaving_first_.back() + counts[r * size + processes_.place()]);
        arriving_first_.push_back(arriving_first_.back() + from_rank[r]);
    }
    leaving_.resize(static_cast<std::size_t>(leaving_first_.back()));
    const auto part = [](auto items, const std::vector<Index>& first, int r) {
        return items.subspan(static_cast<std::size_t>(first[r]),
                             static_cast<std::size_t>(first[r + 1] - first[r]));
    };
    exchange_parts<Index>(
        processes_, [&](int r) { return part(std::span<const Index>(ascending), arriving_first_, r); },
        [&](int r) { return part(std::span<Index>(leaving_), leaving_first_, r); });
    for (Index& cell : leaving_) {
        cell -= cells.local().first;
    }
}

template <class Item>
void ColumnWishes::exchange(std::span<const Item> leaving, std::span<const std::int64_t> leaving_start,
                            std::span<Item> arriving, std::span<const std::int64_t> arriving_start) const {
    const auto part = [](auto items, std::span<const std::int64_t> start, const std::vector<Index>& first,
                         int r) {
        const std::int64_t begin = start[first[r]];
        return items.subspan(static_cast<std::size_t>(begin),
                             static_cast<std::size_t>(start[first[r + 1]] - begin));
    };
    exchange_parts<Item>(
        processes_, [&](int r) { return part(leaving, leaving_start, leaving_first_, r); },
        [&](int r) { return part(arriving, arriving_start, arriving_first_, r); });
}

template <class Real>
DenseMatrix<Real> ColumnWishes::columns(const DenseView<Real>& mine) const {
    const Index rows = mine.rows();
    DenseMatrix<Real> leaving(rows, std::ssize(leaving_));
    for (Index a = 0; a < leaving.cols(); ++a) {
        leaving.col(a) = mine.col(leaving_[a]);
    }
    DenseMatrix<Real> found(rows, wanted());
    exchange<Real>(std::span(leaving.data(), static_cast<std::size_t>(leaving.size())),
                   even_offsets(leaving.cols(), rows),
                   std::span(found.data(), static_cast<std::size_t>(found.size())),
                   even_offsets(found.cols(), rows));
    if (order_.empty()) {
        return found;
    }
    DenseMatrix<Real> result(rows, wanted());
    for (Index a = 0; a < wanted(); ++a) {
        result.col(place(a)) = found.col(a);
    }
    return result;
}

SparseMatrix<double> ColumnWishes::columns(const SparseView<double>& mine) const {
    // How many entries each column has, first: then everybody knows what will arrive.
    std::vector<std::int64_t> leaving_length;
    leaving_length.reserve(leaving_.size());
    for (const Index column : leaving_) {
        leaving_length.push_back(mine.start[column + 1] - mine.start[column]);
    }
    std::vector<std::int64_t> arriving_length(static_cast<std::size_t>(wanted()));
    exchange<std::int64_t>(leaving_length, even_offsets(std::ssize(leaving_), 1), arriving_length,
                           even_offsets(wanted(), 1));
    const std::vector<std::int64_t> leaving_start = offsets_of(leaving_length);
    const std::vector<std::int64_t> arriving_start = offsets_of(arriving_length);
    SparseMatrix<double> result;
    result.rows = mine.rows;
    result.cols = wanted();
    std::vector<std::int64_t> length(arriving_length.size());
    for (Index a = 0; a < wanted(); ++a) {
        length[place(a)] = arriving_length[a];
    }
    result.start = offsets_of(length);
    const auto move = [&]<class Item>(std::span<const Item> items, std::vector<Item>& to) {
        std::vector<Item> leaving;
        leaving.reserve(static_cast<std::size_t>(leaving_start.back()));
        for (const Index column : leaving_) {
            leaving.insert(leaving.end(), items.begin() + mine.start[column],
                           items.begin() + mine.start[column + 1]);
        }
        std::vector<Item> arriving(static_cast<std::size_t>(arriving_start.back()));
        exchange<Item>(leaving, leaving_start, arriving, arriving_start);
        if (order_.empty()) {
            to = std::move(arriving);
            return;
        }
        to.resize(arriving.size());
        for (Index a = 0; a < wanted(); ++a) {
            std::copy(arriving.begin() + arriving_start[a], arriving.begin() + arriving_start[a + 1],
                      to.begin() + result.start[place(a)]);
        }
    };
    move(mine.row, result.row);
    move(mine.value, result.value);
    return result;
}

template DenseMatrix<float> ColumnWishes::columns(const DenseView<float>&) const;
template DenseMatrix<double> ColumnWishes::columns(const DenseView<double>&) const;

} // namespace pnmf
