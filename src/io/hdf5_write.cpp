#include "io/hdf5_native.hpp"

#include <pnmf/error.hpp>

#include <algorithm>

namespace pnmf::hdf5 {

namespace {

Handle scalar_space() {
    return {H5Screate(H5S_SCALAR), H5Sclose};
}

Handle array_space(const std::vector<Index>& shape, bool resizable) {
    const std::vector<hsize_t> sizes(shape.begin(), shape.end());
    std::vector<hsize_t> limits = sizes;
    if (resizable && !limits.empty()) {
        limits[0] = H5S_UNLIMITED;
    }
    return {H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), limits.data()), H5Sclose};
}

/// The sizes of a chunk of about `bytes`: whole along the last axes, few along the first.
std::vector<hsize_t> chunk_shape(const std::vector<Index>& shape, Index element_bytes, Index bytes) {
    std::vector<hsize_t> chunk(shape.size(), 1);
    Index buffer = std::max<Index>(bytes / element_bytes, 1);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        const Index size = std::clamp<Index>(shape[axis], 1, buffer);
        chunk[axis] = static_cast<hsize_t>(size);
        buffer = std::max<Index>(buffer / size, 1);
    }
    return chunk;
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> result;
    result.reserve(texts.size());
    for (const std::string& text : texts) {
        result.push_back(text.c_str());
    }
    return result;
}

} // namespace

Object Object::create(const std::string& name, hid_t type, hid_t space, const Storage& storage,
                      const std::vector<Index>& shape) {
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    // The same content must give the same bytes, whenever it is written.
    expect_taken(H5Pset_obj_track_times(properties.get(), false));
    const bool empty = std::count(shape.begin(), shape.end(), 0) > 0;
    if (!shape.empty() && (storage.resizable || (storage.compress && !empty))) {
        const auto chunk = chunk_shape(shape, static_cast<Index>(H5Tget_size(type)), storage.chunk_bytes);
        expect_taken(H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()));
        if (storage.compress) {
            expect_taken(H5Pset_shuffle(properties.get()));
            expect_taken(H5Pset_deflate(properties.get(), 4));
        }
    }
    const Handle links = link_properties();
    Handle handle(
        H5Dcreate2(handle_.get(), name.c_str(), type, space, links.get(), properties.get(), H5P_DEFAULT),
        H5Dclose);
    if (!handle) {
        refuse(fmt::format("the array '{}' cannot be made", name));
    }
    file_->written->add_bytes(path_of(name), nullptr, 0);
    return {file_, std::move(handle), path_of(name)};
}

void Object::copy(const Object& source, const std::string& name) {
    const Session session;
    source.add_all_to(*file_->written); // what must be read back
    const Handle links = link_properties();
    if (H5Ocopy(source.handle_.get(), ".", handle_.get(), name.c_str(), H5P_DEFAULT, links.get()) < 0) {
        refuse(fmt::format("'{}' cannot be copied", source.where()));
    }
}

template <class Value>
Object Object::create_array(const std::string& name, const std::vector<Index>& shape,
                            const Storage& storage) {
    const Session session;
    const Handle space = array_space(shape, storage.resizable);
    return create(name, native<Value>(), space.get(), storage, shape);
}

template <class Value>
void Object::write_rows(Index first, Index count, const Value* values) {
    const Session session;
    const RowBlock block(handle_.get(), first, count);
    if (block.elements() > 0 &&
        H5Dwrite(handle_.get(), native<Value>(), block.memory(), block.file(), H5P_DEFAULT, values) < 0) {
        refuse("cannot be written");
    }
    file_->written->add_bytes(path_, values, static_cast<std::size_t>(block.elements()) * sizeof(Value));
}

