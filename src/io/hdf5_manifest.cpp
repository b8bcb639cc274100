#include "io/hdf5_manifest.hpp"

#include "files/checksum.hpp"
#include "io/hdf5_native.hpp"

#include <algorithm>

namespace pnmf::hdf5 {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 26; // checksums of smaller ones have one thread

#if H5_VERSION_GE(1, 12, 0)
using VisitedInfo = H5O_info1_t;
#else
using VisitedInfo = H5O_info_t;
#endif

herr_t add_visited(hid_t, const char* name, const VisitedInfo*, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
}

herr_t add_attribute_name(hid_t, const char* name, const H5A_info_t*, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
}

/// The type to read numbers as: the same for what was written and for what is read back. No handle for what
/// is not a number.
Handle type_in_memory(hid_t type) {
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT:
        return {H5Tget_native_type(type, H5T_DIR_ASCEND), H5Tclose};
    case H5T_ENUM:
        return {H5Tcopy(type), H5Tclose};
    default:
        return {};
    }
}

/// Rows that are read at once: whole chunks, so that none is decompressed twice.
Index rows_at_once(hid_t dataset, Index row_bytes) {
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    Index step = 1;
    if (H5Pget_layout(properties.get()) == H5D_CHUNKED) {
        std::vector<hsize_t> chunk(H5S_MAX_RANK, 1);
        H5Pget_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data());
        step = std::max<Index>(1, static_cast<Index>(chunk[0]));
    }
    return step * std::max<Index>(1, Index{block_bytes} / std::max<Index>(1, row_bytes * step));
}

} // namespace

void Manifest::add_bytes(const std::string& path, const void* bytes, std::size_t size) {
    Entry& entry = entries_[path];
    if (size > 0) {
        entry.checksum = add_by_all_threads(entry.checksum, bytes, size);
        entry.size += size;
    }
}

void Manifest::add_texts(const std::string& path, std::span<const std::string> texts) {
    std::string together;
    for (const std::string& text : texts) {
        // HDF5 ends a text at its first zero. With the one at its end, "ab", "c" is not "a", "bc".
        together.append(text.c_str(), std::char_traits<char>::length(text.c_str()) + 1);
        if (together.size() >= block_bytes) {
            add_bytes(path, together.data(), together.size());
            together.clear();
        }
    }
    add_bytes(path, together.data(), together.size());
}

void Manifest::forget(const std::string& path) {
    std::erase_if(entries_, [&](const auto& entry) {
        const std::string& name = entry.first;
        return name.starts_with(path) &&
               (name.size() == path.size() || name[path.size()] == '/' || name[path.size()] == '@');
    });
}

std::optional<std::string> Manifest::first_difference(const Manifest& other) const {
    const auto [here, there] =
        std::mismatch(entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end());
    if (here != entries_.end()) {
        return here->first;
    }
    return there != other.entries_.end() ? std::optional(there->first) : std::nullopt;
}

void Object::add_values_to(Manifest& manifest) const {
    manifest.add_bytes(path_, nullptr, 0);
    if (element() == Element::text) {
        manifest.add_texts(path_, read_texts());
        return;
    }
    const Handle stored(H5Dget_type(handle_.get()), H5Tclose);
    const Handle type = type_in_memory(stored.get());
    const Index count = size();
    if (!type || count == 0) {
        return;
    }
    const auto width = static_cast<Index>(H5Tget_size(type.get()));
    const auto sizes = shape();
    const Index rows = sizes.empty() ? 1 : sizes[0];
    const Index row_bytes = count / rows * width;
    const Index block = sizes.empty() ? 1 : rows_at_once(handle_.get(), row_bytes);
    std::vector<char> buffer(static_cast<std::size_t>(std::min(block, rows) * row_bytes));
    for (Index first = 0; first < rows; first += block) {
        const Index part = std::min(block, rows - first);
        herr_t read = -1;
        if (sizes.empty()) {
            read = H5Dread(handle_.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer.data());
        } else {
            const RowBlock selected(handle_.get(), first, part);
            read = H5Dread(handle_.get(), type.get(), selected.memory(), selected.file(), H5P_DEFAULT,
                           buffer.data());
        }
        if (read < 0) {
            reject("cannot be read: " + last_error());
        }
        manifest.add_bytes(path_, buffer.data(), static_cast<std::size_t>(part * row_bytes));
    }
}

std::vector<std::string> Object::attribute_names() const {
    std::vector<std::string> names;
    hsize_t position = 0;
    if (H5Aiterate2(handle_.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &position, add_attribute_name, &names) <
        0) {
        reject("its attributes cannot be listed: " + last_error());
    }
    return names;
}

void Object::add_attributes_to(Manifest& manifest) const {
    for (const std::string& name : attribute_names()) {
        const std::string path = attribute_path(name);
        const Handle attribute(H5Aopen(handle_.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
        const Handle stored(H5Aget_type(attribute.get()), H5Tclose);
        const Handle space(H5Aget_space(attribute.get()), H5Sclose);
        manifest.add_bytes(path, nullptr, 0);
        if (H5Tget_class(stored.get()) == H5T_STRING) {
            manifest.add_texts(path, texts_attribute(name));
            continue;
        }
        const Handle type = type_in_memory(stored.get());
        const hssize_t count = H5Sget_simple_extent_npoints(space.get());
        if (type && count > 0) {
            std::vector<char> values(static_cast<std::size_t>(count) * H5Tget_size(type.get()));
            if (H5Aread(attribute.get(), type.get(), values.data()) < 0) {
                reject(fmt::format("its attribute '{}' cannot be read: {}", name, last_error()));
            }
            manifest.add_bytes(path, values.data(), values.size());
        }
    }
}

void Object::add_all_to(Manifest& manifest) const {
    add_attributes_to(manifest);
    if (is_dataset()) {
        add_values_to(manifest);
        return;
    }
    std::vector<std::string> names; // of every object, each once
    if (H5Ovisit2(handle_.get(), H5_INDEX_NAME, H5_ITER_NATIVE, add_visited, &names, H5O_INFO_BASIC) < 0) {
        reject("its objects cannot be listed: " + last_error());
    }
    for (const std::string& name : names) {
        if (name == ".") {
            continue; // itself
        }
        const Object object = open(name);
        object.add_attributes_to(manifest);
        if (object.is_dataset()) {
            object.add_values_to(manifest);
        }
    }
}

Manifest Object::manifest_of(const std::filesystem::path& path) {
    const Session session;
    Manifest manifest;
    open_file(path).add_all_to(manifest);
    return manifest;
}

} // namespace pnmf::hdf5
