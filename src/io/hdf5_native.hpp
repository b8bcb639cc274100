#pragma once

#include "io/hdf5_handle.hpp"

#include <pnmf/error.hpp>

#include <fmt/format.h>

#include <type_traits>

namespace pnmf::hdf5 {

struct Object::File {
    Handle handle;
    std::string name;
    std::string mirror; ///< a file that has what a store of another kind has, whose name is `name`
    const std::string& bytes_in() const { return mirror.empty() ? name : mirror; }
    // Of a file that is written:
    std::filesystem::path place;     ///< where it is, which may have another name
    std::optional<Manifest> written; ///< what it must hold
    std::string failure;             ///< why a part of it could not be closed
};

/// Bytes before HDF5's address 0.
inline std::uint64_t base_of(hid_t file) {
    const Handle properties(H5Fget_create_plist(file), H5Pclose);
    hsize_t bytes = 0;
    H5Pget_userblock(properties.get(), &bytes);
    return bytes;
}

/// HDF5 must take every part of a description, or something else would be written: truths as plain integers,
/// for instance. It fails here where it finds no memory.
inline void expect_taken(herr_t status) {
    if (status < 0) {
        throw SystemError("HDF5 has too little memory to describe what it should write");
    }
}

inline Handle variable_text() {
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    expect_taken(H5Tset_size(type.get(), H5T_VARIABLE));
    expect_taken(H5Tset_cset(type.get(), H5T_CSET_UTF8));
    return type;
}

/// The enumeration that h5py writes for NumPy's bool.
inline Handle truth_type() {
    Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
    const std::int8_t no = 0;
    const std::int8_t yes = 1;
    expect_taken(H5Tenum_insert(type.get(), "FALSE", &no));
    expect_taken(H5Tenum_insert(type.get(), "TRUE", &yes));
    return type;
}

/// How members are named: in UTF-8; a name with slashes is a path whose groups are made, as h5py does.
inline Handle link_properties() {
    Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    expect_taken(H5Pset_create_intermediate_group(links.get(), 1));
    expect_taken(H5Pset_char_encoding(links.get(), H5T_CSET_UTF8));
    return links;
}

/// HDF5's name for a C++ number type.
template <class Value>
hid_t native() {
    if constexpr (std::is_same_v<Value, double>) {
        return H5T_NATIVE_DOUBLE;
    } else if constexpr (std::is_same_v<Value, float>) {
        return H5T_NATIVE_FLOAT;
    } else if constexpr (std::is_same_v<Value, std::int64_t>) {
        return H5T_NATIVE_INT64;
    } else if constexpr (std::is_same_v<Value, std::int32_t>) {
        return H5T_NATIVE_INT32;
    } else if constexpr (std::is_same_v<Value, std::int16_t>) {
        return H5T_NATIVE_INT16;
    } else {
        static_assert(std::is_same_v<Value, std::int8_t>);
        return H5T_NATIVE_INT8;
    }
}

/// Where the file keeps `count` elements of a dataset's first axis from `first` on, and the same many in
/// memory.
class RowBlock {
  public:
    RowBlock(hid_t dataset, Index first, Index count) : file_(H5Dget_space(dataset), H5Sclose) {
        std::vector<hsize_t> sizes(static_cast<std::size_t>(H5Sget_simple_extent_ndims(file_.get())));
        H5Sget_simple_extent_dims(file_.get(), sizes.data(), nullptr);
        sizes.at(0) = static_cast<hsize_t>(count);
        std::vector<hsize_t> offset(sizes.size(), 0);
        offset.at(0) = static_cast<hsize_t>(first);
        for (const hsize_t size : sizes) {
            elements_ *= static_cast<Index>(size);
        }
        H5Sselect_hyperslab(file_.get(), H5S_SELECT_SET, offset.data(), nullptr, sizes.data(), nullptr);
        memory_ = Handle(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
    }

    hid_t file() const { return file_.get(); }
    hid_t memory() const { return memory_.get(); }
    Index elements() const { return elements_; }

  private:
    Handle file_;
    Handle memory_;
    Index elements_ = 1;
};

} // namespace pnmf::hdf5
