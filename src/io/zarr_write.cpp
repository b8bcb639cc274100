#include "io/hdf5_native.hpp"
#include "io/trial_read.hpp"
#include "io/zarr.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>

#include <nlohmann/json.hpp>
#include <stdlib.h> // NOLINT: mkdtemp
#include <zlib.h>

#include <algorithm>
#include <fstream>

namespace pnmf {

namespace fs = std::filesystem;

namespace zarr {
namespace {

using hdf5::Element;
using hdf5::Handle;
using hdf5::Object;
using nlohmann::ordered_json;

constexpr Index bytes_of_chunk = Index{1} << 22;
constexpr int most_groups_deep = 32;

void write_part(const fs::path& file, const std::string& bytes) {
    std::ofstream out(file, std::ios::binary);
    out << bytes;
    out.close();
    if (!out) {
        throw SystemError(fmt::format("{}: cannot be written", file.string()));
    }
}

void write_part(const fs::path& file, const ordered_json& json) {
    write_part(file, json.dump(4, ' ', false, ordered_json::error_handler_t::replace));
}

std::string deflated(const std::string& bytes) {
    uLongf size = compressBound(bytes.size());
    std::string result(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                  reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1) != Z_OK) {
        throw SystemError("zlib has too little memory to compress");
    }
    result.resize(size);
    return result;
}

void append_number(std::string& bytes, std::size_t number) {
    for (unsigned i = 0; i < 4; ++i) {
        bytes += static_cast<char>(number >> 8U * i & 0xffU);
    }
}

ordered_json attribute_of(const Object& object, const std::string& name) {
    const Handle attribute(H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute.get()), H5Tclose);
    const Handle space(H5Aget_space(attribute.get()), H5Sclose);
    const bool scalar = H5Sget_simple_extent_type(space.get()) == H5S_SCALAR;
    const auto one_or_all = [&](const auto& values) -> ordered_json {
        return scalar && !values.empty() ? ordered_json(values.front()) : ordered_json(values);
    };
    const H5T_class_t kind = H5Tget_class(type.get());
    if (kind == H5T_STRING) {
        return one_or_all(object.texts_attribute(name));
    }
    if (kind == H5T_INTEGER || kind == H5T_ENUM) {
        const auto numbers = object.integers_attribute(name).value_or(std::vector<std::int64_t>{});
        return kind == H5T_ENUM && scalar && !numbers.empty() ? ordered_json(numbers.front() != 0)
                                                              : one_or_all(numbers);
    }
    constexpr hssize_t most = 8192; // HDF5 keeps no more of them with an object
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    if (kind == H5T_FLOAT && count >= 0 && count <= most) {
        std::vector<double> numbers(static_cast<std::size_t>(count));
        if (count == 0 || H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, numbers.data()) >= 0) {
            return one_or_all(numbers);
        }
    }
    if (name == "categories") {
        object.reject(
            "its categories are stored as AnnData 0.7 did; open the file with a current AnnData and save "
            "it again");
    }
    return {}; // of a kind that AnnData does not use
}

/// Writes one .h5ad file as a store of format 2, which every reader of Zarr knows.
class StoreWriter {
  public:
    static void group(const Object& object, const fs::path& folder, int depth = 0) {
        if (depth > most_groups_deep) {
            object.reject(fmt::format("groups must not be nested more than {} deep", most_groups_deep));
        }
        fs::create_directory(folder);
        write_part(folder / ".zgroup", ordered_json{{"zarr_format", 2}});
        attributes(object, folder);
        for (const std::string& name : object.names()) {
            const Object member = object.open(name);
            if (name == "." || name == ".." || name.starts_with(".z") ||
                name.find('/') != std::string::npos) {
                member.reject("has a name that a Zarr store cannot have");
            }
            if (member.is_group()) {
                group(member, folder / name, depth + 1);
            } else if (member.is_dataset()) {
                array(member, folder / name);
            }
        }
    }

  private:
    static void attributes(const Object& object, const fs::path& folder) {
        ordered_json all = ordered_json::object();
        for (const std::string& name : object.attribute_names()) {
            if (ordered_json value = attribute_of(object, name); !value.is_null()) {
                all[name] = std::move(value);
            }
        }
        write_part(folder / ".zattrs", all);
    }

    static void array(const Object& object, const fs::path& folder) {
        const Element kind = object.element();
        if (kind == Element::other) {
            object.reject("is of a type that is not written to Zarr stores here");
        }
        object.check_fits_file();
        fs::create_directory(folder);
        attributes(object, folder);
        const std::vector<Index> shape = object.shape();
        ordered_json about{{"zarr_format", 2},
                           {"shape", shape},
                           {"chunks", shape},
                           {"dtype", "|O"},
                           {"compressor", {{"id", "zlib"}, {"level", 1}}},
                           {"fill_value", ""},
                           {"order", "C"},
                           {"filters", nullptr}};
        const std::vector<Index> chunk =
            kind == Element::text ? texts(object, folder, about) : numbers(object, folder, about);
        about["chunks"] = chunk;
        write_part(folder / ".zarray", about);
    }

