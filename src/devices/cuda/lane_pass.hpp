#pragma once

#include "devices/cuda/shape.hpp"

#include <cstdint>

namespace pnmf::cuda {

template <class Real>
struct ProductsView;

/// The pass over H with a thread for each scale of a cell: for up to 32 scales and rank 32, where WᵀW of all
/// scales fits into the memory of a block. The tridiagonal systems along the scales are then solved by all
/// threads of a cell together, in five steps in place of one after another.
template <class Real>
class LanePass {
  public:
    static bool fits(const Shape& shape, std::int64_t shared_bytes);

    void prepare(const Shape& shape, int processors, std::int64_t shared_bytes);
    void run(const Penalties<Real>& penalties, const ProductsView<Real>& products, Real* H);

  private:
    Shape shape_;
    int width_ = 32; ///< threads of a cell
    int warps_ = 1;  ///< of a block
    int bytes_ = 0;
    unsigned blocks_ = 1;
};

} // namespace pnmf::cuda
