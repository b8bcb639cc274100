#pragma once

#include "linalg/cell_blocks.hpp"
#include "solvers/backend.hpp"

#include <pnmf/communicator.hpp>

#include <memory>

namespace pnmf {

/// Sweeps on the threads of several ranks, each with its own cells: the kernels of the CPU on a part of X and
/// H, all of W, and what must be exchanged between them. Every rank makes one, for the same problem, and
/// calls the same operations. The bits are those of the CPU backend with the same blocks, whatever the number
/// of ranks, as long as `blocks.size` is a multiple of the panels in which products are made.
///
/// Scale t of W is moved by rank t mod ranks, which sends it to the others.
template <class Real>
std::unique_ptr<Backend<Real>> make_rank_backend(const Problem<Real>& problem, Communicator& ranks,
                                                 const CellBlocks& blocks);

} // namespace pnmf
