#pragma once

#include <pnmf/analysis/preset.hpp>
#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/solvers/option_list.hpp>

#include <pybind11/pybind11.h>

#include <set>
#include <string>

namespace pnmf::python {

/// A fit's options from a dictionary whose keys are the names of `visit_options` with `_` for `-`.
/// InputError names the option that is unknown, or has a value of the wrong kind.
FitOptions options_of(const pybind11::dict& values);

/// The same back, every option with its value.
pybind11::dict options_dict(const FitOptions& options);

/// The options that a dictionary sets to something, by the names of `visit_options`.
std::set<std::string> options_given(const pybind11::dict& values);

/// The same for a baseline, "nmf", "gnmf", "tnmf" or "ktnmf", with `visit_baseline_options`; what is not
/// given is as published.
BaselineFitOptions baseline_options_of(const std::string& method, const pybind11::dict& values);

/// What is asked about the input, by the names of `visit_input_options` in the same way; None: not said.
AnalysisOptions input_options_of(const pybind11::dict& values);

/// (name, kind, default, choices, what it is) of each option of a "fit" and of an "input", in order.
pybind11::dict list_options();

} // namespace pnmf::python
