#include "anndata.hpp"

#include "arrays.hpp"

#include <algorithm>
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

} // namespace pnmf::python
