#pragma once

#include "io/hdf5_handle.hpp"

#include <functional>

namespace pnmf::hdf5 {

/// Reads elements into memory as the given type; false when HDF5 fails.
using ReadAs = std::function<bool(hid_t memory_type, void* out)>;

/// Texts of variable length, `count` of them, from the file `name` that is open as `file`.
///
/// Such texts stand in heaps somewhere in the file, and each element says where. HDF5 1.10 follows these
/// words unchecked and crashes when a byte of them is wrong, so we have it give us the words and look into
/// the heaps ourselves. Empty when the file is damaged.
std::optional<std::vector<std::string>> read_variable_texts(hid_t file, const std::string& name,
                                                            hid_t file_type, Index count, const ReadAs& read);

} // namespace pnmf::hdf5
