#pragma once

#include "cells/cell_blocks.hpp"
#include "solvers/backend.hpp"
#include "solvers/device.hpp"

#include "cells/processes.hpp"

#include <memory>

namespace pnmf {

/// Sweeps on a CUDA device: data, graphs and factors are copied to it at `load`, and the factors come back at
/// `store`. The same bits from run to run on one device: no sum depends on the order in which threads run.
/// SystemError where the device fails or its memory does not suffice.
///
/// Of several processes each has a device for its own cells; they may share one. What they exchange is what
/// they exchange without devices, and goes through memory of the host. Shifts of components within a block
/// are solved for on the device, of larger ones on the host. Every sum over cells is made of blocks of cells
/// that are added along a tree, and products of matrices are made block by block. So the bits are the same
/// with any number of processes on devices of one kind, as long as `blocks.size` is a multiple of its panels
/// or there is one block. They are not those of one process, which adds in another order: these differ by
/// rounding.
template <class Real>
std::unique_ptr<Backend<Real>> make_cuda_backend(const Problem<Real>& problem, const CellBlocks& blocks);

/// The device of this process, or why there is none. This thread works on it from now on.
DeviceFacts cuda_facts();

namespace cuda {

/// This thread works on the device of its process: the processes of a machine take its devices in turn.
void use_device_of(const Processes& processes);

} // namespace cuda

/// Bytes that a run needs on the device.
double cuda_bytes(const DeviceNeed& need);

} // namespace pnmf
