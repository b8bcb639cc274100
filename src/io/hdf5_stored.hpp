#pragma once

#include "io/hdf5_guard.hpp"

#include <array>

/// How the guard reads bytes as they are stored; for hdf5_guard.cpp alone, which decides whether.
namespace pnmf::hdf5 {

/// The file a dataset is in, by HDF5's own descriptor: to read at any place, from any thread, as long as the
/// dataset is open. The name of a file might be another's by now, or a link might have led elsewhere.
class StoredFile {
  public:
    /// Not readable when the file is open to be written to, as what was written may not be in it yet.
    explicit StoredFile(hid_t dataset);

    bool is_readable() const { return number_ >= 0; }
    /// Whether HDF5's part of the file begins where the file does.
    bool is_from_the_beginning() const { return from_the_beginning_; }

    /// False when the file ends before, or cannot be read.
    bool read(Index place, void* out, std::size_t bytes) const;

  private:
    int number_ = -1;
    bool from_the_beginning_ = false;
};

/// A dataset in chunks. One of one axis counts as one of a single column.
struct StoredChunks {
    int axes = 0;
    std::array<Index, 2> shape{1, 1};
    std::array<Index, 2> chunk{1, 1};
    bool compressed = false;
    bool shuffled = false;
    bool by_place = false; ///< read from their places in the file; else HDF5 hands over their bytes

    Index chunk_elements() const { return chunk[0] * chunk[1]; }
    Index across() const { return (shape[1] + chunk[1] - 1) / chunk[1]; }
    Index chunks() const { return across() * ((shape[0] + chunk[0] - 1) / chunk[0]); }
};

/// Reads and decompresses chunks on all threads and converts their elements.
template <class Stored, class Value>
StoredRead read_chunks(hid_t dataset, const StoredChunks& layout, const StoredFile& file, Value* out);

/// Reads `count` elements that lie in one piece from `begins` on, on all threads, and converts them.
template <class Stored, class Value>
StoredRead read_contiguous(const StoredFile& file, Index begins, Index count, Value* out);

} // namespace pnmf::hdf5
