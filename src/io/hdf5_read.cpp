#include "io/hdf5_guard.hpp"
#include "io/hdf5_native.hpp"
#include "linalg/large_pages.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace pnmf::hdf5 {

namespace {

/// gzip makes nothing smaller than 1/1032 of its size.
constexpr Index largest_compression = 1032;
/// Datasets that were announced and never written hold fill values and take no memory; small ones are
/// harmless.
constexpr Index harmless_bytes = Index{1} << 16;

/// Elements of a data space; −1 when there are more than memory could hold or HDF5 cannot tell.
Index count_elements(hid_t space) {
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0) {
        return -1;
    }
    std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
    if (rank > 0 && H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0) {
        return -1;
    }
    if (H5Sget_simple_extent_type(space) == H5S_NULL || std::count(sizes.begin(), sizes.end(), 0U) > 0) {
        return 0;
    }
    constexpr Index bytes_to_spare = sizeof(void*) == 8 ? 4096 : 4; // for each
    constexpr Index most = std::numeric_limits<std::ptrdiff_t>::max() / bytes_to_spare;
    Index count = 1;
    for (const hsize_t size : sizes) {
        if (size > static_cast<hsize_t>(most / count)) {
            return -1;
        }
        count *= static_cast<Index>(size);
    }
    return count;
}

Element element_of(hid_t type) {
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        return Element::integer;
    case H5T_FLOAT:
        return Element::real;
    case H5T_STRING:
        return Element::text;
    case H5T_ENUM:
        return H5Tget_nmembers(type) == 2 && H5Tget_size(type) == 1 ? Element::boolean : Element::other;
    default:
        return Element::other;
    }
}

std::string without_padding(const char* text, std::size_t length, H5T_str_t padding) {
    const char* end = text + length;
    if (padding == H5T_STR_SPACEPAD) {
        while (end != text && end[-1] == ' ') {
            --end;
        }
        return {text, end};
    }
    return {text, std::find(text, end, '\0')};
}

/// Reads `count` texts of the file `name`, which is open as `file`; empty when that fails.
std::optional<std::vector<std::string>> read_texts_by(hid_t file, const std::string& name, hid_t file_type,
                                                      Index count, const ReadAs& read) {
    if (count == 0) {
        return std::vector<std::string>();
    }
    if (H5Tis_variable_str(file_type) > 0) {
        return read_variable_texts(file, name, file_type, count, read);
    }
    const std::size_t length = H5Tget_size(file_type);
    const H5T_str_t padding = H5Tget_strpad(file_type);
    if (length > 0 && count > std::numeric_limits<std::ptrdiff_t>::max() / static_cast<Index>(length)) {
        return std::nullopt;
    }
    std::vector<char> bytes(static_cast<std::size_t>(count) * length);
    if (!read(file_type, bytes.data())) {
        return std::nullopt;
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        texts.push_back(without_padding(bytes.data() + i * length, length, padding));
    }
    return texts;
}

struct OpenAttribute {
    Handle handle;
    Handle type;
    Handle space;
    Index count = -1;
};

/// An attribute's parts; its count is −1 unless it has at most 64 KiB, the most an attribute can have that
/// stands in an object's header, where readers of .h5ad look for it.
OpenAttribute open_attribute(hid_t object, const std::string& name) {
    OpenAttribute result;
    result.handle = Handle(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
    if (!result.handle) {
        return result;
    }
    result.type = Handle(H5Aget_type(result.handle.get()), H5Tclose);
    result.space = Handle(H5Aget_space(result.handle.get()), H5Sclose);
    const Index count = count_elements(result.space.get());
    const auto bytes = static_cast<Index>(H5Tget_size(result.type.get()));
    if (bytes > 0 && count <= harmless_bytes * 64 / bytes) {
        result.count = count;
    }
    return result;
}

} // namespace

bool Object::has_attribute(const std::string& name) const {
    const Session session;
    errno = 0;
    return is_there(H5Aexists(handle_.get(), name.c_str()));
}

