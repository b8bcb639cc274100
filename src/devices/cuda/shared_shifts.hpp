#pragma once

#include "devices/cpu/component_shifts.hpp"
#include "devices/cuda/block_components.hpp"
#include "devices/cuda/device_memory.hpp"
#include "devices/cuda/narrow_shifts.hpp"

#include "cells/processes.hpp"

#include <optional>
#include <vector>

namespace pnmf::cuda {

/// Moves whole components where each process has some of the cells (formula:
/// devices/cpu/component_shifts.hpp). The device has the sums and the narrow components, which are nearly
/// all; the few wide ones are solved for on the host by the code of processes without devices, with the same
/// exchanges.
template <class Real>
class SharedShifts final : public NarrowShifts {
  public:
    bool ready() const { return wide_.has_value(); }
    /// `shape` is that of the cells of this process.
    void prepare(const Shape& shape, const ComponentForest& forest, const BlockShares& shares, int place);
    /// Bytes that `prepare` takes.
    static double bytes_of_work(const Shape& shape, double slots);

    /// All processes take part.
    void run(const std::vector<ScalePenalty>& penalties, const Penalties<Real>& on_device,
             const ExactPenalties& exact, const ProductsView<Real>& products, Processes& processes, Real* H);

  private:
    void begin(Index first, Index count) override;
    void eliminate(Index k) override;
    HandedOn handed(Index t, Index entry) const override;
    void substitute(Index k, const std::vector<ShiftBuffer::Level>& wide) override;
    ShiftQuadratic along(Index t, Index block) const override;
    void shorten(Index k, double length) override;

    void upload_forest(const ShiftForest& forest);
    void collect_wide(Processes& processes);
    void upload_wide_moves();
    BlockSlots slots() const { return {cell_.get(), slot_.get(), level_.get(), cells_in_block_}; }
    NarrowArguments<Real> arguments();

    Shape shape_;
    Index cells_in_block_ = 1;
    Index blocks_ = 0;
    Index most_narrow_ = 0; ///< of one scale
    int first_row_ = 0;     ///< rows before it are in the gradients of the group
    std::optional<ShiftForest> wide_;
    ShiftBuffer buffer_; ///< of wide components
    ExactPenalties penalties_;
    const Real* WtW_ = nullptr;
    std::vector<std::int64_t> host_level_;      ///< slots
    std::vector<std::int64_t> narrow_;          ///< components of each scale
    std::vector<std::int64_t> first_entry_;     ///< of each scale
    std::vector<std::int32_t> host_wide_level_; ///< wide components
    std::vector<Eliminated> host_handed_;
    std::vector<double> host_along_;

    DeviceArray<std::int32_t> cell_;
    DeviceArray<std::int32_t> slot_;
    DeviceArray<std::int64_t> level_;
    DeviceArray<std::int64_t> node_;
    DeviceArray<std::int32_t> size_;
    DeviceArray<std::int32_t> parent_;
    DeviceArray<std::int32_t> first_child_;
    DeviceArray<std::int32_t> children_;
    DeviceArray<std::int32_t> first_narrow_;
    DeviceArray<std::int32_t> wide_level_;
    DeviceArray<std::int32_t> entry_scale_;
    DeviceArray<std::int32_t> first_inside_;
    DeviceArray<std::int32_t> inside_;
    DeviceArray<double> gradient_;
    DeviceArray<double> shift_;
    DeviceArray<Real> least_; ///< of each slot, and at last its moves
    DeviceArray<double> length_;
    DeviceArray<Eliminated> eliminated_;
    DeviceArray<Eliminated> handed_;
    DeviceArray<double> wide_shift_;
    DeviceArray<double> along_;
};

} // namespace pnmf::cuda
