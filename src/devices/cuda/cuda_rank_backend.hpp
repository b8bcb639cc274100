#pragma once

#include "linalg/cell_blocks.hpp"
#include "solvers/backend.hpp"

#include <pnmf/communicator.hpp>

#include <memory>

namespace pnmf {

/// Sweeps of several ranks, each with a CUDA device for its own cells; ranks may share a device. What they
/// exchange is what ranks without devices exchange (devices/ranks/rank_backend.hpp), and goes through memory
/// of the host. Shifts of components within a block are solved for on the device, of larger ones on the host.
///
/// Every sum over cells is made of blocks of cells that are added along a tree, and products of matrices are
/// made block by block. So the bits are the same from run to run, and with any number of ranks on devices of
/// one kind, as long as `blocks.size` is a multiple of its panels or there is one block. They are not those
/// of one process on a device, which adds in another order: these differ by rounding.
template <class Real>
std::unique_ptr<Backend<Real>> make_cuda_rank_backend(const Problem<Real>& problem, Communicator& ranks,
                                                      const CellBlocks& blocks);

} // namespace pnmf