std::vector<std::string> Object::texts_attribute(const std::string& name) const {
    const Session session;
    const OpenAttribute attribute = open_attribute(handle_.get(), name);
    if (attribute.count == 0) {
        return {};
    }
    std::optional<std::vector<std::string>> texts;
    if (attribute.count > 0 && element_of(attribute.type.get()) == Element::text) {
        texts = read_texts_by(
            file_->handle.get(), file_->bytes_in(), attribute.type.get(), attribute.count,
            [&](hid_t type, void* out) { return H5Aread(attribute.handle.get(), type, out) >= 0; });
    }
    if (!texts) {
        reject(fmt::format("its attribute '{}' must be text", name));
    }
    return std::move(*texts);
}

std::optional<std::string> Object::text_attribute(const std::string& name) const {
    if (!has_attribute(name)) {
        return std::nullopt;
    }
    const auto texts = texts_attribute(name);
    if (texts.size() != 1) {
        reject(fmt::format("its attribute '{}' must be one text, got {}", name, texts.size()));
    }
    return texts.front();
}

std::optional<std::vector<std::int64_t>> Object::integers_attribute(const std::string& name) const {
    const Session session;
    if (!has_attribute(name)) {
        return std::nullopt;
    }
    const OpenAttribute attribute = open_attribute(handle_.get(), name);
    std::vector<std::int64_t> values(static_cast<std::size_t>(std::max<Index>(attribute.count, 0)));
    const Element element = attribute.count > 0 ? element_of(attribute.type.get()) : Element::other;
    if ((element != Element::integer && element != Element::boolean) ||
        H5Aread(attribute.handle.get(), H5T_NATIVE_INT64, values.data()) < 0) {
        reject(fmt::format("its attribute '{}' must hold integers", name));
    }
    return values;
}

Element Object::element() const {
    const Session session;
    const Handle type(H5Dget_type(handle_.get()), H5Tclose);
    return type ? element_of(type.get()) : Element::other;
}

Index Object::element_bytes() const {
    const Session session;
    const Handle type(H5Dget_type(handle_.get()), H5Tclose);
    return type ? static_cast<Index>(H5Tget_size(type.get())) : 0;
}

std::vector<Index> Object::shape() const {
    const Session session;
    const Handle space(H5Dget_space(handle_.get()), H5Sclose);
    if (!space || count_elements(space.get()) < 0) {
        reject("must be an array of a size that fits in memory");
    }
    std::vector<hsize_t> sizes(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
    H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
    return {sizes.begin(), sizes.end()};
}

Index Object::size() const {
    const Session session;
    const Handle space(H5Dget_space(handle_.get()), H5Sclose);
    const Index count = space ? count_elements(space.get()) : -1;
    if (count < 0) {
        reject("must be an array of a size that fits in memory");
    }
    return count;
}

void Object::check_fits_file() const {
    const Index count = size();
    const Index bytes = element_bytes();
    if (bytes <= 0) {
        reject("has elements of unknown size");
    }
    const Handle properties(H5Dget_create_plist(handle_.get()), H5Pclose);
    const bool chunked = H5Pget_layout(properties.get()) == H5D_CHUNKED;
    std::error_code error;
    const auto file_bytes = static_cast<Index>(std::filesystem::file_size(file_->bytes_in(), error));
    const auto stored = std::min(static_cast<Index>(H5Dget_storage_size(handle_.get())), file_bytes);
    if (count > harmless_bytes / bytes && count / (chunked ? largest_compression : 1) > stored / bytes) {
        reject(fmt::format("announces {} elements, more than the {} bytes stored for it can hold", count,
                           stored));
    }
}

bool Object::stored_as(hid_t native_type) const {
    const Handle type(H5Dget_type(handle_.get()), H5Tclose);
    return H5Tequal(type.get(), native_type) > 0;
}

template <class Stored, class Value>
void Object::read_converted(Value* out) const {
    const auto sizes = shape();
    const Index width = size() / sizes.at(0);
    const Handle properties(H5Dget_create_plist(handle_.get()), H5Pclose);
    std::vector<hsize_t> chunk(sizes.size(), 1);
    if (H5Pget_layout(properties.get()) == H5D_CHUNKED) {
        H5Pget_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data());
    }
    // Whole chunks only: part of one would be decompressed again for the next block.
    constexpr Index block_elements = Index{1} << 20;
    const auto step = static_cast<Index>(std::min<hsize_t>(chunk[0], static_cast<hsize_t>(sizes[0])));
    const Index block = step * std::max<Index>(block_elements / std::max<Index>(width * step, 1), 1);
    std::vector<Stored> buffer(static_cast<std::size_t>(std::min(block, sizes[0]) * width));
    for (Index first = 0; first < sizes[0]; first += block) {
        const Index count = std::min(block, sizes[0] - first);
        read_rows(first, count, buffer.data());
        parallel_blocks(count * width, Index{1} << 16, [&](Index begin, Index end) {
            std::copy(buffer.data() + begin, buffer.data() + end, out + first * width + begin);
        });
    }
}

