#include "anndata.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "options.hpp"
#include "watch.hpp"

#include <pnmf/diagnostics/check.hpp>
#include <pnmf/io/preparation.hpp>
#include <pnmf/results/stored_result.hpp>

namespace pnmf::python {
namespace {

py::list to_python(const Findings& all) {
    py::list rows;
    for (const Finding& finding : all) {
        rows.append(py::make_tuple(finding.statement, finding.what, finding.measured, finding.bound,
                                   std::string(name_of(finding.verdict)), finding.note));
    }
    return rows;
}

/// Of data with these options, or, where `fit` is not None, of a fit as `anndata_file` takes it and its data.
py::list check(const py::object& X, const py::dict& options, const py::object& fit,
               std::optional<Index> most_intervals, std::optional<int> threads) {
    const Threads held(threads);
    const Cells cells(X);
    const CheckOptions chosen{.most_intervals = most_intervals};
    Findings all;
    if (fit.is_none()) {
        const FitOptions of_data = options_of(options);
        run_watched([&](const Reporter&) { all = check_data(cells.view(), of_data, chosen).findings; },
                    py::none());
    } else {
        const StoredResult result = stored_result(anndata_file(fit.cast<py::dict>()), "the fit");
        run_watched([&](const Reporter&) { all = check_result(result, cells.view(), chosen).findings; },
                    py::none());
    }
    return to_python(all);
}

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

} // namespace

void bind_check(py::module_& module) {
    module.def("check", &check, py::arg("X"), py::arg("options"), py::arg("fit"), py::arg("most_intervals"),
               py::arg("threads"));
    module.def("stored", &stored, py::arg("parts"), py::arg("name"));
}

} // namespace pnmf::python
