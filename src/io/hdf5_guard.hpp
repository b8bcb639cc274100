#pragma once

#include "io/hdf5_handle.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// The one door to code of our own that reads HDF5's bytes. HDF5 itself reads everything but three things:
///
/// - Large arrays that are stored plainly: HDF5 reads and decompresses on one thread, we on all. Dense gzip
///   from 349 to 188 ms, CSR gzip from 82 to 48 (docs/decisions/0010-text-readers.md; against
///   AnnData: benchmarks/results/bench.md).
/// - Texts of variable length: HDF5 1.10 crashed on 19 of 1,500 damaged files, our own reader on none of
///   2,400 (docs/decisions/0140-hdf5-in-a-child.md).
/// - Types, looked at before HDF5 decodes them: 43 crashes of 711 damaged files, none since
///   (the same page).
///
/// What may be read past HDF5 is decided in hdf5_guard.cpp and nowhere else.
namespace pnmf::hdf5 {

enum class StoredRead {
    done,
    not_possible, ///< stored in another way: HDF5 itself reads it; `out` may have been written to
    damaged,
};

/// Reads a large array of elements `Stored` past HDF5, on all threads, when they lie in an ordinary file in
/// one piece or in chunks, plain or compressed by gzip. Instantiated for float, double and int32 to double,
/// and int32 to int32.
template <class Stored, class Value>
StoredRead read_past_hdf5(hid_t dataset, Value* out);

/// Reads elements into memory as the given type; false when HDF5 fails.
using ReadAs = std::function<bool(hid_t memory_type, void* out)>;

/// Texts of variable length, `count` of them, from the file `name` that is open as `file`.
///
/// Such texts stand in heaps somewhere in the file, and each element says where. HDF5 1.10 follows these
/// words unchecked and crashes when a byte of them is wrong, so we have it give us the words and look into
/// the heaps ourselves (hdf5_text.cpp). Empty when the file is damaged.
std::optional<std::vector<std::string>> read_variable_texts(hid_t file, const std::string& name,
                                                            hid_t file_type, Index count, const ReadAs& read);

/// False when a type described in the header of the object at `address` cannot be what it says: HDF5 1.10
/// copies the names and values of an enumeration, and the bits of a number, by the counts it finds,
/// unchecked, and crashes when one of them is wrong (hdf5_datatype.cpp). To be asked before HDF5 opens the
/// object.
///
/// `base` is the place in the file of HDF5's address 0. Looks at the types of datasets and of attributes in
/// headers of version 1; those of version 2 have a checksum, and HDF5 checks that first. A header that makes
/// no sense is left to HDF5, which rejects it.
bool types_are_sound(const std::string& file, std::uint64_t base, std::uint64_t address);

} // namespace pnmf::hdf5
