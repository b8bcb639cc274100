#pragma once

#include "devices/cuda/embedding_pass.hpp"
#include "devices/cuda/shape.hpp"

#include <cstdint>

namespace pnmf::cuda {

/// The cells of each block in an order in which what a block has of a component is a run, at every scale. A
/// *slot* is such a run: a component that is inside the block, or the part of a larger one.
struct BlockSlots {
    const std::int32_t* cell;  ///< at each place of the order
    const std::int32_t* slot;  ///< of the cell at a place, at scale t: [t·cells + place]
    const std::int64_t* level; ///< where the slots of scale t begin; T + 1 of them
    std::int64_t cells_in_block;
};

/// Half gradient, without the graph term, and least entry of H of every slot: row k of slot s of scale t at
/// level[t]·rank + k·(slots of the scale) + s.
template <class Real>
void sum_slots(const Shape& shape, const BlockSlots& slots, const Penalties<Real>& penalties,
               const ProductsView<Real>& products, const Real* H, double* gradient, Real* least);

/// Adds to H, and to HA, what the slot of a cell is to move by: row k of slot s of scale t at
/// moves[(level[t] + s)·rank + k]. H stays ≥ 0.
template <class Real>
void move_slots(const Shape& shape, const BlockSlots& slots, const Real* moves, const Real* degree, Real* H,
                Real* HA);

} // namespace pnmf::cuda
