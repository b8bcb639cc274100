#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/run/run.hpp>

#include <string>

namespace pnmf {

/// A run in short, as a JSON object: sizes, objective and certificate, recommended scale, options, notices
/// and warnings, precision, `seconds` and `seconds_of` its stages, `peak_bytes`, and with a limit of memory
/// `planned_bytes` and `file_bytes`; `processes` and `bytes_moved` between them.
template <RealNumber Real>
std::string summary_json(const Run<Real>& run);

/// Writes a result, and `summary` beside it, into a run's folder. What stood there is replaced when both new
/// files are whole.
///
/// When the disk refuses, the result goes to the folder for temporary files, if that takes it; the
/// SystemError says where it is. When the file that parts are kept from (`AnnDataFile::kept_from`) cannot be
/// read, the result is written without them, and a sentence that says so is returned; else nothing.
std::string save_result(const RunFolder& folder, AnnDataFile result, const std::string& summary);

/// `save_result` of a run, whose checkpoint is then removed.
template <RealNumber Real>
std::string save_run(const RunFolder& folder, const Dataset& data, const Run<Real>& run,
                     const ResultFileOptions& options, const std::string& summary);

} // namespace pnmf
