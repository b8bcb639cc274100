#pragma once

#include "cells/processes.hpp"
#include "cells/shared_work.hpp"

#include <pnmf/linalg/views.hpp>
#include <pnmf/types.hpp>

#include <span>
#include <vector>

namespace pnmf {

/// Cells of which each rank holds some: ranks in order have cells in order, and together all of them. All
/// ranks make the same calls.
class DividedCells {
  public:
    DividedCells(const CellRange& held, Communicator& ranks);

    Index count() const { return held_.all; } ///< cells of all ranks
    const CellRange& held() const { return held_; }
    const std::vector<CellRange>& ranges() const { return ranges_; } ///< cells of each rank
    Communicator& ranks() const { return ranks_of_all_; }
    int rank_of(Index cell) const;

  private:
    CellRange held_;
    Communicator& ranks_of_all_;
    std::vector<CellRange> ranges_;
};

/// The cells in both.
CellRange overlap(const CellRange& a, const CellRange& b);

/// Columns that ranks ask each other for: of any cells, in any order, or of none. Several matrices can be
/// asked for the same cells. All ranks make one, and ask the same matrices.
class ColumnWishes {
  public:
    ColumnWishes(const DividedCells& cells, std::span<const Index> wanted);

    Index wanted() const { return arriving_first_.back(); } ///< how many columns

    /// The columns wanted, in their order; `mine` are those of this rank. Cells that ascend need no room
    /// beside the result and what others ask for.
    template <class Real>
    DenseMatrix<Real> columns(const DenseView<Real>& mine) const;
    SparseMatrix<double> columns(const SparseView<double>& mine) const;

  private:
    /// Where the column that arrives as number `a` is wanted.
    Index place(Index a) const { return order_.empty() ? a : order_[a]; }
    /// From items of the columns that leave to those of the columns that arrive, both one rank after the
    /// other; `start` says where each column begins.
    template <class Item>
    void exchange(std::span<const Item> leaving, std::span<const std::int64_t> leaving_start,
                  std::span<Item> arriving, std::span<const std::int64_t> arriving_start) const;

    Communicator& ranks_;
    std::vector<Index> order_;          ///< empty: as they arrive
    std::vector<Index> leaving_;        ///< own columns that are asked for, those for rank 0 first
    std::vector<Index> leaving_first_;  ///< of each rank among them, and their number
    std::vector<Index> arriving_first_; ///< the same for those that arrive
};

} // namespace pnmf
