#include "anndata.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "options.hpp"
#include "watch.hpp"

#include <pnmf/diagnostics/check.hpp>
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

} // namespace

void bind_check(py::module_& module) {
    module.def("check", &check, py::arg("X"), py::arg("options"), py::arg("fit"), py::arg("most_intervals"),
               py::arg("threads"));
}

} // namespace pnmf::python
