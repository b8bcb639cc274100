#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/run/run.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace pnmf {

/// What the types of cells in a tissue depend on, a line each.
std::string types_fingerprint(const DataView& X, const TissueRun& tissue,
                              const std::optional<Index>& clusters);

/// Keeps the types that a run found: their number, the ways to divide the cells, and what was said.
void save_types(const std::filesystem::path& path, const std::string& fingerprint, const Assessment& types);

/// The same back. Nothing where the file is missing, damaged, or of other data or options:
/// types are then found anew.
std::optional<Assessment> load_types(const std::filesystem::path& path, const std::string& fingerprint);

} // namespace pnmf
