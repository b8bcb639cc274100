#pragma once

#include "solvers/device.hpp"

#include <memory>

namespace pnmf {

/// Products with X on a CUDA device. X is copied to it.
template <class Real>
std::unique_ptr<DataProducts> make_cuda_products(const DataMatrix<Real>& X);

/// Bytes that it needs on the device; of `need` the data, and `rank` columns at a time.
double cuda_products_bytes(const DeviceNeed& need);

} // namespace pnmf
