#include "io/hdf5_stored.hpp"
#include "io/hdf5_native.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <type_traits>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace pnmf::hdf5 {
namespace {

constexpr Index largest_chunk = Index{1} << 26; // bytes, decompressed
constexpr Index batch_bytes = Index{1} << 26;   // decompressed at once

/// The file a dataset is in, by HDF5's own descriptor: to read at any place, from any thread, as long as the
/// dataset is open. The name of a file might be another's by now, or a link might have led elsewhere.
class Source {
  public:
    /// Not readable when the file is open to be written to, as what was written may not be in it yet.
    explicit Source(hid_t dataset) {
        const Handle file(H5Iget_file_id(dataset), H5Fclose);
        const Handle access(H5Fget_access_plist(file.get()), H5Pclose);
        unsigned intent = H5F_ACC_RDWR;
        void* descriptor = nullptr;
        if (H5Fget_intent(file.get(), &intent) >= 0 && (intent & H5F_ACC_RDWR) == 0 &&
            H5Pget_driver(access.get()) == H5FD_SEC2 &&
            H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &descriptor) >= 0 && descriptor != nullptr) {
            number_ = *static_cast<const int*>(descriptor);
        }
        const Handle properties(H5Fget_create_plist(file.get()), H5Pclose);
        hsize_t before = 1;
        from_the_beginning_ = H5Pget_userblock(properties.get(), &before) >= 0 && before == 0;
    }

    bool is_readable() const { return number_ >= 0; }
    /// Whether HDF5's part of the file begins where the file does.
    bool is_from_the_beginning() const { return from_the_beginning_; }

    /// False when the file ends before, or cannot be read.
    bool read(Index place, void* out, std::size_t bytes) const {
        auto* to = static_cast<char*>(out);
        while (bytes > 0) {
            const ssize_t got = pread(number_, to, bytes, place);
            if (got <= 0) {
                if (got < 0 && errno == EINTR) {
                    continue;
                }
                return false;
            }
            to += got;
            place += got;
            bytes -= static_cast<std::size_t>(got);
        }
        return true;
    }

  private:
    int number_ = -1;
    bool from_the_beginning_ = false;
};

/// A dataset of one axis counts as one of a single column.
struct Layout {
    int axes = 0;
    std::array<Index, 2> shape{1, 1};
    std::array<Index, 2> chunk{1, 1};
    bool compressed = false;
    bool shuffled = false;

    Index chunk_elements() const { return chunk[0] * chunk[1]; }
    Index across() const { return (shape[1] + chunk[1] - 1) / chunk[1]; }
    Index chunks() const { return across() * ((shape[0] + chunk[0] - 1) / chunk[0]); }
};

/// False unless the dataset is stored in chunks, as they are or by gzip after nothing but a shuffle.
bool find_layout(hid_t dataset, Layout& layout) {
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    const Handle space(H5Dget_space(dataset), H5Sclose);
    layout.axes = H5Sget_simple_extent_ndims(space.get());
    if (H5Pget_layout(properties.get()) != H5D_CHUNKED || layout.axes < 1 || layout.axes > 2) {
        return false;
    }
    std::array<hsize_t, 2> shape{1, 1};
    std::array<hsize_t, 2> chunk{1, 1};
    if (H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr) < 0 ||
        H5Pget_chunk(properties.get(), layout.axes, chunk.data()) < 0) {
        return false;
    }
    for (std::size_t axis = 0; axis < 2; ++axis) {
        layout.shape[axis] = static_cast<Index>(shape[axis]);
        layout.chunk[axis] = static_cast<Index>(chunk[axis]);
    }
    std::vector<H5Z_filter_t> filters;
    for (int i = 0; i < H5Pget_nfilters(properties.get()); ++i) {
        unsigned flags = 0;
        std::size_t values = 0;
        filters.push_back(H5Pget_filter2(properties.get(), static_cast<unsigned>(i), &flags, &values, nullptr,
                                         0, nullptr, nullptr));
    }
    layout.shuffled = filters == std::vector<H5Z_filter_t>{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
    layout.compressed = layout.shuffled || filters == std::vector<H5Z_filter_t>{H5Z_FILTER_DEFLATE};
    return layout.compressed || filters.empty();
}

