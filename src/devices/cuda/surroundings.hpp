#pragma once

#include "cells/cell_blocks.hpp"
#include "cells/devices/outer_neighbors.hpp"
#include "cells/processes.hpp"
#include "devices/cuda/graph_products.hpp"

#include <pnmf/model/problem.hpp>

#include <optional>
#include <vector>

namespace pnmf::cuda {

/// HA of the cells of one rank on its device: the columns of H that it needs of other ranks come through
/// memory of the host. For graphs of neighbours these are the halo (`Halo`), and stand behind the rank's own
/// columns; for others all columns of all ranks.
template <class Real>
class Surroundings {
  public:
    Surroundings(const Problem<Real>& problem, const BlockShares& shares, Communicator& ranks);

    /// Columns that H must have room for behind those of this rank.
    Index columns_behind() const { return halo_ ? halo_->columns() : 0; }
    /// `shape` is that of the cells of this rank.
    void prepare(const Shape& shape);

    void degrees(Real* degree) const { graph_.degrees(shape_, degree); }
    /// All ranks take part.
    void products(const Products& library, Real* H, Real* HA);

  private:
    void bring_halo(Real* H);
    void bring_all(const Real* H);

    BlockShares shares_;
    Communicator& ranks_;
    std::optional<Halo> halo_; ///< for graphs of neighbours
    DeviceGraph<Real> graph_;
    Shape shape_;
    std::vector<Index> sent_;              ///< columns to each rank, all scales
    std::vector<Index> received_;          ///< and from it
    DeviceArray<std::int64_t> from_place_; ///< of columns to send (`take_columns`), rank after rank
    DeviceArray<std::int64_t> to_place_;   ///< of columns received
    DeviceArray<Real> travelling_;         ///< columns on their way, of both kinds in turn
    DeviceArray<Real> all_;                ///< H of all cells
    std::vector<Real> out_;
    std::vector<Real> in_;
};

} // namespace pnmf::cuda
