#pragma once

#include <pnmf/solvers/option_list.hpp>

#include <pybind11/pybind11.h>

namespace pnmf::python {

/// A fit's options from a dictionary whose keys are the names of `visit_options` with `_` for `-`.
/// InputError names the option that is unknown, or has a value of the wrong kind.
FitOptions options_of(const pybind11::dict& values);

/// (name, kind, default, choices, what it is) of each option, in order.
pybind11::list list_options();

} // namespace pnmf::python