/// A chunk, and where it begins in the dataset.
struct Chunk {
    std::array<Index, 2> origin{0, 0};
    std::vector<Bytef> stored; ///< or
    Index place = -1;          ///< in the file, of its bytes as they are

    std::array<hsize_t, 2> offset() const {
        return {static_cast<hsize_t>(origin[0]), static_cast<hsize_t>(origin[1])};
    }
};

/// False when the chunk was never written.
bool find_place(hid_t dataset, Index expected_bytes, Chunk& chunk) {
    std::uint32_t skipped = 0;
    haddr_t place = HADDR_UNDEF;
    hsize_t bytes = 0;
    const auto offset = chunk.offset();
    if (H5Dget_chunk_info_by_coord(dataset, offset.data(), &skipped, &place, &bytes) < 0 ||
        place == HADDR_UNDEF || static_cast<Index>(bytes) != expected_bytes) {
        return false;
    }
    chunk.place = static_cast<Index>(place);
    return true;
}

/// False when the chunk was never written, or not stored like the others.
bool read_stored(hid_t dataset, const Layout& layout, Index plain_bytes, Chunk& chunk) {
    const auto offset = chunk.offset();
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(dataset, offset.data(), &bytes) < 0 || bytes == 0 ||
        bytes > 2 * largest_chunk || (!layout.compressed && static_cast<Index>(bytes) != plain_bytes)) {
        return false;
    }
    chunk.stored.resize(bytes);
    std::uint32_t skipped = 0; // filters that were not applied
    return H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &skipped, chunk.stored.data()) >= 0 &&
           skipped == 0;
}

/// First bytes of all elements, then second bytes, …: back to element after element.
void unshuffle(const std::vector<Bytef>& shuffled, std::size_t width, std::vector<Bytef>& plain) {
    const std::size_t count = shuffled.size() / width;
    plain.resize(shuffled.size());
    for (std::size_t byte = 0; byte < width; ++byte) {
        const Bytef* from = shuffled.data() + byte * count;
        for (std::size_t i = 0; i < count; ++i) {
            plain[i * width + byte] = from[i];
        }
    }
}

/// False when the bytes are damaged or missing.
bool fill(const Chunk& chunk, const Layout& layout, const Source& file, std::vector<Bytef>& bytes) {
    if (chunk.place >= 0) {
        return file.read(chunk.place, bytes.data(), bytes.size());
    }
    if (!layout.compressed) {
        std::ranges::copy(chunk.stored, bytes.begin());
        return true;
    }
    uLongf size = bytes.size();
    return uncompress(bytes.data(), &size, chunk.stored.data(), chunk.stored.size()) == Z_OK &&
           size == bytes.size();
}

/// Reads or decompresses a chunk and writes the part of it that lies inside the dataset; false when it is
/// damaged.
template <class Stored, class Value>
bool write_out(const Chunk& chunk, const Layout& layout, const Source& file, Value* out) {
    if constexpr (std::is_same_v<Stored, Value>) {
        if (chunk.place >= 0 && layout.axes == 1) {
            const Index count = std::min(layout.chunk[0], layout.shape[0] - chunk.origin[0]);
            return file.read(chunk.place, out + chunk.origin[0],
                             static_cast<std::size_t>(count) * sizeof(Stored));
        }
    }
    std::vector<Bytef> bytes(static_cast<std::size_t>(layout.chunk_elements()) * sizeof(Stored));
    if (!fill(chunk, layout, file, bytes)) {
        return false;
    }
    if (layout.shuffled) {
        std::vector<Bytef> plain;
        unshuffle(bytes, sizeof(Stored), plain);
        bytes.swap(plain);
    }
    const auto* values = reinterpret_cast<const Stored*>(bytes.data()); // NOLINT: memory from new is aligned
    const Index rows = std::min(layout.chunk[0], layout.shape[0] - chunk.origin[0]);
    const Index cols = std::min(layout.chunk[1], layout.shape[1] - chunk.origin[1]);
    for (Index i = 0; i < rows; ++i) {
        const Stored* from = values + i * layout.chunk[1];
        std::copy(from, from + cols, out + (chunk.origin[0] + i) * layout.shape[1] + chunk.origin[1]);
    }
    return true;
}

} // namespace