void Object::resize(Index rows) {
    const Session session;
    const Handle space(H5Dget_space(handle_.get()), H5Sclose);
    std::vector<hsize_t> sizes(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
    H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
    sizes.at(0) = static_cast<hsize_t>(rows);
    if (H5Dset_extent(handle_.get(), sizes.data()) < 0) {
        refuse("cannot be resized");
    }
}

template <class Value>
Object Object::write_array(const std::string& name, const std::vector<Index>& shape, const Value* values,
                           const Storage& storage) {
    const Session session;
    Object array = create_array<Value>(name, shape, storage);
    array.write_rows(0, shape.at(0), values);
    return array;
}

template <class Value>
Object Object::write_scalar(const std::string& name, Value value) {
    const Session session;
    Object scalar = create(name, native<Value>(), scalar_space().get(), {}, {});
    if (H5Dwrite(scalar.handle_.get(), native<Value>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0) {
        scalar.refuse("cannot be written");
    }
    file_->written->add_bytes(scalar.path_, &value, sizeof value);
    return scalar;
}

Object Object::write_truths(const std::string& name, const std::vector<std::int8_t>& truths) {
    const Session session;
    const Handle type = truth_type();
    const std::vector<Index> shape{static_cast<Index>(truths.size())};
    Object array = create(name, type.get(), array_space(shape, false).get(), {}, shape);
    if (!truths.empty() &&
        H5Dwrite(array.handle_.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, truths.data()) < 0) {
        array.refuse("cannot be written");
    }
    file_->written->add_bytes(array.path_, truths.data(), truths.size());
    return array;
}

Object Object::write_truth(const std::string& name, bool truth) {
    const Session session;
    const Handle type = truth_type();
    Object scalar = create(name, type.get(), scalar_space().get(), {}, {});
    const std::int8_t value = truth ? 1 : 0;
    if (H5Dwrite(scalar.handle_.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0) {
        scalar.refuse("cannot be written");
    }
    file_->written->add_bytes(scalar.path_, &value, sizeof value);
    return scalar;
}

Object Object::write_texts(const std::string& name, const std::vector<std::string>& texts,
                           const Storage& storage) {
    const Session session;
    const Handle type = variable_text();
    const std::vector<Index> shape{static_cast<Index>(texts.size())};
    Object array = create(name, type.get(), array_space(shape, storage.resizable).get(), storage, shape);
    if (!texts.empty() && H5Dwrite(array.handle_.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                   pointers(texts).data()) < 0) {
        array.refuse("cannot be written");
    }
    file_->written->add_texts(array.path_, texts);
    return array;
}

Object Object::write_text(const std::string& name, const std::string& text) {
    const Session session;
    const Handle type = variable_text();
    Object scalar = create(name, type.get(), scalar_space().get(), {}, {});
    const char* pointer = text.c_str();
    if (H5Dwrite(scalar.handle_.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &pointer) < 0) {
        scalar.refuse("cannot be written");
    }
    file_->written->add_texts(scalar.path_, {&text, 1});
    return scalar;
}

void Object::write_attribute(const std::string& name, hid_t type, hid_t space, const void* values) {
    const Handle attribute(H5Acreate2(handle_.get(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    if (!attribute || (values != nullptr && H5Awrite(attribute.get(), type, values) < 0)) {
        refuse(fmt::format("its attribute '{}' cannot be written", name));
    }
}

void Object::remove(const std::string& name) {
    const Session session;
    if (H5Ldelete(handle_.get(), name.c_str(), H5P_DEFAULT) < 0) {
        refuse(fmt::format("its member '{}' cannot be removed", name));
    }
    file_->written->forget(path_of(name));
}

void Object::remove_attribute(const std::string& name) {
    const Session session;
    if (H5Adelete(handle_.get(), name.c_str()) < 0) {
        refuse(fmt::format("its attribute '{}' cannot be removed", name));
    }
    file_->written->forget(attribute_path(name));
}

void Object::set_attribute(const std::string& name, const std::string& text) {
    const Session session;
    const char* pointer = text.c_str();
    write_attribute(name, variable_text().get(), scalar_space().get(), &pointer);
    file_->written->add_texts(attribute_path(name), {&text, 1});
}

void Object::set_attribute(const std::string& name, const std::vector<std::string>& texts) {
    const Session session;
    const Handle space = array_space({static_cast<Index>(texts.size())}, false);
    const auto all = pointers(texts);
    write_attribute(name, variable_text().get(), space.get(), all.empty() ? nullptr : all.data());
    file_->written->add_texts(attribute_path(name), texts);
}

void Object::set_attribute(const std::string& name, const std::vector<std::int64_t>& integers) {
    const Session session;
    const Handle space = array_space({static_cast<Index>(integers.size())}, false);
    write_attribute(name, H5T_NATIVE_INT64, space.get(), integers.data());
    file_->written->add_bytes(attribute_path(name), integers.data(), integers.size() * sizeof(std::int64_t));
}

void Object::set_truth_attribute(const std::string& name, bool truth) {
    const Session session;
    const std::int8_t value = truth ? 1 : 0;
    write_attribute(name, truth_type().get(), scalar_space().get(), &value);
    file_->written->add_bytes(attribute_path(name), &value, sizeof value);
}

#define PNMF_INSTANTIATE(Value)                                                                              \
    template Object Object::create_array<Value>(const std::string&, const std::vector<Index>&,               \
                                                const Storage&);                                             \
    template void Object::write_rows(Index, Index, const Value*);                                            \
    template Object Object::write_array(const std::string&, const std::vector<Index>&, const Value*,         \
                                        const Storage&);                                                     \
    template Object Object::write_scalar(const std::string&, Value);
PNMF_INSTANTIATE(double)
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(std::int64_t)
PNMF_INSTANTIATE(std::int32_t)
PNMF_INSTANTIATE(std::int16_t)
PNMF_INSTANTIATE(std::int8_t)
#undef PNMF_INSTANTIATE

} // namespace pnmf::hdf5
