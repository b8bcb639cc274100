#pragma once

#include <cstdint>
#include <string>

namespace pnmf::hdf5 {

/// False when a type described in the header of the object at `address` cannot be what it says: HDF5 1.10
/// copies the names and values of an enumeration, and the bits of a number, by the counts it finds,
/// unchecked, and crashes when one of them is wrong (docs/decisions/0081-damaged-enumerations.md). To be
/// asked before HDF5 opens the object.
///
/// `base` is the place in the file of HDF5's address 0. Looks at the types of datasets and of attributes in
/// headers of version 1; those of version 2 have a checksum, and HDF5 checks that first. A header that makes
/// no sense is left to HDF5, which rejects it.
bool types_are_sound(const std::string& file, std::uint64_t base, std::uint64_t address);

} // namespace pnmf::hdf5
