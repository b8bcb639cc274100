#include "arrays.hpp"
#include "module.hpp"
#include "options.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/io/preparation.hpp>

#include <pybind11/stl.h>

#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace pnmf::python {
namespace {

/// What Python holds about the data beside their values.
Dataset dataset_of(const py::object& X, const py::dict& about) {
    Dataset data;
    data.X = copy_of(Cells(X));
    data.cell_names = about["cells"].cast<std::vector<std::string>>();
    data.feature_names = about["features"].cast<std::vector<std::string>>();
    // A column of positions follows the features that are kept; names may be changed to differ.
    std::vector<double> positions(static_cast<std::size_t>(data.features()));
    std::iota(positions.begin(), positions.end(), 0.0);
    data.feature_table.push_back({.name = "position", .values = std::move(positions)});
    if (about.contains("marked")) { // a column of var that is true for the genes to keep
        const auto marked = about["marked"].cast<std::vector<double>>();
        data.feature_table.push_back({.name = about["column"].cast<std::string>(), .values = marked});
    }
    data.input = {.format = about["format"].cast<std::string>(),
                  .cells = CellAxis::rows,
                  .layer = about["layer"].cast<std::string>(),
                  .known = true};
    data.facts = {.log_recorded = about["log_recorded"].cast<bool>(),
                  .layers = about["layers"].cast<std::vector<std::string>>(),
                  .has_raw = about["has_raw"].cast<bool>(),
                  .obsm = {},
                  .has_image = about["has_image"].cast<bool>()};
    if (about.contains("unit_um")) {
        data.facts.unit_um = about["unit_um"].cast<double>();
    }
    if (about.contains("coordinates")) {
        data.space = Space{.name = about["space"].cast<std::string>(),
                           .coordinates = columns_of(about["coordinates"].cast<Array>())};
        require(data.space->coordinates.cols() == data.cells() && data.space->coordinates.rows() >= 1,
                "{} must have a row for each of the {} cells, got {}", data.space->name, data.cells(),
                data.space->coordinates.cols());
        require(about.contains("are_places") || data.space->coordinates.allFinite(),
                "{} holds NaN or infinite values: a space must be finite", data.space->name);
    }
    if (about.contains("phases")) { // of a loop, a column of obs
        data.cell_table.push_back({.name = about["phases_key"].cast<std::string>(),
                                   .values = about["phases"].cast<std::vector<double>>()});
    }
    if (about.contains("are_places")) {
        add_places(data, "obsm:");
    }
    if (about.contains("sample")) {
        add_samples(data, about["sample"].cast<std::vector<std::string>>());
    }
    if (about.contains("batch")) {
        add_batches(data, about["batch_key"].cast<std::string>(),
                    about["batch"].cast<std::vector<std::string>>());
    }
    return data;
}

py::object values_of(Dataset& data) {
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        return rows_of(std::move(*dense));
    }
    const auto& sparse = std::get<SparseMatrix<double>>(data.X);
    return py::make_tuple(array_of(sparse.value), array_of(sparse.row), array_of(sparse.start),
                          py::make_tuple(sparse.cols, sparse.rows));
}

/// As `uns` keeps it: see `result_file`.
py::object space_of(const Dataset& data) {
    if (!data.space) {
        return py::none();
    }
    py::dict space;
    space["name"] = data.space->name;
    space["coordinates"] = rows_of(Matrix(data.space->coordinates));
    if (data.space->downwards) {
        space["downwards"] = true;
    }
    if (data.space->unit_um) {
        space["unit_um"] = *data.space->unit_um;
    }
    if (data.space->slices) {
        const Slices& slices = *data.space->slices;
        py::dict of_space;
        of_space["names"] = py::array(py::cast(slices.names));
        of_space["of_cell"] =
            array_of(std::vector<std::int64_t>(slices.of_cell.begin(), slices.of_cell.end()));
        of_space["moved"] = array_of(slices.moved);
        space["slices"] = of_space;
    }
    if (data.space->components) {
        const PrincipalComponents& components = *data.space->components;
        space["directions"] = rows_of(Matrix(components.directions.transpose()));
        space["mean"] = array_of(std::vector<double>(components.mean.begin(), components.mean.end()));
        space["variance"] =
            array_of(std::vector<double>(components.variance.begin(), components.variance.end()));
    }
    return space;
}

/// Decides what is done with data, and does all of it but the fit. `asked`: what the user says about the
/// input, by the names of `AnalysisOptions`; `options`: of the fit; `about`: names and facts.
py::dict prepare_data(const py::object& X, const py::dict& asked, const py::dict& options,
                      const py::dict& about) {
    AnalysisOptions wanted = input_options_of(asked);
    wanted.fit = options_of(options);
    wanted.given = options_given(options);
    if (about.contains("batch")) {
        wanted.batch = about["batch_key"].cast<std::string>();
    }
    Dataset data = dataset_of(X, about);
    Analysis analysis = plan_analysis(data, wanted);
    prepare(data, analysis, wanted);
    const auto& left = std::get<std::vector<double>>(data.feature_table.front().values);
    const auto& cells = data.cell_names;
    py::dict result;
    result["kept"] = array_of(std::vector<std::int64_t>(left.begin(), left.end()));
    result["cells"] = cells;
    result["features"] = data.feature_names;
    result["record"] = to_json(data.input);
    result["transform"] = std::string(name_of(transform_of(data.input)));
    result["space"] = space_of(data);
    result["expression"] = data.expression ? py::object(rows_of(Matrix(*data.expression))) : py::none();
    result["preset"] = std::string(name_of(analysis.preset));
    result["precision"] = std::string(name_of(analysis.precision));
    result["options"] = options_dict(analysis.fit);
    py::list notices;
    for (const std::string& notice : data.notices) {
        notices.append(notice);
    }
    for (const Choice& one : analysis.choices) {
        const std::string option = one.option == "places" ? "spatial_key" : one.option;
        notices.append(option.empty() ? one.text : fmt::format("{} ({}= changes it)", one.text, option));
    }
    result["notices"] = notices;
    py::dict columns;             // of the cells, made on the way; `fit` takes them
    result["batch"] = py::none(); // what they are called, and that of each cell
    for (const TableColumn& column : data.cell_table) {
        if (column.name == batch_column) {
            result["batch"] =
                py::make_tuple(*data.input.batch, std::get<std::vector<std::string>>(column.values));
        } else if (column.name != sample_column && column.name != wanted.without_loop) {
            columns[column.name.c_str()] = array_of(std::get<std::vector<double>>(column.values));
        }
    }
    result["columns"] = columns;
    result["X"] = values_of(data);
    return result;
}

/// "counts", "expression", "logged" or "scaled".
std::string kind_of_values(const py::object& X, bool log_recorded) {
    Dataset data;
    data.X = copy_of(Cells(X));
    return std::string(name_of(recognise_values(data, {.log_recorded = log_recorded}).kind));
}

} // namespace

void bind_prepare(py::module_& module) {
    module.def("prepare", &prepare_data, py::arg("X"), py::arg("asked"), py::arg("options"),
               py::arg("about"));
    module.def("kind_of_values", &kind_of_values, py::arg("X"), py::arg("log_recorded"));
}

} // namespace pnmf::python
