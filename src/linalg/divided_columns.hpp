#pragma once

#include "linalg/divided_cells.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace pnmf {

/// A dense matrix with a column for each cell, of which each rank holds the columns of some cells.
class DividedColumns : public DividedCells {
  public:
    /// The columns stay where they are, and must outlive this. A rank without cells has as many rows too.
    DividedColumns(const Matrix& mine, const CellRange& held, Communicator& ranks);
    DividedColumns(const DenseView<double>& mine, const CellRange& held, Communicator& ranks);

    Index rows() const { return rows_; }
    DenseView<double> mine() const { return {mine_, rows_, held().count}; }

    /// The columns of any cells, in this order. Each rank asks for those it wants, or for none.
    Matrix fetch(std::span<const Index> cells) const { return ColumnWishes(*this, cells).columns(mine()); }

    /// The columns of the cells `to[rank]`.
    Matrix moved(const std::vector<CellRange>& to) const;
    /// Those of all cells, on every rank, or on `only` alone.
    Matrix gathered(std::optional<int> only = {}) const;

    /// A number for each row. `reduce` gets few rows at a time, with all cells, and must give what it would
    /// give of the whole matrix: sums of rows have an order of their own in Eigen, which a sum of sums would
    /// not keep. A rank holds a few rows of all cells meanwhile. The result is on every rank.
    Vector of_rows(const std::function<Vector(const Matrix&)>& reduce) const;

  private:
    const double* mine_;
    Index rows_;
};

/// Sparse columns that go to the ranks that are to hold them: each has those of the cells `from[rank]`, and
/// gets those of `to[rank]`, which may overlap. Rows and values are moved one after the other.
class SparseMove {
  public:
    /// `start`: where each column begins here.
    SparseMove(std::span<const std::int64_t> start, const std::vector<CellRange>& from,
               const std::vector<CellRange>& to, Communicator& ranks);

    /// Where each column begins that arrives.
    const std::vector<std::int64_t>& arriving() const { return arriving_; }

    template <class Item>
    std::vector<Item> operator()(std::span<const Item> here) const {
        std::vector<Item> result(static_cast<std::size_t>(arriving_.back()));
        const auto part = [](auto items, std::span<const std::int64_t> start, const CellRange& held,
                             const CellRange& cells) {
            const std::int64_t begin = cells.count == 0 ? 0 : start[cells.first - held.first];
            const std::int64_t end = cells.count == 0 ? 0 : start[cells.past() - held.first];
            return items.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        };
        exchange_parts<Item>(
            ranks_, [&](int r) { return part(here, leaving_, mine(), overlap(mine(), to_[r])); },
            [&](int r) { return part(std::span(result), arriving_, wanted(), overlap(from_[r], wanted())); });
        return result;
    }

  private:
    const CellRange& mine() const { return from_[ranks_.rank()]; }
    const CellRange& wanted() const { return to_[ranks_.rank()]; }

    std::span<const std::int64_t> leaving_;
    const std::vector<CellRange>& from_;
    const std::vector<CellRange>& to_;
    Communicator& ranks_;
    std::vector<std::int64_t> arriving_;
};

} // namespace pnmf
