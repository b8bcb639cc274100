#pragma once

#include "solvers/backend.hpp"
#include "solvers/device.hpp"

#include <pnmf/communicator.hpp>

#include <memory>

namespace pnmf {

/// Sweeps on a CUDA device: data, graphs and factors are copied to it at `load`, and the factors come back at
/// `store`. The same bits from run to run on one device: no sum depends on the order in which threads run.
/// SystemError where the device fails or its memory does not suffice.
template <class Real>
std::unique_ptr<Backend<Real>> make_cuda_backend(const Problem<Real>& problem);

/// The device of this rank, or why there is none. This thread works on it from now on.
DeviceFacts cuda_facts();

namespace cuda {

/// This thread works on the device of its rank: the ranks of a machine take its devices in turn.
void use_device_of(const Communicator& ranks);

} // namespace cuda

/// Bytes that a run needs on the device.
double cuda_bytes(const DeviceNeed& need);

} // namespace pnmf
