#include "anndata.hpp"

#include "arrays.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>

namespace pnmf::python {
namespace {

py::object to_python(const AnnDataValue& value);

py::dict to_python(const AnnDataMap& map) {
    py::dict result;
    for (const auto& [name, value] : map) {
        result[name.c_str()] = to_python(value);
    }
    return result;
}

py::object to_python(const NumericArray& array) {
    return std::visit(
        [&](const auto& values) -> py::object {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            return py::array_t<Value>(std::vector<py::ssize_t>(array.shape.begin(), array.shape.end()),
                                      values.data());
        },
        array.values);
}

/// slabs × rows × columns; in memory the rows run fastest, as in the matrices it is made from.
template <class Real>
py::object to_python(const SlabArray& array, const std::function<DenseMatrix<Real>(Index)>& slab) {
    py::array_t<Real> result({array.slabs, array.cols, array.rows});
    Real* place = result.mutable_data();
    for (Index t = 0; t < array.slabs; ++t) {
        const DenseMatrix<Real> matrix = slab(t);
        place = std::copy(matrix.data(), matrix.data() + matrix.size(), place);
    }
    return result.attr("transpose")(0, 2, 1);
}

py::object to_python(const AnnDataValue& entry) {
    return std::visit(
        [](const auto& value) -> py::object {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, SlabArray>) {
                return value.slab ? to_python<double>(value, value.slab)
                                  : to_python<float>(value, value.float_slab);
            } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
                py::list texts;
                for (const std::string& text : value) {
                    texts.append(text);
                }
                return py::module_::import("numpy").attr("array")(texts, py::dtype("O"));
            } else if constexpr (std::is_same_v<Value, AnnDataMap> || std::is_same_v<Value, NumericArray>) {
                return to_python(value);
            } else {
                return py::cast(value);
            }
        },
        entry.value);
}

std::vector<std::string> texts_of(const py::handle& values) {
    std::vector<std::string> texts;
    for (const py::handle& value : values) {
        texts.push_back(py::str(value).cast<std::string>());
    }
    return texts;
}

/// An array of three axes where it lies, whatever its strides.
template <class Real>
SlabArray slabs_of(const py::array& array) {
    const auto* const begin = static_cast<const char*>(array.data());
    const std::array<py::ssize_t, 3> step{array.strides(0), array.strides(1), array.strides(2)};
    SlabArray slabs{.slabs = array.shape(0), .rows = array.shape(1), .cols = array.shape(2)};
    const auto slab = [begin, step, rows = slabs.rows, cols = slabs.cols](Index t) {
        DenseMatrix<Real> matrix(rows, cols);
        for (Index j = 0; j < cols; ++j) {
            for (Index i = 0; i < rows; ++i) {
                std::memcpy(&matrix(i, j), begin + t * step[0] + i * step[1] + j * step[2], sizeof(Real));
            }
        }
        return matrix;
    };
    if constexpr (std::is_same_v<Real, float>) {
        slabs.float_slab = slab;
    } else {
        slabs.slab = slab;
    }
    return slabs;
}

template <class Value>
NumericArray numbers_of(const py::array& array) {
    const auto values = py::array_t<Value, py::array::c_style | py::array::forcecast>::ensure(array);
    return {.shape = std::vector<Index>(values.shape(), values.shape() + values.ndim()),
            .values = std::vector<Value>(values.data(), values.data() + values.size())};
}

std::optional<AnnDataValue> value_of(const py::array& array) {
    const char kind = array.dtype().kind();
    if (kind == 'O' || kind == 'U' || kind == 'S') {
        return array.ndim() == 1 ? std::optional<AnnDataValue>(texts_of(array)) : std::nullopt;
    }
    const bool single = kind == 'f' && array.itemsize() == 4;
    if (array.ndim() == 3 && kind == 'f' && (single || array.itemsize() == 8)) {
        return single ? AnnDataValue(slabs_of<float>(array)) : AnnDataValue(slabs_of<double>(array));
    }
    if (kind == 'f' && array.ndim() > 0) {
        return single ? AnnDataValue(numbers_of<float>(array)) : AnnDataValue(numbers_of<double>(array));
    }
    if ((kind == 'i' || kind == 'u' || kind == 'b') && array.ndim() > 0) {
        return AnnDataValue(numbers_of<std::int64_t>(array));
    }
    return std::nullopt;
}

