#include "io/zarr.hpp"

#include "io/hdf5_native.hpp"
#include "io/zarr_array.hpp"
#include "io/zarr_chunks.hpp"

#include <pnmf/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <compare>
#include <cstdlib>

namespace pnmf::zarr {

namespace fs = std::filesystem;
using hdf5::expect_taken;
using hdf5::Handle;

namespace {

constexpr int deepest = 32;

/// What is in a store, and how much an array may claim of it.
struct Extent {
    std::uintmax_t files = 0;
    std::uintmax_t bytes = 0;
    std::int64_t newest = 0; ///< when a file or folder last changed, in nanoseconds

    auto operator<=>(const Extent&) const = default;
};

Extent extent_of(const fs::path& store) {
    Extent extent;
    std::error_code error;
    for (fs::recursive_directory_iterator at(store, error);
         !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        require(at.depth() <= 2 * deepest, "{}: folders must not be nested more than {} deep", store.string(),
                2 * deepest);
        struct stat found {};
        if (::lstat(at->path().c_str(), &found) == 0) {
            ++extent.files;
            extent.bytes += S_ISREG(found.st_mode) ? static_cast<std::uintmax_t>(found.st_size) : 0;
            for (const timespec& time : {found.st_mtim, found.st_ctim}) {
                extent.newest =
                    std::max(extent.newest, std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
            }
        }
    }
    require(!error, "{}: cannot be listed: {}", store.string(), error.message());
    return extent;
}

Handle space_of(const std::vector<Index>& shape) {
    const std::vector<hsize_t> sizes(shape.begin(), shape.end());
    return sizes.empty()
               ? Handle(H5Screate(H5S_SCALAR), H5Sclose)
               : Handle(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
}

/// Writes the HDF5 file of one store.
class Mirror {
  public:
    Mirror(const fs::path& store, const fs::path& to, const Extent& extent)
        : store_(store), place_(to), extent_(extent), left_(bytes_granted(extent)) {}

    void write() {
        const auto root = read_node(store_);
        require(root && !root->array, "{}: must be a Zarr group", store_.string());
        Handle file(H5Fcreate(place_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        expect_written(file.get());
        {
            const Handle group(H5Gopen2(file.get(), "/", H5P_DEFAULT), H5Gclose);
            expect_written(group.get());
            attributes(group.get(), store_, *root);
            members(group.get(), store_, 1);
            expect_written(H5Fflush(file.get(), H5F_SCOPE_LOCAL));
        }
        if (!file.close()) {
            expect_written(-1);
        }
    }

  private:
    /// A store of a few bytes may hold many zeros, but must not fill a disk.
    static std::uintmax_t bytes_granted(const Extent& extent) {
        return (std::uintmax_t{256} << 20U) + 10'000 * std::min(extent.bytes, std::uintmax_t{1} << 48U);
    }

    template <class Status>
    void expect_written(Status status) const {
        if (status < 0) {
            throw SystemError(fmt::format("{}: cannot be written into a temporary file in {}: {}",
                                          store_.string(), fs::temp_directory_path().string(),
                                          hdf5::last_error()));
        }
    }

    void members(hid_t group, const fs::path& folder, int depth) {
        require(depth <= deepest, "{}: groups must not be nested more than {} deep", folder.string(),
                deepest);
        std::vector<std::string> names;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            names.push_back(entry.path().filename().string());
        }
        std::sort(names.begin(), names.end());
        for (const std::string& name : names) {
            const fs::path part = folder / name;
            const auto kind = fs::symlink_status(part).type();
            require(kind != fs::file_type::symlink, "{}: links in a Zarr store are not followed",
                    part.string());
            const auto node = kind == fs::file_type::directory ? read_node(part) : std::nullopt;
            if (!node) {
                continue;
            }
            if (node->array) {
                array(group, name, part, *node);
            } else {
                const Handle links = hdf5::link_properties();
                const Handle made(H5Gcreate2(group, name.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT),
                                  H5Gclose);
                expect_written(made.get());
                attributes(made.get(), part, *node);
                members(made.get(), part, depth + 1);
            }
        }
    }

    /// In the file: numbers as this machine has them, text of variable length; bytes without a meaning for
    /// what is not read here, which the readers leave out or refuse as they do with such parts of an HDF5
    /// file.
    static Handle stored_type(const Array& array) {
        switch (array.element) {
        case Element::boolean:
            return hdf5::truth_type();
        case Element::text:
        case Element::utf32_text:
        case Element::byte_text:
            return hdf5::variable_text();
        case Element::unknown: {
            Handle type(H5Tcreate(H5T_OPAQUE, 1), H5Tclose);
            expect_taken(H5Tset_tag(type.get(), "not read"));
            return type;
        }
        default:
            break;
        }
        const Handle numbers = number_type(array, false);
        return {H5Tget_native_type(numbers.get(), H5T_DIR_ASCEND), H5Tclose};
    }

    /// Of the bytes of a chunk; half numbers become floats when they are stored.
    static Handle number_type(const Array& array, bool in_chunk) {
        const bool big = in_chunk && array.big_endian;
        if (array.element == Element::real) {
            Handle type(H5Tcopy(array.bytes == 8 ? (big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE)
                                                 : (big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE)),
                        H5Tclose);
            if (array.bytes == 2 && in_chunk) {
                expect_taken(H5Tset_fields(type.get(), 15, 10, 5, 0, 10));
                expect_taken(H5Tset_size(type.get(), 2));
                expect_taken(H5Tset_ebias(type.get(), 15));
            }
            return type;
        }
        if (array.element == Element::boolean) {
            return hdf5::truth_type();
        }
        Handle type(H5Tcopy(array.element == Element::signed_integer ? H5T_STD_I8LE : H5T_STD_U8LE),
                    H5Tclose);
        expect_taken(H5Tset_size(type.get(), array.bytes));
        expect_taken(H5Tset_precision(type.get(), 8 * array.bytes));
        expect_taken(H5Tset_order(type.get(), big ? H5T_ORDER_BE : H5T_ORDER_LE));
        return type;
    }

    void array(hid_t group, const std::string& name, const fs::path& part, const Node& node) {
        const Array& array = *node.array;
        const bool known = array.element != Element::unknown;
        if (known) {
            take(part, array);
        }
        const Handle links = hdf5::link_properties();
        const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const Handle type = stored_type(array);
        const Handle space = space_of(array.shape);
        const Chunks chunks(part, array);
        const bool texts = known && Chunks::is_text(array.element);
        if (known && !texts && !chunks.all_there()) {
            // All of it stands in the file then, so that a reader finds as many bytes as are announced.
            const std::string fill = chunks.fill();
            const Handle filling = number_type(array, true);
            expect_taken(H5Pset_fill_value(properties.get(), filling.get(), fill.data()));
            expect_taken(H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY));
        }
        const Handle made(H5Dcreate2(group, name.c_str(), type.get(), space.get(), links.get(),
                                     properties.get(), H5P_DEFAULT),
                          H5Dclose);
        expect_written(made.get());
        attributes(made.get(), part, node);
        if (texts) {
            write_texts(made.get(), type.get(), chunks.texts());
        } else if (known) {
            const Handle numbers = number_type(array, true);
            chunks.each([&](const std::vector<Index>& at, const std::string& bytes) {
                write_chunk(made.get(), numbers.get(), array, at, bytes);
            });
        }
    }

    /// What an array claims must be granted, and there.
    void take(const fs::path& part, const Array& array) {
        constexpr std::size_t of_text = 32; // what points to it, and its length
        const bool text = Chunks::is_text(array.element);
        const auto bytes =
            static_cast<std::uintmax_t>(array.size()) * (text ? std::max(array.bytes, of_text) : array.bytes);
        require(bytes <= left_, "{}: announces {} elements, more than a store of {} bytes may have",
                part.string(), array.size(), extent_.bytes);
        left_ -= bytes;
        const fs::path folder = fs::temp_directory_path();
        if (const auto left = fs::space(folder).available; left < bytes) {
            throw SystemError(
                fmt::format("{}: needs {} bytes in the folder for temporary files, {}, which has {}",
                            part.string(), bytes, folder.string(), left));
        }
    }

    void write_texts(hid_t dataset, hid_t type, const std::vector<std::string>& texts) const {
        std::vector<const char*> pointers;
        for (const std::string& text : texts) {
            pointers.push_back(text.c_str());
        }
        if (!pointers.empty()) {
            expect_written(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()));
        }
    }

    /// A chunk at the end of an axis is as large as the others; what is beyond the array is left out.
    void write_chunk(hid_t dataset, hid_t type, const Array& array, const std::vector<Index>& at,
                     const std::string& bytes) const {
        const Handle in_file(H5Dget_space(dataset), H5Sclose);
        const Handle in_memory = space_of(array.chunk);
        if (!array.shape.empty()) {
            std::vector<hsize_t> offset;
            std::vector<hsize_t> count;
            for (std::size_t i = 0; i < at.size(); ++i) {
                const Index first = at[i] * array.chunk[i];
                offset.push_back(static_cast<hsize_t>(first));
                count.push_back(static_cast<hsize_t>(std::min(array.chunk[i], array.shape[i] - first)));
            }
            const std::vector<hsize_t> origin(at.size(), 0);
            expect_written(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, offset.data(), nullptr,
                                               count.data(), nullptr));
            expect_written(H5Sselect_hyperslab(in_memory.get(), H5S_SELECT_SET, origin.data(), nullptr,
                                               count.data(), nullptr));
        }
        expect_written(H5Dwrite(dataset, type, in_memory.get(), in_file.get(), H5P_DEFAULT, bytes.data()));
    }

    void attribute(hid_t object, const fs::path& part, const std::string& name, hid_t type, hid_t space,
                   const void* values) const {
        const Handle made(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        require(bool(made), "{}: its attribute '{}' cannot be kept: {}", part.string(), name,
                hdf5::last_error());
        if (values != nullptr) {
            expect_written(H5Awrite(made.get(), type, values));
        }
    }

    void attributes(hid_t object, const fs::path& part, const Node& node) const {
        for (const auto& item : node.attributes.items()) {
            if (!item.key().empty() && !item.value().is_null()) {
                attribute_of(object, part, item.key(), item.value());
            }
        }
    }

    void attribute_of(hid_t object, const fs::path& part, const std::string& name, const Json& value) const {
        const auto all_of = [&](auto is) {
            return value.is_array() &&
                   std::all_of(value.begin(), value.end(), [&](const Json& one) { return (one.*is)(); });
        };
        const auto length = std::vector<Index>{static_cast<Index>(value.size())};
        if (value.is_boolean()) {
            const std::int8_t truth = value.get<bool>() ? 1 : 0;
            attribute(object, part, name, hdf5::truth_type().get(), space_of({}).get(), &truth);
        } else if (value.is_number_integer()) {
            const auto number = value.get<std::int64_t>();
            attribute(object, part, name, H5T_NATIVE_INT64, space_of({}).get(), &number);
        } else if (value.is_number()) {
            const auto number = value.get<double>();
            attribute(object, part, name, H5T_NATIVE_DOUBLE, space_of({}).get(), &number);
        } else if (all_of(&Json::is_string)) {
            std::vector<const char*> pointers;
            for (const Json& one : value) {
                pointers.push_back(one.get_ref<const std::string&>().c_str());
            }
            attribute(object, part, name, hdf5::variable_text().get(), space_of(length).get(),
                      pointers.empty() ? nullptr : pointers.data());
        } else if (all_of(&Json::is_number_integer)) {
            const auto numbers = value.get<std::vector<std::int64_t>>();
            attribute(object, part, name, H5T_NATIVE_INT64, space_of(length).get(), numbers.data());
        } else {
            const std::string text = value.is_string()
                                         ? value.get<std::string>()
                                         : value.dump(-1, ' ', false, Json::error_handler_t::replace);
            const char* const pointer = text.c_str();
            attribute(object, part, name, hdf5::variable_text().get(), space_of({}).get(), &pointer);
        }
    }

    fs::path store_;
    fs::path place_;
    Extent extent_;
    std::uintmax_t left_;
};

/// A file in the folder for temporary files, which this process removes when it ends.
class TemporaryFile {
  public:
    TemporaryFile() : owner_(::getpid()) {
        std::string name = (fs::temp_directory_path() / "pnmf-zarr-XXXXXX").string();
        const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
        if (descriptor < 0) {
            throw SystemError(
                fmt::format("{}: no temporary file can be made there", fs::temp_directory_path().string()));
        }
        ::close(descriptor);
        path_ = name;
    }
    ~TemporaryFile() {
        if (owner_ == ::getpid()) { // not a copy of this process
            ::unlink(path_.c_str());
        }
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const fs::path& path() const { return path_; }

  private:
    pid_t owner_;
    fs::path path_;
};

/// The store that was read last.
struct Held {
    fs::path store;
    Extent extent;
    std::unique_ptr<TemporaryFile> file;
};

} // namespace

bool is_store(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error) &&
           (fs::exists(path / "zarr.json", error) || fs::exists(path / ".zgroup", error) ||
            fs::exists(path / ".zarray", error));
}

fs::path hdf5_of(const fs::path& path) {
    if (!is_store(path)) {
        return path;
    }
    const hdf5::Session session; // of one thread at a time
    static Held held;
    std::error_code error;
    const fs::path store = fs::canonical(path, error);
    require(!error, "{}: cannot be opened: {}", path.string(), error.message());
    const Extent extent = extent_of(store);
    if (!held.file || held.store != store || held.extent != extent) {
        held.file.reset();
        auto file = std::make_unique<TemporaryFile>();
        try {
            Mirror(path, file->path(), extent).write();
        } catch (const fs::filesystem_error& e) {
            fail("{}: cannot be read: {}", path.string(), e.code().message());
        }
        held = {.store = store, .extent = extent, .file = std::move(file)};
    }
    return held.file->path();
}

} // namespace pnmf::zarr
