#pragma once

#include <cstddef>

namespace pnmf {

/// From so many bytes on an array is large (linalg/arrays_on_disk.hpp): malloc gives it pages of its own,
/// which free gives back to the system. A test that sets it must set M_MMAP_THRESHOLD too (mallopt(3)).
std::size_t& large_array_bytes();

} // namespace pnmf
