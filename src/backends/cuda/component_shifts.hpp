#pragma once

#include "backends/cuda/device_memory.hpp"
#include "backends/cuda/embedding_pass.hpp"
#include "backends/cuda/shape.hpp"

#include <cstdint>

namespace pnmf::cuda {

struct MergeOrder;

/// `ScalePenalty` of every scale in double precision: sums over components are made in it.
struct ExactPenalties {
    const double* anchor = nullptr;
    const double* before = nullptr; ///< scales + 1 of them: 0 before the first scale and after the last
};

/// Moves whole components (formula: backends/cpu/component_shifts.hpp), on the merge tree of the device.
template <class Real>
class ComponentShifts {
  public:
    bool ready() const { return !cell_.empty(); }
    void prepare(const Shape& shape, const MergeOrder& order);
    /// Bytes that `prepare` takes.
    static double bytes_of_work(const Shape& shape, double components);

    void run(const Penalties<Real>& penalties, const ExactPenalties& exact,
             const ProductsView<Real>& products, Real* H);

  private:
    Shape shape_;
    DeviceArray<std::int32_t> cell_;
    DeviceArray<std::int32_t> component_;
    DeviceArray<std::int64_t> level_;
    DeviceArray<std::int32_t> first_cell_;
    DeviceArray<std::int32_t> first_child_;
    DeviceArray<std::int32_t> parent_;
    DeviceArray<std::int32_t> large_;
    DeviceArray<std::int64_t> large_level_;
    DeviceArray<double> gradient_; ///< S, of row and component: [k·components + component]; so the next two
    DeviceArray<double> shift_;
    DeviceArray<Real> least_;
    DeviceArray<double> pivot_;
    DeviceArray<double> right_;
    DeviceArray<double> part_gradient_; ///< of components that reach over several blocks of places
    DeviceArray<Real> part_least_;
    DeviceArray<double> along_;  ///< two sums of each block of threads
    DeviceArray<double> length_; ///< of each row's shift
    unsigned blocks_ = 1;
};

} // namespace pnmf::cuda
