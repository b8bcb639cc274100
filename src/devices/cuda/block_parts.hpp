#pragma once

#include "devices/cuda/shape.hpp"

/// Sums over blocks of cells whose size several processes agree on, and which are added along the tree of
/// blocks (cells/cell_blocks.hpp). None of these goes to a library, so that the bits do not depend on how
/// many blocks a process has.
namespace pnmf::cuda {

/// HHᵀ of blocks [first, first + count), every scale: `shape.grams()` numbers each.
template <class Real>
void gram_of_blocks(const Shape& shape, std::int64_t cells_in_block, std::int64_t first, std::int64_t count,
                    const Real* H, Real* parts);

/// w·WᵀW of every scale, w its weight.
template <class Real>
void gram_of_bases(const Shape& shape, const Real* W, const Real* weight, Real* WtW);

/// Adds `count` parts of `size` numbers along the tree, into the first.
template <class Real>
void join_parts(Real* parts, std::int64_t size, std::int64_t count);

/// to ← to + from.
template <class Real>
void add_part(Real* to, const Real* from, std::int64_t size);

} // namespace pnmf::cuda
