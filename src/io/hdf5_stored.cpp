#include "io/hdf5_stored.hpp"
#include "io/hdf5_native.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace pnmf::hdf5 {
namespace {

constexpr Index largest_chunk = Index{1} << 26; // bytes, decompressed
constexpr Index batch_bytes = Index{1} << 26;   // decompressed at once

/// A dataset of one axis counts as one of a single column.
struct Layout {
    int axes = 0;
    std::array<Index, 2> shape{1, 1};
    std::array<Index, 2> chunk{1, 1};
    bool shuffled = false;

    Index chunk_elements() const { return chunk[0] * chunk[1]; }
};

/// False unless the dataset is stored in chunks by gzip, after nothing but a shuffle.
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
    return layout.shuffled || filters == std::vector<H5Z_filter_t>{H5Z_FILTER_DEFLATE};
}

/// A chunk as it is stored, and where it begins in the dataset.
struct Chunk {
    std::array<Index, 2> origin{0, 0};
    std::vector<Bytef> stored;
};

/// False when the chunk was never written, or not compressed like the others.
bool read_stored(hid_t dataset, Chunk& chunk) {
    const std::array<hsize_t, 2> origin{static_cast<hsize_t>(chunk.origin[0]),
                                        static_cast<hsize_t>(chunk.origin[1])};
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(dataset, origin.data(), &bytes) < 0 || bytes == 0 ||
        bytes > 2 * largest_chunk) {
        return false;
    }
    chunk.stored.resize(bytes);
    std::uint32_t skipped = 0; // filters that were not applied
    return H5Dread_chunk(dataset, H5P_DEFAULT, origin.data(), &skipped, chunk.stored.data()) >= 0 &&
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

/// Decompresses a chunk and writes the part of it that lies inside the dataset; false when it is damaged.
template <class Stored, class Value>
bool write_out(const Chunk& chunk, const Layout& layout, Value* out) {
    std::vector<Bytef> bytes(static_cast<std::size_t>(layout.chunk_elements()) * sizeof(Stored));
    uLongf size = bytes.size();
    if (uncompress(bytes.data(), &size, chunk.stored.data(), chunk.stored.size()) != Z_OK ||
        size != bytes.size()) {
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

/// A file to read at any place, from any thread.
class Descriptor {
  public:
    explicit Descriptor(const std::string& name) : number_(open(name.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~Descriptor() {
        if (is_open()) {
            close(number_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    bool is_open() const { return number_ >= 0; }

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
    int number_;
};

} // namespace

template <class Stored, class Value>
StoredRead read_compressed_chunks(hid_t dataset, Value* out) {
    Layout layout;
    if (!find_layout(dataset, layout)) {
        return StoredRead::not_possible;
    }
    const Index bytes = layout.chunk_elements() * static_cast<Index>(sizeof(Stored));
    if (layout.chunk[0] > largest_chunk || layout.chunk[1] > largest_chunk || bytes > largest_chunk) {
        return StoredRead::not_possible;
    }
    const Index across = (layout.shape[1] + layout.chunk[1] - 1) / layout.chunk[1];
    const Index chunks = across * ((layout.shape[0] + layout.chunk[0] - 1) / layout.chunk[0]);
    const Index batch = std::max<Index>(1, batch_bytes / bytes);
    for (Index first = 0; first < chunks; first += batch) {
        std::vector<Chunk> some(static_cast<std::size_t>(std::min(batch, chunks - first)));
        for (std::size_t k = 0; k < some.size(); ++k) {
            const Index number = first + static_cast<Index>(k);
            some[k].origin = {number / across * layout.chunk[0], number % across * layout.chunk[1]};
            if (!read_stored(dataset, some[k])) {
                return StoredRead::not_possible;
            }
        }
        std::vector<char> whole(some.size(), 0);
        parallel_for(static_cast<Index>(some.size()),
                     [&](Index k) { whole[k] = write_out<Stored>(some[k], layout, out) ? 1 : 0; });
        if (std::ranges::count(whole, 0) > 0) {
            return StoredRead::damaged;
        }
    }
    return StoredRead::done;
}

template <class Stored, class Value>
StoredRead read_contiguous(hid_t dataset, const std::string& name, Value* out) {
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    const Handle space(H5Dget_space(dataset), H5Sclose);
    const Handle file(H5Iget_file_id(dataset), H5Fclose);
    unsigned intent = H5F_ACC_RDWR;
    if (H5Pget_layout(properties.get()) != H5D_CONTIGUOUS || H5Pget_external_count(properties.get()) != 0 ||
        H5Fget_intent(file.get(), &intent) < 0 || (intent & H5F_ACC_RDWR) != 0) {
        return StoredRead::not_possible;
    }
    const haddr_t begins = H5Dget_offset(dataset);
    const auto count = static_cast<Index>(H5Sget_simple_extent_npoints(space.get()));
    const Descriptor descriptor(name);
    if (begins == HADDR_UNDEF || !descriptor.is_open()) {
        return StoredRead::not_possible; // never written, or not a file of this name any more
    }
    constexpr Index block = Index{1} << 18;
    std::atomic<bool> whole = true;
    parallel_blocks(count, block, [&](Index first, Index last) {
        std::vector<Stored> values(static_cast<std::size_t>(last - first));
        const Index place = static_cast<Index>(begins) + first * static_cast<Index>(sizeof(Stored));
        if (descriptor.read(place, values.data(), values.size() * sizeof(Stored))) {
            std::copy(values.begin(), values.end(), out + first);
        } else {
            whole = false;
        }
    });
    return whole ? StoredRead::done : StoredRead::not_possible; // then HDF5 says what is wrong
}

template StoredRead read_contiguous<float>(hid_t, const std::string&, double*);
template StoredRead read_contiguous<double>(hid_t, const std::string&, double*);
template StoredRead read_contiguous<std::int32_t>(hid_t, const std::string&, double*);
template StoredRead read_contiguous<std::int32_t>(hid_t, const std::string&, std::int32_t*);
template StoredRead read_compressed_chunks<float>(hid_t, double*);
template StoredRead read_compressed_chunks<double>(hid_t, double*);
template StoredRead read_compressed_chunks<std::int32_t>(hid_t, double*);
template StoredRead read_compressed_chunks<std::int32_t>(hid_t, std::int32_t*);

} // namespace pnmf::hdf5
