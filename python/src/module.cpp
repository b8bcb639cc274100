/// The module pnmf._core: the library's functions on NumPy arrays and the parts of CSR matrices, cells as
/// rows. Checks and defaults of the Python side stand in the package; here nothing is converted unseen.
#include "module.hpp"

#include <pnmf/error.hpp>

#include <cstdio>

namespace py = pybind11;

namespace {

void translate(std::exception_ptr thrown) {
    try {
        if (thrown) {
            std::rethrow_exception(thrown);
        }
    } catch (const pnmf::InputError& e) {
        PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const pnmf::SystemError& e) {
        PyErr_SetString(PyExc_OSError, e.what());
    }
}

} // namespace

PYBIND11_MODULE(_core, module) {
    module.attr("__version__") = PNMF_VERSION;
    py::register_exception_translator(&translate);
    module.def("thread_count", &pnmf::thread_count);
    pnmf::python::bind_check(module);
    pnmf::python::bind_fit(module);
    pnmf::python::bind_persistence(module);
    pnmf::python::bind_metrics(module);
    pnmf::python::bind_simulate(module);
}
