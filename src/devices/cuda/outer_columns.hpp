#pragma once

#include "cells/cell_blocks.hpp"
#include "cells/devices/outer_neighbors.hpp"
#include "cells/processes.hpp"
#include "devices/cuda/graph_products.hpp"

#include <pnmf/model/problem.hpp>

#include <optional>
#include <vector>

namespace pnmf::cuda {

/// HA of the cells of one process on its device: the columns of H that it needs of other processes come
/// through memory of the host. For graphs of neighbours these are `OuterNeighbors`, and stand behind the
/// process's own columns; for others all columns of all processes.
template <class Real>
class OuterColumns {
  public:
    OuterColumns(const Problem<Real>& problem, const BlockShares& shares, Processes& processes);

    /// Columns that H must have memory for behind those of this process.
    Index columns_behind() const { return outer_ ? outer_->columns() : 0; }
    /// `shape` is that of the cells of this process.
    void prepare(const Shape& shape);

    void degrees(Real* degree) const { graph_.degrees(shape_, degree); }
    /// All processes take part.
    void products(const Products& library, Real* H, Real* HA);

  private:
    void bring_outer(Real* H);
    void bring_all(const Real* H);

    BlockShares shares_;
    Processes& processes_;
    std::optional<OuterNeighbors> outer_; ///< for graphs of neighbours
    DeviceGraph<Real> graph_;
    Shape shape_;
    std::vector<Index> sent_;              ///< columns to each process, all scales
    std::vector<Index> received_;          ///< and from it
    DeviceArray<std::int64_t> from_place_; ///< of columns to send (`take_columns`), process after process
    DeviceArray<std::int64_t> to_place_;   ///< of columns received
    DeviceArray<Real> travelling_;         ///< columns on their way, of both kinds in turn
    DeviceArray<Real> all_;                ///< H of all cells
    std::vector<Real> out_;
    std::vector<Real> in_;
};

} // namespace pnmf::cuda
