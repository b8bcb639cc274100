/// The module pnmf._core: the library's functions on NumPy arrays and the parts of CSR matrices, cells as
/// rows. Checks and defaults of the Python side stand in the package; here nothing is converted unseen.
#include "module.hpp"

#include <pnmf/error.hpp>
#include <pnmf/solvers/option_list.hpp>
#include <pnmf/version.hpp>

#include <algorithm>
#include <string>

namespace py = pybind11;

namespace {

/// What the library's message asks for, in the words of this package; empty where there are none.
const char* hint_for(pnmf::Remedy remedy) {
    switch (remedy) {
    case pnmf::Remedy::drop_empty_cells:
        return "adata[adata.X.sum(axis=1) > 0] does that";
    case pnmf::Remedy::same_precision:
        return "precision=\"double\" or precision=\"float\"";
    case pnmf::Remedy::need_less_memory:
        return "these need less: neighbors, max_scales, rank, threads, precision=\"float\"";
    case pnmf::Remedy::keep_bases:
        return "save_basis=True keeps them";
    case pnmf::Remedy::overwrite:
        return "take another folder";
    case pnmf::Remedy::resume_or_overwrite:
        return "resume=True continues it; remove the file to start again";
    case pnmf::Remedy::none:
    case pnmf::Remedy::choose_layer:
        return "layer=NAME takes another matrix of the AnnData";
    case pnmf::Remedy::choose_variable:
    case pnmf::Remedy::other_cell_axis:
        break;
    }
    return "";
}

/// The message with options named as keyword arguments: max_sweeps, not max-sweeps.
std::string with_keywords(std::string message) {
    pnmf::FitOptions options;
    pnmf::visit_options(options, [&](const std::string& name, const auto&, const char*) {
        if (name.find('-') == std::string::npos) {
            return;
        }
        for (auto at = message.find(name); at != std::string::npos; at = message.find(name, at)) {
            std::replace(message.begin() + static_cast<std::ptrdiff_t>(at),
                         message.begin() + static_cast<std::ptrdiff_t>(at + name.size()), '-', '_');
        }
    });
    return message;
}

std::string message_of(const pnmf::InputError& error) {
    std::string message = with_keywords(error.what());
    if (const auto* known = dynamic_cast<const pnmf::RemediableError*>(&error)) {
        if (const std::string hint = hint_for(known->remedy()); !hint.empty()) {
            message += "; " + hint;
        }
    }
    return message;
}

void translate(std::exception_ptr thrown) {
    try {
        if (thrown) {
            std::rethrow_exception(thrown);
        }
    } catch (const pnmf::InputError& e) {
        PyErr_SetString(PyExc_ValueError, message_of(e).c_str());
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
    pnmf::python::bind_prepare(module);
    pnmf::python::bind_persistence(module);
    pnmf::python::bind_metrics(module);
    pnmf::python::bind_simulate(module);
    pnmf::python::bind_stored(module);
}
