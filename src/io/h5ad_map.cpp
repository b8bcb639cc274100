#include "io/h5ad_parts.hpp"
#include "linalg/parallel_copy.hpp"

#include <pnmf/error.hpp>

#include <numeric>

namespace pnmf::io {

namespace {

using hdf5::Element;
using hdf5::Object;

/// A file whose groups contain themselves would have no end.
constexpr int deepest = 32;

std::optional<AnnDataValue> read_scalar(const Object& scalar) {
    switch (scalar.element()) {
    case Element::text:
        return AnnDataValue(scalar.read_text());
    case Element::integer:
        return AnnDataValue(scalar.read<std::int64_t>().at(0));
    case Element::boolean:
        return AnnDataValue(scalar.read<std::int8_t>().at(0) != 0);
    case Element::real:
        return AnnDataValue(scalar.read<double>().at(0));
    default:
        return std::nullopt;
    }
}

std::optional<AnnDataValue> read_array(const Object& array) {
    NumericArray numbers;
    numbers.shape = array.shape();
    if (numbers.shape.empty()) {
        return array.size() == 1 ? read_scalar(array) : std::nullopt;
    }
    switch (array.element()) {
    case Element::text:
        return numbers.shape.size() == 1 ? std::optional(AnnDataValue(array.read_texts())) : std::nullopt;
    case Element::integer:
    case Element::boolean:
        numbers.values = array.read<std::int64_t>();
        return AnnDataValue(std::move(numbers));
    case Element::real:
        if (array.element_bytes() <= 4) {
            numbers.values = array.read<float>();
        } else {
            numbers.values = array.read<double>();
        }
        return AnnDataValue(std::move(numbers));
    default:
        return std::nullopt;
    }
}

AnnDataMap read_map_at(const Object& group, const std::set<std::string>& skip,
                       std::vector<std::string>& notices, int depth) {
    if (depth > deepest) {
        group.reject(fmt::format("groups must not be nested more than {} deep", deepest));
    }
    AnnDataMap map;
    for (const std::string& name : group.names()) {
        const Object element = group.open(name);
        if (skip.contains(element.path())) {
            continue;
        }
        const std::string encoding = encoding_of(element);
        if (element.is_group() &&
            (encoding == "dict" || (encoding.empty() && !element.has_attribute("h5sparse_format")))) {
            map.emplace(name, read_map_at(element, skip, notices, depth + 1));
            continue;
        }
        auto value = element.is_dataset() ? read_array(element) : std::nullopt;
        if (value) {
            map.emplace(name, std::move(*value));
        } else {
            notices.push_back(
                fmt::format("{}: left out, an entry of this kind is not understood", element.where()));
        }
    }
    return map;
}

template <class Real>
void write_slabs(Object& parent, const std::string& name, const SlabArray& array,
                 const std::function<DenseMatrix<Real>(Index)>& slab) {
    const hdf5::Storage storage{.compress = array.compress};
    Object target = parent.create_array<Real>(name, {array.slabs, array.rows, array.cols}, storage);
    mark(target, "array", "0.2.0");
    for (Index t = 0; t < array.slabs; ++t) {
        const DenseMatrix<Real> matrix = slab(t);
        require(matrix.rows() == array.rows && matrix.cols() == array.cols,
                "slab {} of '{}' must be {} x {}, got {} x {}", t + 1, name, array.rows, array.cols,
                matrix.rows(), matrix.cols());
        const DenseMatrix<Real> by_rows = converted_transpose<Real>(matrix);
        target.write_rows(t, 1, by_rows.data());
    }
}

struct Writer {
    Object& parent;
    const std::string& name;

    void operator()(const AnnDataMap& map) const { write_map(parent, name, map); }
    void operator()(double number) const { finish(parent.write_scalar(name, number), "numeric-scalar"); }
    void operator()(std::int64_t number) const {
        finish(parent.write_scalar(name, number), "numeric-scalar");
    }
    void operator()(bool truth) const { finish(parent.write_truth(name, truth), "numeric-scalar"); }
    void operator()(const std::string& text) const { finish(parent.write_text(name, text), "string"); }
    void operator()(const std::vector<std::string>& texts) const {
        finish(parent.write_texts(name, texts), "string-array");
    }
    void operator()(const NumericArray& array) const {
        const Index count =
            std::accumulate(array.shape.begin(), array.shape.end(), Index{1}, std::multiplies<>());
        std::visit(
            [&](const auto& values) {
                require(!array.shape.empty() && count == static_cast<Index>(values.size()),
                        "the array '{}' must have {} values by its shape, got {}", name, count,
                        values.size());
                finish(parent.write_array(name, array.shape, values.data()), "array");
            },
            array.values);
    }
    void operator()(const SlabArray& array) const {
        require(bool(array.slab) != bool(array.float_slab),
                "the array '{}' must have one function that gives its slabs", name);
        if (array.slab) {
            write_slabs(parent, name, array, array.slab);
        } else {
            write_slabs(parent, name, array, array.float_slab);
        }
    }

  private:
    static void finish(Object element, const std::string& type) { mark(element, type, "0.2.0"); }
};

} // namespace

AnnDataMap read_map(const Object& group, const std::set<std::string>& skip,
                    std::vector<std::string>& notices) {
    return read_map_at(group, skip, notices, 0);
}

void write_map(Object& parent, const std::string& name, const AnnDataMap& map) {
    Object group = parent.make_group(name);
    mark(group, "dict", "0.1.0");
    add_to_map(group, map);
}

void add_to_map(Object& map, const AnnDataMap& entries) {
    for (const auto& [key, entry] : entries) {
        require(!key.empty() && key != "." && key.find('/') == std::string::npos,
                "an entry of '{}' must have a name without slashes, got '{}'",
                map.path().substr(map.path().rfind('/') + 1), key);
        if (map.contains(key)) {
            map.remove(key);
        }
        std::visit(Writer{map, key}, entry.value);
    }
}

void mark(Object& element, const std::string& type, const std::string& version) {
    element.set_attribute("encoding-type", type);
    element.set_attribute("encoding-version", version);
}

std::string encoding_of(const Object& element) {
    return element.text_attribute("encoding-type").value_or("");
}

} // namespace pnmf::io
