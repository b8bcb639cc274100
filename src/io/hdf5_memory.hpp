#pragma once

namespace pnmf::hdf5 {

/// Whether an allocation has failed while HDF5 was used, now (by errno) or earlier in this process. HDF5 may
/// have gone on without what it needed, and fail at another place later.
bool allocation_failed();

} // namespace pnmf::hdf5