AnnDataMap map_of(const py::dict& values);

std::optional<AnnDataValue> value_of(const py::handle& value) {
    const py::module_ numpy = py::module_::import("numpy");
    if (py::isinstance(value, numpy.attr("generic")) ||
        (py::isinstance<py::array>(value) && py::reinterpret_borrow<py::array>(value).ndim() == 0)) {
        return value_of(py::object(value.attr("item")()));
    }
    if (py::isinstance<py::dict>(value)) {
        return AnnDataValue(map_of(py::reinterpret_borrow<py::dict>(value)));
    }
    if (py::isinstance<py::str>(value)) {
        return AnnDataValue(value.cast<std::string>());
    }
    if (py::isinstance<py::bool_>(value)) {
        return AnnDataValue(value.cast<bool>());
    }
    if (py::isinstance<py::int_>(value)) {
        return AnnDataValue(value.cast<std::int64_t>());
    }
    if (py::isinstance<py::float_>(value)) {
        return AnnDataValue(value.cast<double>());
    }
    if (py::isinstance<py::array>(value)) {
        return value_of(py::reinterpret_borrow<py::array>(value));
    }
    if (py::isinstance<py::list>(value)) {
        return value_of(py::array(numpy.attr("asarray")(value)));
    }
    return std::nullopt;
}

AnnDataMap map_of(const py::dict& values) {
    AnnDataMap map;
    for (const auto& [name, value] : values) {
        if (auto held = value_of(value)) {
            map.emplace(py::str(name).cast<std::string>(), std::move(*held));
        }
    }
    return map;
}

py::object column(const TableColumn& table) {
    if (const auto* numbers = std::get_if<std::vector<double>>(&table.values)) {
        return array_of(*numbers);
    }
    py::list texts;
    for (const std::string& text : std::get<std::vector<std::string>>(table.values)) {
        texts.append(text);
    }
    return texts;
}

py::dict matrices(const std::map<std::string, Matrix>& map) {
    py::dict result;
    for (const auto& [name, matrix] : map) {
        result[name.c_str()] = rows_of<double>(matrix.transpose());
    }
    return result;
}

} // namespace

py::dict anndata_parts(const AnnDataFile& file) {
    py::dict obs;
    for (const TableColumn& table : file.cell_table) {
        obs[table.name.c_str()] = column(table);
    }
    py::dict result;
    result["obs"] = obs;
    result["obsm"] = matrices(file.obsm);
    result["varm"] = matrices(file.varm);
    result["uns"] = to_python(file.uns);
    return result;
}

AnnDataFile anndata_file(const py::dict& parts) {
    AnnDataFile file;
    if (parts.contains("cells")) {
        file.cell_names = texts_of(parts["cells"]);
    }
    if (parts.contains("features")) {
        file.feature_names = texts_of(parts["features"]);
    }
    if (parts.contains("embedding")) {
        const auto embedding = Array::ensure(parts["embedding"]);
        file.obsm["X_pnmf"] = columns_of(embedding).transpose();
    }
    if (parts.contains("basis")) { // of the recommended scale, rank × features
        file.varm["pnmf_W"] = columns_of(Array::ensure(parts["basis"]));
    }
    file.uns["pnmf"] = map_of(parts["uns"].cast<py::dict>());
    if (parts.contains("spatial")) { // of Scanpy: images behind the cells
        file.uns["spatial"] = map_of(parts["spatial"].cast<py::dict>());
    }
    if (parts.contains("loops")) { // of pnmf.tl.loops: its diagram
        file.uns["pnmf_loops"] = map_of(parts["loops"].cast<py::dict>());
    }
    return file;
}

} // namespace pnmf::python
