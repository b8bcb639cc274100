#pragma once

#include <pnmf/diagnostics/check.hpp>

#include <string>

namespace pnmf::cli {

/// What a check found, as a table to read.
std::string to_table(const CheckReport& report);
/// The same as JSON; `path` is what was checked, `data` the data beside it, empty for none.
std::string to_json_text(const CheckReport& report, const std::string& path, const std::string& data);

} // namespace pnmf::cli
