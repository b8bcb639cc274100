#pragma once

#include "devices/cuda/device_memory.hpp"
#include "devices/cuda/lane_pass.hpp"
#include "devices/cuda/shape.hpp"

namespace pnmf::cuda {

/// The numbers of a point that its steps share, all scales (`ScaleProducts` of the host).
template <class Real>
struct ProductsView {
    const Real* WtX = nullptr;
    const Real* WtW = nullptr;
    Real* HA = nullptr;
    const Real* degree = nullptr;
};

/// How the pass is laid out on this device, and the memory it needs where that of a block is too small.
template <class Real>
class EmbeddingPass {
  public:
    void prepare(const Shape& shape);
    /// Bytes that `prepare` takes on a device of this many multiprocessors.
    static double bytes_of_work(const Shape& shape, int processors, std::int64_t shared_bytes);

    /// One pass over the rows of H, all scales of a cell at once (formula: backend.hpp).
    void run(const Penalties<Real>& penalties, const ProductsView<Real>& products, Real* H);

  private:
    Shape shape_;
    bool by_lanes_ = false; ///< the quicker pass, where its sizes allow it
    LanePass<Real> lane_pass_;
    int lanes_ = 32;         ///< cells of a tile
    bool shared_ = true;     ///< tiles stand in the memory of a block, else in `room_`
    std::int64_t bytes_ = 0; ///< of a tile
    unsigned blocks_ = 1;
    unsigned threads_ = 32;
    DeviceArray<char> buffer_;
};

} // namespace pnmf::cuda
