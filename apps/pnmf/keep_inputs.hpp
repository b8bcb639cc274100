#pragma once

#include <CLI/CLI.hpp>

namespace pnmf::cli {

/// Refuses a command line whose output would replace a file that the same command reads, whatever spelling or
/// link leads there: data, a result, the names and tables next to a matrix. It also refuses two outputs that
/// are one file, and a file in a folder that is not there. To be called when everything is parsed, before a
/// verb begins.
void keep_inputs(const CLI::App& program);

} // namespace pnmf::cli
