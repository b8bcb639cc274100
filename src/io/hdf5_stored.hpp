#pragma once

#include <hdf5.h>

#include <string>

namespace pnmf::hdf5 {

/// Reading bytes as they are stored, past HDF5, which does everything on one thread.
enum class StoredRead {
    done,
    not_possible, ///< stored in another way: HDF5 itself reads it; `out` may have been written to
    damaged,
};

/// Reads a dataset of gzip-compressed chunks, with one axis or two, with or without shuffled bytes. HDF5
/// decompresses chunk after chunk on one thread; here the bytes are read as they are stored and all threads
/// decompress. The elements of the file must be `Stored`; they are converted.
template <class Stored, class Value>
StoredRead read_compressed_chunks(hid_t dataset, Value* out);

/// Reads a dataset that lies in the file `name` in one piece, on all threads. The file must be open to be
/// read only: what was written to it may not be in it yet. The elements must be `Stored`.
template <class Stored, class Value>
StoredRead read_contiguous(hid_t dataset, const std::string& name, Value* out);

} // namespace pnmf::hdf5
