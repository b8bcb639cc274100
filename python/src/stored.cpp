/// What is done with a stored result; `parts` is what `anndata_file` takes.
#include "anndata.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "watch.hpp"

#include <pnmf/assess/programs.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/io/preparation.hpp>
#include <pnmf/report/report.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/results/transform_cells.hpp>
#include <pnmf/version.hpp>

#include <limits>

namespace pnmf::python {
namespace {

/// What a stored result says, as `StoredResult` reads it, without H and W; `cells` is the position in the fit
/// of each cell, None where they are the same in the same order.
py::dict stored(const py::dict& parts, const std::string& name) {
    const StoredResult result = stored_result(anndata_file(parts), name);
    py::dict read;
    const auto numbers = [](const std::vector<double>& values) -> py::object {
        return values.empty() ? py::object(py::none()) : py::object(array_of(values));
    };
    read["method"] = result.method;
    read["epsilon"] = numbers(result.epsilon);
    read["betti0"] = result.betti0.empty() ? py::object(py::none()) : py::object(array_of(result.betti0));
    read["deaths"] = numbers(result.deaths);
    read["penalty"] =
        array_of(std::vector<double>{result.penalty.graph, result.penalty.smoothness, result.penalty.anchor});
    read["precision"] = std::string(name_of(result.precision));
    read["recommended"] = result.recommended;
    read["cluster_count"] = result.cluster_count ? py::cast(*result.cluster_count) : py::none();
    read["stop"] = result.stop;
    read["command"] = result.command;
    read["warnings"] = result.warnings;
    read["notices"] = result.notices;
    read["notice"] = result.order.notice;
    read["input"] = to_json(result.input);
    read["transform"] = std::string(name_of(transform_of(result.input)));
    read["features"] = result.features;
    read["cells"] = result.order.position.empty() ? py::object(py::none()) : array_of(result.order.position);
    read["cells_of_fit"] = result.order.of_fit;
    read["whole"] = result.order.whole;
    return read;
}

/// Cells with names, prepared as those of the fit were: (X, names of cells, names of features); where they
/// are to get neighbours, with their coordinates in its space.
RecordedData prepared_as(const StoredResult& result, const py::tuple& cells,
                         std::optional<std::string> transform, bool drop_empty_cells, bool neighbors = false,
                         Index most_others = 0) {
    require(cells.size() == 3, "cells are (X, names of cells, names of features)");
    RecordedData fresh;
    fresh.data.X = copy_of(Cells(cells[0]));
    fresh.data.cell_names = cells[1].cast<std::vector<std::string>>();
    fresh.data.feature_names = cells[2].cast<std::vector<std::string>>();
    InputRecord record = result.input;
    if (transform) {
        set_transform(record, transform_from(*transform));
    }
    fresh.match = apply_steps(
        fresh.data, record.steps,
        {.features = result.features,
         .drop_empty_cells = drop_empty_cells,
         .space = neighbors && result.space && result.space->components ? &*result.space : nullptr,
         .most_others = most_others});
    return fresh;
}

/// New cells at some scales of a fit with its bases; `data_of_fit`, None or cells as above, adds its graph.
py::dict transform_result(const py::dict& parts, const py::tuple& cells, const std::vector<Index>& scales,
                          const py::object& data_of_fit, std::optional<std::string> transform,
                          bool drop_empty_cells, std::optional<int> threads) {
    const Threads held(threads);
    const StoredResult result = stored_result(anndata_file(parts), "the fit");
    const RecordedData fresh =
        prepared_as(result, cells, std::move(transform), drop_empty_cells, !data_of_fit.is_none());
    std::optional<RecordedData> of_fit;
    if (!data_of_fit.is_none()) {
        of_fit = prepared_as(result, data_of_fit.cast<py::tuple>(), std::nullopt, true);
        require(of_fit->match.missing.empty() && of_fit->data.cell_names == result.file.cell_names,
                "these are not the data of the fit: its genes or the names or order of its cells differ");
    }
    std::vector<TransformedScale> transformed;
    run_watched(
        [&](const Reporter&) {
            transformed = transform_cells(result, fresh.data, scales, of_fit ? &of_fit->data : nullptr);
        },
        py::none());
    py::list at_scales;
    for (TransformedScale& one : transformed) {
        py::dict scale;
        scale["scale"] = one.scale;
        scale["epsilon"] = one.epsilon;
        scale["H"] = rows_of(std::move(one.cells.H));
        scale["converged"] = one.cells.converged;
        scale["residual"] = one.cells.residual;
        scale["relative_error"] = one.cells.relative_error;
        scale["with_neighbours"] = one.with_neighbours;
        at_scales.append(scale);
    }
    py::dict read;
    read["scales"] = at_scales;
    read["cells"] = fresh.data.cell_names;
    read["missing"] = fresh.match.missing;
    read["ignored"] = fresh.match.extra;
    read["notices"] = fresh.data.notices;
    return read;
}

/// Paths of a fit (`find_paths`). `groups`: the group of each cell, and `names` of the groups in their order;
/// `cells`: the data of the fit as for `transform_result`, or None.
py::dict paths_of(const py::dict& parts, const std::string& column, const std::vector<std::string>& groups,
                  const std::vector<std::string>& names, const std::string& root,
                  const std::vector<std::string>& ends, double direction, const py::object& cells,
                  std::optional<int> threads) {
    const Threads held(threads);
    AnnDataFile file = anndata_file(parts);
    file.cell_table.push_back({.name = column, .values = groups, .categorical = true, .categories = names});
    const StoredResult result = stored_result(std::move(file), "the fit");
    std::optional<RecordedData> data;
    if (!cells.is_none()) {
        data = prepared_as(result, cells.cast<py::tuple>(), std::nullopt, true);
        require(data->match.missing.empty() && data->data.cell_names == result.file.cell_names,
                "these are not the data of the fit: its genes or the names or order of its cells differ");
    }
    StoredPaths paths;
    run_watched(
        [&](const Reporter&) {
            paths = find_paths(
                result, {.root = root, .ends = ends, .groups = column, .fates = {.direction = direction}},
                data ? &data->data : nullptr);
        },
        py::none());
    py::dict found;
    found["root"] = paths.root;
    found["ends"] = paths.ends;
    found["time"] = array_of(std::vector<double>(paths.time.begin(), paths.time.end()));
    found["fates"] = rows_of(std::move(paths.fates.probability));
    found["converged"] = paths.fates.converged;
    found["sweeps"] = paths.fates.sweeps;
    return found;
}

/// The page of a result, and the file beside it with genes that do not fit, which may be empty. `columns` of
/// the cells: numbers or texts by name; `basis`, rank × features, of the recommended scale, or None; `cells`:
/// the data of the fit as for `transform_result`, or None.
py::tuple page_of(const py::dict& parts, const py::dict& columns, const std::optional<Array>& basis,
                  const py::object& cells, const std::string& name) {
    AnnDataFile file = anndata_file(parts);
    for (const auto& [column, values] : columns) {
        TableColumn table{.name = column.cast<std::string>()};
        if (py::isinstance<py::list>(values)) {
            table.values = values.cast<std::vector<std::string>>();
            table.categorical = true;
        } else {
            table.values = values.cast<std::vector<double>>();
        }
        file.cell_table.push_back(std::move(table));
    }
    if (basis) {
        file.varm["pnmf_W"] = columns_of(*basis);
    }
    const StoredResult result = stored_result(std::move(file), name);
    ReportSource source{.result = &result, .name = name};
    std::optional<RecordedData> data;
    if (!cells.is_none()) {
        data = prepared_as(result, cells.cast<py::tuple>(), std::nullopt, true, false,
                           std::numeric_limits<Index>::max()); // the page can have all genes
        source.data = &data->data;
    }
    const ReportFiles files = report_files({source}, {.program = std::string("pnmf ") + PNMF_VERSION});
    return py::make_tuple(files.html, py::bytes(files.genes));
}

/// Gene sets of a .gmt file among the best genes of programs; `scores` is programs × genes.
py::dict enriched(const Array& scores, const std::vector<std::string>& genes, const std::string& path,
                  Index best, Index smallest_set) {
    const Matrix by_gene = columns_of(scores);
    require(by_gene.rows() == std::ssize(genes), "there are {} genes and scores of {}", genes.size(),
            by_gene.rows());
    const std::vector<GeneSet> sets = read_gene_sets(path);
    const std::vector<Enrichment> found = enriched_sets(by_gene.cast<float>(), positions_of_sets(sets, genes),
                                                        {.best = best, .smallest_set = smallest_set});
    py::dict table;
    for (const char* column : {"program", "set", "overlap", "size", "p_value", "adjusted", "genes"}) {
        table[column] = py::list();
    }
    const auto add = [&](const char* column, const py::object& value) {
        table[column].cast<py::list>().append(value);
    };
    for (const Enrichment& one : found) {
        std::vector<std::string> names;
        for (const Index gene : one.genes) {
            names.push_back(genes[static_cast<std::size_t>(gene)]);
        }
        add("program", py::cast(one.program));
        add("set", py::cast(sets[static_cast<std::size_t>(one.set)].name));
        add("overlap", py::cast(std::ssize(one.genes)));
        add("size", py::cast(one.size));
        add("p_value", py::cast(one.p_value));
        add("adjusted", py::cast(one.adjusted));
        add("genes", py::cast(names));
    }
    return table;
}

} // namespace

void bind_stored(py::module_& module) {
    module.def("stored", &stored, py::arg("parts"), py::arg("name"));
    module.def("report", &page_of, py::arg("parts"), py::arg("columns"), py::arg("basis"), py::arg("cells"),
               py::arg("name"));
    module.def("paths", &paths_of, py::arg("parts"), py::arg("column"), py::arg("groups"), py::arg("names"),
               py::arg("root"), py::arg("ends"), py::arg("direction"), py::arg("cells"), py::arg("threads"));
    module.def("enriched", &enriched, py::arg("scores"), py::arg("genes"), py::arg("path"), py::arg("best"),
               py::arg("smallest_set"));
    module.def("transform_result", &transform_result, py::arg("parts"), py::arg("cells"), py::arg("scales"),
               py::arg("data_of_fit"), py::arg("transform"), py::arg("drop_empty_cells"), py::arg("threads"));
}

} // namespace pnmf::python
