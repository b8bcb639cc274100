#pragma once

#include "cells/processes.hpp"
#include "cells/shared_work.hpp"

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <span>
#include <vector>

namespace pnmf {

/// Cells of which each process holds some: processes in order have cells in order, and together all of them.
/// All processes make the same calls.
class DividedCells {
  public:
    DividedCells(const CellRange& held, Processes& processes);

    Index count() const { return held_.all; } ///< cells of all processes
    const CellRange& local() const { return held_; }
    const std::vector<CellRange>& ranges() const { return ranges_; } ///< cells of each process
    Processes& processes() const { return processes_; }
    int rank_of(Index cell) const;

  private:
    CellRange held_;
    Processes& processes_;
    std::vector<CellRange> ranges_;
};

/// The cells in both.
CellRange overlap(const CellRange& a, const CellRange& b);

/// Columns that processes ask each other for: of any cells, in any order, or of none. Several matrices can be
/// asked for the same cells. All processes make one, and ask the same matrices.
class ColumnWishes {
  public:
    ColumnWishes(const DividedCells& cells, std::span<const Index> wanted);

    Index wanted() const { return arriving_first_.back(); } ///< how many columns

    /// The columns wanted, in their order; `mine` are those of this process. Cells that ascend need no memory
    /// beside the result and what others ask for.
    template <class Real>
    DenseMatrix<Real> columns(const DenseView<Real>& mine) const;
    SparseMatrix<double> columns(const SparseView<double>& mine) const;

  private:
    /// Where the column that arrives as number `a` is wanted.
    Index place(Index a) const { return order_.empty() ? a : order_[a]; }
    /// From items of the columns that leave to those of the columns that arrive, both one process after the
    /// other; `start` says where each column begins.
    template <class Item>
    void exchange(std::span<const Item> leaving, std::span<const std::int64_t> leaving_start,
                  std::span<Item> arriving, std::span<const std::int64_t> arriving_start) const;

    Processes& processes_;
    std::vector<Index> order_;          ///< empty: as they arrive
    std::vector<Index> leaving_;        ///< own columns that are asked for, those for the first process first
    std::vector<Index> leaving_first_;  ///< of each process among them, and their number
    std::vector<Index> arriving_first_; ///< the same for those that arrive
};

} // namespace pnmf
