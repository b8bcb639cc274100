#pragma once

#include "ranks/linalg/divided_cells.hpp"

#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <span>
#include <vector>

namespace pnmf {

/// Points, dense or sparse, of which each process has those of its own cells. Distances are Euclidean.
class DividedPoints : public DividedCells {
  public:
    /// Columns of this process's cells, coordinates × cells. They stay where they are, and must outlive this.
    /// A rank without cells has as many coordinates too, and all processes have the same kind.
    DividedPoints(const DataView& mine, const CellRange& held, Processes& processes);

    Index dimensions() const;
    bool is_sparse() const { return std::holds_alternative<SparseView<double>>(mine_); }
    const DataView& mine() const { return mine_; }
    /// Those of this process; none where it has no cells.
    std::optional<Points> own() const;

    /// Those of any cells, in this order. Each process asks for what it wants; none where that is nothing.
    std::optional<Points> fetch(const ColumnWishes& wishes) const;
    std::optional<Points> fetch(std::span<const Index> cells) const;
    /// Those of some cells, at least one, and after them those of this process.
    Points beside_own(std::span<const Index> cells) const;
    /// All of them, on every process.
    Points gathered(Metric metric) const;

  private:
    DataView mine_;
};

/// The points of this process, and beside them those of another: in step s every process meets the one that
/// stands s before it in a circle. After as many steps as there are processes it has met all. No process
/// holds more than its own points and one such block.
class Meeting {
  public:
    explicit Meeting(const DividedPoints& points);

    /// All processes call it. In step 0 a process is alone.
    void meet(Index step);

    Index own() const { return points_.local().count; }
    const CellRange& visitor() const { return visitor_; } ///< no cells in step 0
    Index count() const { return own() + visitor_.count; }
    /// Own points first. There must be one.
    Points points() const;
    /// The number of each of these among all cells.
    std::vector<Index> names() const;

  private:
    void exchange_dense(int to, int from);
    void exchange_sparse(int to, int from);

    const DividedPoints& points_;
    CellRange visitor_;
    Matrix dense_;                      ///< with memory for the largest block, or
    SparseMatrix<double> sparse_;       ///< as many columns as there are points here
    std::vector<std::int64_t> entries_; ///< of the sparse points of each process
};

} // namespace pnmf
