#pragma once

#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/solvers/fit.hpp>

#include <string>

namespace pnmf {

/// The options of a fit and their values as JSON, in the order of `visit_options`; what was chosen
/// automatically is null.
std::string options_json(const FitOptions& options);
std::string options_json(const BaselineFitOptions& options);

/// The same back, through the same list. An option that the text does not name keeps its default: results of
/// older versions lack the options that came later. InputError when the text is not such JSON, a value is
/// none of those known, or an option is none of ours.
FitOptions fit_options_from_json(const std::string& text);

} // namespace pnmf
