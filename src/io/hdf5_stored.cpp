#include "io/hdf5_stored.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <type_traits>
#include <unistd.h>
#include <zlib.h>

namespace pnmf::hdf5 {

StoredFile::StoredFile(hid_t dataset) {
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

bool StoredFile::read(Index place, void* out, std::size_t bytes) const {
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

namespace {

constexpr hsize_t largest_stored = hsize_t{1} << 27; // bytes of a chunk; compressed it may be a little larger
constexpr Index batch_bytes = Index{1} << 26;        // decompressed at once

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
bool read_stored(hid_t dataset, const StoredChunks& layout, Index plain_bytes, Chunk& chunk) {
    const auto offset = chunk.offset();
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(dataset, offset.data(), &bytes) < 0 || bytes == 0 ||
        bytes > largest_stored || (!layout.compressed && static_cast<Index>(bytes) != plain_bytes)) {
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
bool fill(const Chunk& chunk, const StoredChunks& layout, const StoredFile& file, std::vector<Bytef>& bytes) {
    if (chunk.place >= 0) {
        return file.read(chunk.place, bytes.data(), bytes.size());
    }
    if (!layout.compressed) {
        std::copy(chunk.stored.begin(), chunk.stored.end(), bytes.begin());
        return true;
    }
    uLongf size = bytes.size();
    const int status = uncompress(bytes.data(), &size, chunk.stored.data(), chunk.stored.size());
    if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
    }
    return status == Z_OK && size == bytes.size();
}

/// Reads or decompresses a chunk and writes the part of it that lies inside the dataset; false when it is
/// damaged.
template <class Stored, class Value>
bool write_out(const Chunk& chunk, const StoredChunks& layout, const StoredFile& file, Value* out) {
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
StoredRead read_chunks(hid_t dataset, const StoredChunks& layout, const StoredFile& file, Value* out) {
    const Index bytes = layout.chunk_elements() * static_cast<Index>(sizeof(Stored));
    const Index chunks = layout.chunks();
    const Index batch = std::max<Index>(1, batch_bytes / bytes);
    for (Index first = 0; first < chunks; first += batch) {
        std::vector<Chunk> some(static_cast<std::size_t>(std::min(batch, chunks - first)));
        for (std::size_t k = 0; k < some.size(); ++k) {
            const Index number = first + static_cast<Index>(k);
            some[k].origin = {number / layout.across() * layout.chunk[0],
                              number % layout.across() * layout.chunk[1]};
            if (!(layout.by_place ? find_place(dataset, bytes, some[k])
                                  : read_stored(dataset, layout, bytes, some[k]))) {
                return StoredRead::not_possible;
            }
        }
        std::vector<char> whole(some.size(), 0);
        parallel_for(static_cast<Index>(some.size()),
                     [&](Index k) { whole[k] = write_out<Stored>(some[k], layout, file, out) ? 1 : 0; });
        if (std::count(whole.begin(), whole.end(), 0) > 0) {
            return layout.compressed ? StoredRead::damaged : StoredRead::not_possible;
        }
    }
    return StoredRead::done;
}

template <class Stored, class Value>
StoredRead read_contiguous(const StoredFile& file, Index begins, Index count, Value* out) {
    constexpr Index block = Index{1} << 18;
    std::atomic<bool> whole = true;
    parallel_blocks(count, block, [&](Index first, Index last) {
        std::vector<Stored> values(static_cast<std::size_t>(last - first));
        const Index place = begins + first * static_cast<Index>(sizeof(Stored));
        if (file.read(place, values.data(), values.size() * sizeof(Stored))) {
            std::copy(values.begin(), values.end(), out + first);
        } else {
            whole = false;
        }
    });
    return whole ? StoredRead::done : StoredRead::not_possible; // then HDF5 says what is wrong
}

template StoredRead read_contiguous<float>(const StoredFile&, Index, Index, double*);
template StoredRead read_contiguous<double>(const StoredFile&, Index, Index, double*);
template StoredRead read_contiguous<std::int32_t>(const StoredFile&, Index, Index, double*);
template StoredRead read_contiguous<std::int32_t>(const StoredFile&, Index, Index, std::int32_t*);
template StoredRead read_chunks<float>(hid_t, const StoredChunks&, const StoredFile&, double*);
template StoredRead read_chunks<double>(hid_t, const StoredChunks&, const StoredFile&, double*);
template StoredRead read_chunks<std::int32_t>(hid_t, const StoredChunks&, const StoredFile&, double*);
template StoredRead read_chunks<std::int32_t>(hid_t, const StoredChunks&, const StoredFile&, std::int32_t*);

} // namespace pnmf::hdf5
