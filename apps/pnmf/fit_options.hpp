#pragma once

#include <pnmf/solvers/fit.hpp>

#include <CLI/CLI.hpp>

namespace pnmf::cli {

/// Adds a flag for each option of a fit, from the one list of them. `options` must outlive the verb's
/// callback.
void add_fit_options(CLI::App& verb, FitOptions& options);

} // namespace pnmf::cli
