#pragma once

#include <pnmf/solvers/fit.hpp>
#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// What a checkpoint belongs to: a checksum of the data and the options that shape the iterates, a line each.
/// Stopping rules are left out, so that a run may be continued further than it was meant to go.
/// `space`: the points that tree and graphs come from, where they are not the columns of X.
std::string run_fingerprint(const FitOptions& options, const DataView& X, const Matrix* space = nullptr,
                            const std::optional<CellRange>& local = {});
std::string run_fingerprint(const FitOptions& options, const DataValues& X, const Matrix* space = nullptr);

/// A line for the order in which a fit works on its cells, which checkpoints have; none for that of the data.
std::string order_fingerprint(const FitOrder& order);

/// Saves a run so that `load_checkpoint` continues it, with a bit-identical result.
///
/// The file appears whole or not at all: whenever the program is killed, the old one or the new one is there.
/// `fingerprint` says what the run belongs to (data and options, a line each); loading checks it. Everything
/// is covered by a checksum. SystemError when the disk refuses. `kept`: positions of the scales of the run
/// among all, where few stand for all (`KeptScales`).
///
/// `held`: the cells whose columns of H this process has, where processes hold some each. Then all processes
/// call this, and the first process writes the columns of one process after the other as they arrive. The
/// file is that of one process.
template <class Real>
void save_checkpoint(const std::filesystem::path& path, const SolverState<Real>& state,
                     const std::string& fingerprint, const std::vector<Index>& kept = {},
                     const std::optional<CellRange>& held = {});

/// The same for a run whose start is still being made.
template <class Real>
void save_checkpoint(const std::filesystem::path& path, const StartState<Real>& start,
                     const std::string& fingerprint, const std::optional<CellRange>& held = {});

/// The fingerprint it was saved with. InputError when the file is missing, or no checkpoint of this version.
std::string checkpoint_fingerprint(const std::filesystem::path& path);

/// Whether the run was saved while its start was being made. InputError as above.
bool saved_in_start(const std::filesystem::path& path);

/// InputError when the file is missing, damaged, saved in the start, of another precision, or belongs to
/// other data or options. With a folder, bases will rest in a file there.
template <class Real>
SolverState<Real> load_checkpoint(const std::filesystem::path& path, const std::string& fingerprint,
                                  const std::filesystem::path& bases_in = {});

/// The same of any checkpoint; `scales` is 0 when the start was done. With `held`, H of these cells alone:
/// whoever wrote the file, each process takes its own.
template <class Real>
StartState<Real> load_start(const std::filesystem::path& path, const std::string& fingerprint,
                            const std::filesystem::path& bases_in = {},
                            const std::optional<CellRange>& held = {});

} // namespace pnmf
