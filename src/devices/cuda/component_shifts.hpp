#pragma once

#include "devices/cuda/device_memory.hpp"
#include "devices/cuda/embedding_pass.hpp"
#include "devices/cuda/shape.hpp"

#include <cstdint>

namespace pnmf::cuda {

struct MergeOrder;
struct Pieces;

/// `ScalePenalty` of every scale in double precision: sums over components are made in it.
struct ExactPenalties {
    const double* anchor = nullptr;
    const double* before = nullptr; ///< scales + 1 of them: 0 before the first scale and after the last
};

/// What the elimination leaves of a component, or what it hands on to its parent.
struct alignas(16) Eliminated {
    double pivot;
    double right;
};

/// Moves whole components (formula: devices/cpu/component_shifts.hpp), on the merge tree of the device.
template <class Real>
class ComponentShifts {
  public:
    bool ready() const { return !cell_.empty(); }
    /// Pieces that the order of the merge tree is to be cut into.
    static std::int64_t pieces_of(const Shape& shape);
    void prepare(const Shape& shape, const MergeOrder& order);
    /// Bytes that `prepare` takes.
    static double bytes_of_work(const Shape& shape, double components);

    void run(const Penalties<Real>& penalties, const ExactPenalties& exact,
             const ProductsView<Real>& products, Real* H);

  private:
    Pieces pieces() const;

    Shape shape_;
    DeviceArray<std::int32_t> cell_;
    DeviceArray<std::int32_t> component_;
    DeviceArray<std::int64_t> level_;
    DeviceArray<std::int32_t> first_cell_;
    DeviceArray<std::int32_t> first_child_;
    DeviceArray<std::int32_t> parent_;
    DeviceArray<std::int32_t> piece_;
    DeviceArray<std::int32_t> narrow_;
    DeviceArray<std::int32_t> narrow_scales_;
    DeviceArray<std::int32_t> wide_level_;
    DeviceArray<std::int32_t> wide_;
    DeviceArray<std::int32_t> wide_scale_;
    DeviceArray<std::int32_t> wide_size_;
    DeviceArray<std::int32_t> wide_parent_;
    DeviceArray<std::int32_t> wide_inside_;
    DeviceArray<std::int32_t> wide_first_piece_;
    DeviceArray<std::int32_t> wide_last_piece_;
    DeviceArray<double> gradient_; ///< S, of row and component: [k·components + component]; so the next two
    DeviceArray<double> shift_;
    DeviceArray<Real> least_;
    DeviceArray<Eliminated> eliminated_;      ///< of one row, every component
    DeviceArray<Eliminated> handed_;          ///< from narrow components of a piece to wide ones
    DeviceArray<Eliminated> eliminated_wide_; ///< and what else is at hand for wide ones
    DeviceArray<double> wide_least_;
    DeviceArray<double> wide_shift_;
    DeviceArray<double> part_gradient_; ///< of components that reach over several blocks of places
    DeviceArray<Real> part_least_;
    DeviceArray<double> along_;  ///< two sums of each piece, for two rows
    DeviceArray<double> length_; ///< of each row's shift
};

} // namespace pnmf::cuda