    /// "3.0.0": chunks are cut along the first axis alone.
    static fs::path chunk_name(Index i, std::size_t axes) {
        std::string name = std::to_string(i);
        for (std::size_t axis = 1; axis < axes; ++axis) {
            name += ".0";
        }
        return name;
    }

    /// All of them in one chunk.
    static std::vector<Index> texts(const Object& object, const fs::path& folder, ordered_json& about) {
        about["filters"] = {{{"id", "vlen-utf8"}}};
        const std::vector<std::string> all = object.read_texts();
        std::string bytes;
        append_number(bytes, all.size());
        for (const std::string& text : all) {
            append_number(bytes, text.size());
            bytes += text;
        }
        std::vector<Index> chunk = object.shape();
        if (!all.empty()) {
            write_part(folder / chunk_name(0, chunk.size()), deflated(bytes));
        }
        for (Index& size : chunk) {
            size = std::max<Index>(size, 1);
        }
        return chunk;
    }

    static Handle type_of(const Object& object, ordered_json& about) {
        const Handle stored(H5Dget_type(object.id()), H5Tclose);
        Handle type(H5Tget_native_type(stored.get(), H5T_DIR_ASCEND), H5Tclose);
        if (object.element() == Element::boolean) {
            about["dtype"] = "|b1";
            about["fill_value"] = false;
            return Handle(H5Tcopy(stored.get()), H5Tclose);
        }
        const bool real = object.element() == Element::real;
        if (H5Tget_size(type.get()) > sizeof(double)) {
            type = Handle(H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose);
        }
        const std::size_t width = H5Tget_size(type.get());
        const char letter = real ? 'f' : H5Tget_sign(type.get()) == H5T_SGN_NONE ? 'u' : 'i';
        about["dtype"] = fmt::format("{}{}{}", width == 1 ? '|' : '<', letter, width);
        about["fill_value"] = real ? ordered_json(0.0) : ordered_json(0);
        return type;
    }

    static std::vector<Index> numbers(const Object& object, const fs::path& folder, ordered_json& about) {
        const Handle type = type_of(object, about);
        const auto width = static_cast<Index>(H5Tget_size(type.get()));
        std::vector<Index> chunk = object.shape();
        const Index rows = chunk.empty() ? 1 : chunk[0];
        const Index row_bytes = rows == 0 ? 0 : object.size() / rows * width;
        if (row_bytes > std::numeric_limits<std::int32_t>::max()) {
            object.reject("has rows that are too long for a chunk of a Zarr store");
        }
        const Index step =
            std::clamp<Index>(bytes_of_chunk / std::max<Index>(row_bytes, 1), 1, std::max<Index>(rows, 1));
        if (!chunk.empty()) {
            chunk[0] = step;
        }
        for (Index first = 0; first < rows && object.size() > 0; first += step) {
            std::string bytes(static_cast<std::size_t>(step * row_bytes), '\0');
            herr_t status = -1;
            if (chunk.empty()) {
                status = H5Dread(object.id(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
            } else {
                const hdf5::RowBlock block(object.id(), first, std::min(step, rows - first));
                status =
                    H5Dread(object.id(), type.get(), block.memory(), block.file(), H5P_DEFAULT, bytes.data());
            }
            if (status < 0) {
                object.reject("cannot be read: " + hdf5::last_error());
            }
            write_part(folder / chunk_name(first / step, chunk.size()), deflated(bytes));
        }
        for (Index& size : chunk) {
            size = std::max<Index>(size, 1);
        }
        return chunk;
    }
};

} // namespace
} // namespace zarr

void write_zarr(const fs::path& store, const fs::path& file) {
    std::error_code error;
    require(!fs::exists(fs::symlink_status(store, error)),
            "{}: is there already, and a Zarr store is written anew only", store.string());
    const io::TrialRead trial(file, [&file] { hdf5::Object::manifest_of(file); });
    // Whole or not at all: under another name first.
    const fs::path beside = store.parent_path().empty() ? fs::path(".") : store.parent_path();
    std::string unfinished = (beside / (store.filename().string() + ".XXXXXX")).string();
    if (::mkdtemp(unfinished.data()) == nullptr) {
        throw SystemError(fmt::format("{}: cannot be written: no folder can be made there", store.string()));
    }
    try {
        io::read_tried(file, [&] {
            const hdf5::Session session;
            zarr::StoreWriter::group(hdf5::Object::open_file(file), fs::path(unfinished) / "store");
        });
        fs::rename(fs::path(unfinished) / "store", store);
    } catch (const fs::filesystem_error& e) {
        fs::remove_all(unfinished, error);
        throw SystemError(fmt::format("{}: cannot be written: {}", store.string(), e.code().message()));
    } catch (...) {
        fs::remove_all(unfinished, error);
        throw;
    }
    fs::remove_all(unfinished, error);
}

} // namespace pnmf
