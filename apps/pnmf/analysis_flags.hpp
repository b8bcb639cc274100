#pragma once

#include "input_options.hpp"

#include <pnmf/results/preset.hpp>

#include <CLI/CLI.hpp>

#include <string>

/// What the verbs have in common that analyse data as a preset says: their flags, and the data made ready.
namespace pnmf::cli {

struct AnalysisFlags {
    InputOptions input;
    AnalysisOptions analysis; ///< what is asked for
    std::string preset = "auto";
    std::string precision; ///< empty: the preset's
    std::string normalize; ///< empty: the preset's
};

/// Adds INPUT and the flags that say how the data are read and prepared. `flags` must outlive the verb's
/// callback.
void add_analysis_flags(CLI::App& verb, AnalysisFlags& flags);
/// Adds --space, for verbs that measure distances.
/// --places and --sample, for cells in a tissue.
void add_tissue_flags(CLI::App& verb, AnalysisFlags& options);
void add_space_flag(CLI::App& verb, AnalysisFlags& flags);

/// What the flags say, and which options of the fit they set.
AnalysisOptions analysis_options(const AnalysisFlags& flags, const CLI::App& verb);

/// The data and what will be done with them.
struct Work {
    Dataset data;
    Analysis analysis;
    double reading = 0.0; ///< seconds
};

/// Reads the data, decides what is done with them, prepares them, and says so on stderr. `flags.analysis` is
/// what `analysis_options` gave. With several ranks each keeps the values of its own cells.
Work read_work(const AnalysisFlags& flags);

} // namespace pnmf::cli
