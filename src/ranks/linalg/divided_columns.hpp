#pragma once

#include "ranks/linalg/divided_cells.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace pnmf {

/// A dense matrix with a column for each cell, of which each process holds the columns of some cells.
class DividedColumns : public DividedCells {
  public:
    /// The columns stay where they are, and must outlive this. A process without cells has as many rows too.
    DividedColumns(const Matrix& mine, const CellRange& held, Processes& processes);
    DividedColumns(const DenseView<double>& mine, const CellRange& held, Processes& processes);

    Index rows() const { return rows_; }
    DenseView<double> mine() const { return {mine_, rows_, local().count}; }

    /// The columns of any cells, in this order. Each process asks for those it wants, or for none.
    Matrix fetch(std::span<const Index> cells) const { return ColumnWishes(*this, cells).columns(mine()); }

    /// The columns of the cells `to[rank]`.
    Matrix moved(const std::vector<CellRange>& to) const;
    /// Those of all cells, on every process, or on `only` alone.
    Matrix gathered(std::optional<int> only = {}) const;

    /// A number for each row. `reduce` gets few rows at a time, with all cells, and must give what it would
    /// give of the whole matrix: sums of rows have an order of their own in Eigen, which a sum of sums would
    /// not keep. A process holds a few rows of all cells meanwhile. The result is on every process.
    Vector of_rows(const std::function<Vector(const Matrix&)>& reduce) const;

  private:
    const double* mine_;
    Index rows_;
};

} // namespace pnmf