template <class Stored, class Value>
StoredRead read_chunks(hid_t dataset, Value* out) {
    Layout layout;
    if (!find_layout(dataset, layout)) {
        return StoredRead::not_possible;
    }
    const Index bytes = layout.chunk_elements() * static_cast<Index>(sizeof(Stored));
    if (layout.chunk[0] > largest_chunk || layout.chunk[1] > largest_chunk || bytes > largest_chunk) {
        return StoredRead::not_possible;
    }
    const Source file(dataset);
    // To find a place HDF5 goes through all chunks; to read one, through a tree of them.
    constexpr Index few = 1024;
    const bool places =
        !layout.compressed && layout.chunks() <= few && file.is_readable() && file.is_from_the_beginning();
    const Index chunks = layout.chunks();
    const Index batch = std::max<Index>(1, batch_bytes / bytes);
    for (Index first = 0; first < chunks; first += batch) {
        std::vector<Chunk> some(static_cast<std::size_t>(std::min(batch, chunks - first)));
        for (std::size_t k = 0; k < some.size(); ++k) {
            const Index number = first + static_cast<Index>(k);
            some[k].origin = {number / layout.across() * layout.chunk[0],
                              number % layout.across() * layout.chunk[1]};
            if (!(places ? find_place(dataset, bytes, some[k])
                         : read_stored(dataset, layout, bytes, some[k]))) {
                return StoredRead::not_possible;
            }
        }
        std::vector<char> whole(some.size(), 0);
        parallel_for(static_cast<Index>(some.size()),
                     [&](Index k) { whole[k] = write_out<Stored>(some[k], layout, file, out) ? 1 : 0; });
        if (std::ranges::count(whole, 0) > 0) {
            return layout.compressed ? StoredRead::damaged : StoredRead::not_possible;
        }
    }
    return StoredRead::done;
}

template <class Stored, class Value>
StoredRead read_contiguous(hid_t dataset, Value* out) {
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    const Handle space(H5Dget_space(dataset), H5Sclose);
    if (H5Pget_layout(properties.get()) != H5D_CONTIGUOUS || H5Pget_external_count(properties.get()) != 0) {
        return StoredRead::not_possible;
    }
    const haddr_t begins = H5Dget_offset(dataset);
    const auto count = static_cast<Index>(H5Sget_simple_extent_npoints(space.get()));
    const Source file(dataset);
    if (begins == HADDR_UNDEF || !file.is_readable()) {
        return StoredRead::not_possible; // never written, or not an ordinary file
    }
    constexpr Index block = Index{1} << 18;
    std::atomic<bool> whole = true;
    parallel_blocks(count, block, [&](Index first, Index last) {
        std::vector<Stored> values(static_cast<std::size_t>(last - first));
        const Index place = static_cast<Index>(begins) + first * static_cast<Index>(sizeof(Stored));
        if (file.read(place, values.data(), values.size() * sizeof(Stored))) {
            std::copy(values.begin(), values.end(), out + first);
        } else {
            whole = false;
        }
    });
    return whole ? StoredRead::done : StoredRead::not_possible; // then HDF5 says what is wrong
}

template StoredRead read_contiguous<float>(hid_t, double*);
template StoredRead read_contiguous<double>(hid_t, double*);
template StoredRead read_contiguous<std::int32_t>(hid_t, double*);
template StoredRead read_contiguous<std::int32_t>(hid_t, std::int32_t*);
template StoredRead read_chunks<float>(hid_t, double*);
template StoredRead read_chunks<double>(hid_t, double*);
template StoredRead read_chunks<std::int32_t>(hid_t, double*);
template StoredRead read_chunks<std::int32_t>(hid_t, std::int32_t*);

} // namespace pnmf::hdf5
