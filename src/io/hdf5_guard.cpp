#include "io/hdf5_guard.hpp"

#include "io/hdf5_native.hpp"
#include "io/hdf5_stored.hpp"

#include <array>

namespace pnmf::hdf5 {
namespace {

constexpr Index largest_chunk = Index{1} << 26; // bytes, decompressed

/// Where a dataset begins that lies in its own file in one piece; −1 for every other one.
Index place_of_all(hid_t dataset) {
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    if (H5Pget_layout(properties.get()) != H5D_CONTIGUOUS || H5Pget_external_count(properties.get()) != 0) {
        return -1;
    }
    const haddr_t begins = H5Dget_offset(dataset);
    return begins == HADDR_UNDEF ? -1 : static_cast<Index>(begins); // undefined: never written
}

/// False unless the dataset is stored in chunks, as they are or by gzip after nothing but a shuffle.
bool find_layout(hid_t dataset, StoredChunks& layout) {
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

/// Whether the chunks are small enough to hold some of them, and how their bytes are come by.
bool plan_chunks(const StoredFile& file, Index element_bytes, StoredChunks& layout) {
    if (layout.chunk[0] > largest_chunk || layout.chunk[1] > largest_chunk ||
        layout.chunk_elements() * element_bytes > largest_chunk) {
        return false;
    }
    // To find a place HDF5 goes through all chunks; to read one, through a tree of them.
    constexpr Index few = 1024;
    layout.by_place =
        !layout.compressed && layout.chunks() <= few && file.is_readable() && file.is_from_the_beginning();
    return true;
}

} // namespace

template <class Stored, class Value>
StoredRead read_past_hdf5(hid_t dataset, Value* out) {
    const StoredFile file(dataset);
    if (const Index begins = place_of_all(dataset); begins >= 0 && file.is_readable()) {
        const Handle space(H5Dget_space(dataset), H5Sclose);
        return read_contiguous<Stored>(file, begins,
                                       static_cast<Index>(H5Sget_simple_extent_npoints(space.get())), out);
    }
    StoredChunks layout;
    if (find_layout(dataset, layout) && plan_chunks(file, static_cast<Index>(sizeof(Stored)), layout)) {
        return read_chunks<Stored>(dataset, layout, file, out);
    }
    return StoredRead::not_possible;
}

template StoredRead read_past_hdf5<float>(hid_t, double*);
template StoredRead read_past_hdf5<double>(hid_t, double*);
template StoredRead read_past_hdf5<std::int32_t>(hid_t, double*);
template StoredRead read_past_hdf5<std::int32_t>(hid_t, std::int32_t*);

} // namespace pnmf::hdf5
