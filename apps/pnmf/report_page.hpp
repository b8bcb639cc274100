#pragma once

#include <pnmf/report/report.hpp>

#include <filesystem>

namespace pnmf::cli {

/// Writes the page of a finished run. A page that cannot be written costs no result: a warning on stderr, and
/// false.
bool write_page(const std::filesystem::path& page, const ReportSource& source);

} // namespace pnmf::cli
