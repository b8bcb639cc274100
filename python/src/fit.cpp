#include "anndata.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "options.hpp"
#include "watch.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/results/assess_fit.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/run.hpp>
#include <pnmf/solvers/embed.hpp>
#include <pnmf/solvers/fit.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace pnmf::python {
namespace {

Observer observer_of(const Reporter& report, Index max_sweeps) {
    Observer observer;
    observer.sweep = [&report, max_sweeps](const SweepReport& sweep) {
        report({"sweeping", sweep.sweep, max_sweeps, sweep.objective.total(), sweep.residual.certificate()});
        return true;
    };
    observer.starting = [&report, max_sweeps] {
        report({.phase = "starting", .max_sweeps = max_sweeps});
        return true;
    };
    return observer;
}

/// What the program would write, and the bases.
template <class Real>
py::dict parts_of(const PreparedFit<Real>& prepared, FitResult<Real>& result, const Assessment& assessment,
                  const ResultFileOptions& options = {}) {
    py::dict parts = anndata_parts(result_file(Dataset{}, prepared, result, assessment, options));
    py::list bases;
    for (DenseMatrix<Real>& W : result.factors.W) {
        bases.append(rows_of(std::move(W)));
    }
    parts["W"] = bases;
    parts["notices"] = prepared.notices;
    parts["rank"] = prepared.rank;
    return parts;
}

void check_clusters(std::optional<Index> clusters, Index cells) {
    require(!clusters || (*clusters >= 1 && *clusters <= cells),
            "clusters must be between 1 and the number of cells, {}, got {}", cells, clusters.value_or(0));
}

template <class Real>
py::dict fit_in(const py::object& X, const FitOptions& options, std::optional<Index> clusters,
                const py::object& callback) {
    const Cells cells(X);
    const SolverOptions& solver = options.solver;
    const Index max_sweeps = solver.max_sweeps.value_or(default_max_sweeps(solver));
    Run<Real> run;
    std::chrono::duration<double> seconds{};
    run_watched(
        [&](const Reporter& report) {
            const auto began = std::chrono::steady_clock::now();
            report({.phase = "preparing"});
            run = run_fit<Real>(cells.view(), {.fit = options, .clusters = clusters},
                                observer_of(report, max_sweeps));
            seconds = std::chrono::steady_clock::now() - began;
        },
        callback);
    py::dict parts = parts_of(run.prepared, run.result, run.assessment);
    parts["seconds"] = seconds.count();
    return parts;
}

py::dict fit_any(const py::object& X, const py::dict& options, std::optional<Index> clusters,
                 const std::string& precision, std::optional<int> threads, const py::object& callback) {
    const Threads held(threads);
    if (precision == "float") {
        return fit_in<float>(X, options_of(options), clusters, callback);
    }
    require(precision == "double", "precision must be double or float, got {}", precision);
    return fit_in<double>(X, options_of(options), clusters, callback);
}

template <class Real>
py::dict baseline_in(const py::object& X, const BaselineFitOptions& options, std::optional<Index> clusters,
                     const py::object& callback) {
    const Cells cells(X);
    check_clusters(clusters, cells.count());
    Assessment assessment;
    PreparedFit<Real> prepared;
    FitResult<Real> result;
    run_watched(
        [&](const Reporter& report) {
            report({.phase = "preparing"});
            prepared = prepare_baseline<Real>(cells.view(), options);
            result = solve_baseline(prepared, options, observer_of(report, options.max_steps.value_or(1000)));
            assessment = assess_fit(prepared, result, {.clusters = clusters, .seed = options.seed});
        },
        callback);
    return parts_of(prepared, result, assessment,
                    {.method = std::string(name_of(options.graph.method)), .options = options_json(options)});
}

py::dict baseline_any(const py::object& X, const std::string& method, const py::dict& options,
                      std::optional<Index> clusters, const std::string& precision, std::optional<int> threads,
                      const py::object& callback) {
    const Threads held(threads);
    const BaselineFitOptions chosen = baseline_options_of(method, options);
    require(precision == "double" || precision == "float", "precision must be double or float, got {}",
            precision);
    return precision == "float" ? baseline_in<float>(X, chosen, clusters, callback)
                                : baseline_in<double>(X, chosen, clusters, callback);
}

/// Cells × features and the basis, rank × features, to cells × rank.
py::dict embed(const py::object& X, const Array& basis, double lambda3, std::optional<int> threads) {
    const Threads held(threads);
    const Cells cells(X);
    const Matrix W = columns_of(basis);
    require(W.rows() == cells.features(), "X must have the {} features of the fit, got {}", W.rows(),
            cells.features());
    EmbeddedCells<double> embedded;
    run_watched(
        [&](const Reporter&) {
            const auto data =
                std::visit([](const auto& view) { return DataMatrix<double>(view); }, cells.view());
            embedded = embed_cells(data, W, {.graph = 0.0, .smoothness = 0.0, .anchor = lambda3});
        },
        py::none());
    py::dict result;
    result["H"] = rows_of(std::move(embedded.H));
    result["converged"] = embedded.converged;
    result["residual"] = embedded.residual;
    result["relative_error"] = embedded.relative_error;
    return result;
}

/// What the program does to data before a fit: (X, positions of the features kept, notices).
py::tuple prepare_cells(const py::object& X, const std::string& transform,
                        std::vector<std::string> cell_names, std::vector<std::string> feature_names) {
    require(transform == "none" || transform == "log-unit", "transform must be none or log-unit, got {}",
            transform);
    const Cells cells(X);
    Dataset data;
    const DataView view = cells.view();
    if (const auto* dense = std::get_if<DenseView<double>>(&view)) {
        data.X = Matrix(*dense);
    } else {
        const auto& sparse = std::get<SparseView<double>>(view);
        check_structure(sparse);
        SparseMatrix<double> copy;
        copy.rows = sparse.rows;
        copy.cols = sparse.cols;
        copy.start.assign(sparse.start.begin(), sparse.start.end());
        copy.row.assign(sparse.row.begin(), sparse.row.end());
        copy.value.assign(sparse.value.begin(), sparse.value.end());
        data.X = std::move(copy);
    }
    data.cell_names = std::move(cell_names);
    data.feature_names = feature_names;
    prepare(data, {.transform = transform == "none" ? Transform::none : Transform::log_unit});
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0, k = 0; i < feature_names.size() && k < data.feature_names.size(); ++i) {
        if (feature_names[i] == data.feature_names[k]) {
            kept.push_back(static_cast<std::int64_t>(i));
            ++k;
        }
    }
    py::object values;
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        values = rows_of(std::move(*dense));
    } else {
        const auto& sparse = std::get<SparseMatrix<double>>(data.X);
        values = py::make_tuple(array_of(sparse.value), array_of(sparse.row), array_of(sparse.start),
                                py::make_tuple(sparse.cols, sparse.rows));
    }
    return py::make_tuple(values, array_of(kept), data.notices);
}

} // namespace

void bind_fit(py::module_& module) {
    module.def("options", &list_options);
    module.def("fit", &fit_any, py::arg("X"), py::arg("options"), py::arg("clusters"), py::arg("precision"),
               py::arg("threads"), py::arg("callback"));
    module.def("baseline", &baseline_any, py::arg("X"), py::arg("method"), py::arg("options"),
               py::arg("clusters"), py::arg("precision"), py::arg("threads"), py::arg("callback"));
    module.def("embed", &embed, py::arg("X"), py::arg("basis").noconvert(), py::arg("lambda3"),
               py::arg("threads"));
    module.def("prepare", &prepare_cells, py::arg("X"), py::arg("transform"), py::arg("cell_names"),
               py::arg("feature_names"));
}

} // namespace pnmf::python
