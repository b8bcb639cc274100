#pragma once

#include <pnmf/analysis/preset.hpp>

#include <CLI/CLI.hpp>

#include <set>
#include <string>
#include <vector>

/// What the verbs have in common that take data: their flags, and the data made ready.
namespace pnmf::cli {

struct InputFlags {
    std::string path;
    AnalysisOptions analysis; ///< what is asked for
};

/// Options of `visit_input_options`, for more and more of what can be done with data.
using OptionNames = std::set<std::string>;
extern const OptionNames of_reading;   ///< where cells and values are in the file
extern const OptionNames of_preparing; ///< those, and what is done to the values
extern const OptionNames of_distances; ///< those, and what tree, scales and graphs come from

/// Adds INPUT, by whatever `name`, and a flag for each of these options. `flags` must outlive the verb's
/// callback.
void add_input_flags(CLI::App& verb, InputFlags& flags, const OptionNames& options,
                     const std::string& name = "INPUT");
/// A flag for each option of a fit, or for those named alone; their values become `flags.analysis.given`.
void add_fit_flags(CLI::App& verb, InputFlags& flags, const OptionNames& options = {});

/// InputError when one of these flags was given, but for those of `used`, which `why` forbids: "--points".
void refuse_flags(const CLI::App& verb, const OptionNames& options, const OptionNames& used,
                  const std::string& why);

/// The data and what will be done with them.
struct Work : PlannedData {
    double reading = 0.0; ///< seconds
};

/// `read_planned`, and says what was chosen on stderr. With several processes each keeps the values of its
/// own cells.
Work read_work(const InputFlags& flags, const CLI::App& verb);

/// Reads without preparing: values and names are as in the file. Says nothing.
Dataset read_only(const InputFlags& flags);

/// Prints each notice as a line on stderr.
void print_notices(const std::vector<std::string>& notices);

} // namespace pnmf::cli