template <class Stored, class Value>
bool Object::read_large_as(Value* out) const {
    if (!stored_as(native<Stored>())) {
        return false;
    }
    switch (read_past_hdf5<Stored>(handle_.get(), out)) {
    case StoredRead::done:
        return true;
    case StoredRead::damaged:
        reject("cannot be read: its compressed bytes are damaged");
    case StoredRead::not_possible:
        break;
    }
    if constexpr (std::is_same_v<Stored, Value>) {
        return false;
    } else { // HDF5 converts numbers one by one
        read_converted<Stored>(out);
        return true;
    }
}

template <class Value>
bool Object::read_large(Value* out) const {
    if constexpr (std::is_same_v<Value, double>) {
        return read_large_as<float>(out) || read_large_as<std::int32_t>(out) || read_large_as<double>(out);
    } else if constexpr (std::is_same_v<Value, std::int32_t>) {
        return read_large_as<std::int32_t>(out);
    } else {
        return false;
    }
}

template <class Value>
void Object::read_into(Value* out) const {
    const Session session;
    const Element found = element();
    if (found == Element::text || found == Element::other) {
        reject("must hold numbers");
    }
    check_fits_file();
    constexpr Index large = Index{1} << 16;
    if (size() > large && !shape().empty() && read_large(out)) {
        return;
    }
    if (size() > 0 && H5Dread(handle_.get(), native<Value>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) {
        reject("cannot be read: " + last_error());
    }
}

template <class Value>
std::vector<Value> Object::read() const {
    const Session session;
    check_fits_file();
    std::vector<Value> values;
    resize_on_large_pages(values, static_cast<std::size_t>(size()));
    read_into(values.data());
    return values;
}

template <class Value>
void Object::read_rows(Index first, Index count, Value* out) const {
    const Session session;
    const auto sizes = shape();
    const Element found = element();
    if (sizes.empty() || first < 0 || count < 0 || first > sizes[0] - count) {
        reject(fmt::format("has no elements {} to {} along its first axis", first + 1, first + count));
    }
    if (found == Element::text || found == Element::other) {
        reject("must hold numbers");
    }
    check_fits_file();
    const RowBlock block(handle_.get(), first, count);
    if (block.elements() > 0 &&
        H5Dread(handle_.get(), native<Value>(), block.memory(), block.file(), H5P_DEFAULT, out) < 0) {
        reject("cannot be read: " + last_error());
    }
}

std::vector<std::string> Object::read_texts() const {
    const Session session;
    if (element() != Element::text) {
        reject("must hold text");
    }
    check_fits_file();
    const Handle type(H5Dget_type(handle_.get()), H5Tclose);
    auto texts = read_texts_by(
        file_->handle.get(), file_->bytes_in(), type.get(), size(), [&](hid_t memory, void* out) {
            return H5Dread(handle_.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0;
        });
    if (!texts) {
        reject("cannot be read: its text is damaged");
    }
    return std::move(*texts);
}

std::string Object::read_text() const {
    const auto texts = read_texts();
    if (texts.size() != 1) {
        reject(fmt::format("must be one text, got {}", texts.size()));
    }
    return texts.front();
}

#define PNMF_INSTANTIATE(Value)                                                                              \
    template void Object::read_into(Value*) const;                                                           \
    template std::vector<Value> Object::read() const;                                                        \
    template void Object::read_rows(Index, Index, Value*) const;
PNMF_INSTANTIATE(double)
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(std::int64_t)
PNMF_INSTANTIATE(std::int32_t)
PNMF_INSTANTIATE(std::int8_t)
#undef PNMF_INSTANTIATE

} // namespace pnmf::hdf5
