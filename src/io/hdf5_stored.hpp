#pragma once

#include <hdf5.h>

namespace pnmf::hdf5 {

/// Reading bytes as they are stored, past HDF5, which does everything on one thread.
enum class StoredRead {
    done,
    not_possible, ///< stored in another way: HDF5 itself reads it; `out` may have been written to
    damaged,
};

/// Reads a dataset of chunks, plain or gzip-compressed, with one axis or two, with or without shuffled bytes.
/// HDF5 reads and decompresses chunk after chunk on one thread; here all threads do. The elements of the file
/// must be `Stored`; they are converted.
template <class Stored, class Value>
StoredRead read_chunks(hid_t dataset, Value* out);

/// Reads a dataset that lies in its file in one piece, on all threads. The elements must be `Stored`.
template <class Stored, class Value>
StoredRead read_contiguous(hid_t dataset, Value* out);

} // namespace pnmf::hdf5
