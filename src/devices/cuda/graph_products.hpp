#pragma once

#include "devices/cuda/device_memory.hpp"
#include "devices/cuda/shape.hpp"

#include <cstdint>
#include <span>

namespace pnmf::cuda {

/// The graphs of all scales on the device, as the host's graph holds them: lists of neighbours with their
/// lengths, lists with weights that are the same at every scale, or a table of all distances. Weights are
/// made anew from the lengths at every use, in double precision.
template <class Real>
class DeviceGraph {
  public:
    /// Neighbours of cell j: start[j] ≤ e < start[j + 1]. One of `length` and `weight` is empty.
    void take_lists(std::span<const std::int64_t> start, std::span<const std::int32_t> cell,
                    std::span<const double> length, std::span<const double> weight);
    /// Distances of all cells to `cells` of them, which begin with `first`: a column for each.
    /// `columns_at_once`: of one product of matrices; all where it is 0.
    void take_table(const double* distances, std::int64_t all, std::int64_t first, std::int64_t cells,
                    std::int64_t columns_at_once = 0);
    /// The scales: ε, and −1/ε^α of the weight exp(−d²/ε^α).
    void take_scales(std::span<const double> epsilon, std::span<const double> negative_rate);

    /// Degrees of every cell at every scale. Nothing is done where there are no cells; so below.
    void degrees(const Shape& shape, Real* degree) const;
    /// HA of every scale. H has the cells that lists name, or all of a table.
    void products(const Products& products, const Shape& shape, const Real* H, Real* HA);

  private:
    std::int64_t cells_ = 0;
    std::int64_t all_ = 0; ///< cells of a table, those above among them
    std::int64_t first_ = 0;
    std::int64_t columns_at_once_ = 0;
    DeviceArray<std::int64_t> start_;
    DeviceArray<std::int32_t> cell_;
    DeviceArray<double> length_;
    DeviceArray<double> weight_;
    DeviceArray<double> distances_;
    DeviceArray<Real> table_; ///< weights of one scale
    DeviceArray<double> epsilon_;
    DeviceArray<double> rate_;
};

} // namespace pnmf::cuda
