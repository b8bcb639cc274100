#pragma once

#include "backends/cpu/component_shifts.hpp"
#include "backends/cuda/block_components.hpp"
#include "backends/cuda/device_memory.hpp"

#include <pnmf/communicator.hpp>

#include <optional>
#include <vector>

namespace pnmf::cuda {

/// Moves whole components where cells are divided over ranks (formula: backends/cpu/component_shifts.hpp).
/// Sums over components and the move itself are made on the device; the shifts are solved for by the threads
/// of the host, by the same code and with the same exchanges as where ranks have no device. So every
/// component's sums go to the host and its shifts come back.
template <class Real>
class RankShifts {
  public:
    bool ready() const { return forest_.has_value(); }
    /// `shape` is that of the cells of this rank.
    void prepare(const Shape& shape, const ComponentForest& forest, const BlockShares& shares, int rank);
    /// Bytes that `prepare` takes.
    static double bytes_of_work(const Shape& shape, double slots);

    /// All ranks take part.
    void run(const std::vector<ScalePenalty>& penalties, const Penalties<Real>& on_device,
             const ProductsView<Real>& products, Communicator& ranks, Real* H);

  private:
    BlockSlots slots() const { return {cell_.get(), slot_.get(), level_.get(), cells_in_block_}; }
    Index first_slot(Index t) const { return host_level_[static_cast<std::size_t>(t)]; }
    void collect_sums(const std::vector<double>& gradient, const std::vector<Real>& least,
                      Communicator& ranks);
    std::vector<Real> moves() const;

    Shape shape_;
    Index cells_in_block_ = 1;
    std::optional<ShiftForest> forest_;
    ShiftRoom room_;
    std::vector<std::int64_t> host_level_;
    DeviceArray<std::int32_t> cell_;
    DeviceArray<std::int32_t> slot_;
    DeviceArray<std::int64_t> level_;
    DeviceArray<double> gradient_;
    DeviceArray<Real> least_; ///< of each slot, and then its moves
};

} // namespace pnmf::cuda
