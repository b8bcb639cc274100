#pragma once

#include <pnmf/solvers/fit.hpp>
#include <pnmf/solvers/memory.hpp>

#include <filesystem>
#include <string>

namespace pnmf {

/// Bytes from a text such as 16G, 1.5G, 800M or 2GiB; a letter stands for a power of 1000, with `i` of 1024.
/// InputError when it is none.
double parse_size(const std::string& text);

/// How a run is made to fit into its memory, and why.
struct MemoryPlan {
    double bytes = 0;          ///< the most the run will hold; 0: no limit was given
    bool bases_rest = false;   ///< bases rest in files, read and written in every sweep and at the end
    double file_bytes = 0;     ///< of these files
    double room_after = 2e9;   ///< free again after the last sweep
    bool keep_momentum = true; ///< false: the point before is not kept, so sweeps are plain descent
    bool keep_shifts = true;   ///< false: no sums over components either, so sweeps move single entries only
    std::string text;          ///< for the user, one line
};

/// How many scales the fit will have: a guess where few are to be found that stand for all.
template <class Real>
Index expected_scales(const PreparedFit<Real>& prepared);

/// The sizes of a prepared fit. `start_is_made`: from a decomposition of X. `nested`: the start goes through
/// levels, or a checkpoint is inside of one.
template <class Real>
FitSize fit_size(const PreparedFit<Real>& prepared, bool start_is_made, bool nested);

/// What a plan may do.
struct Allowed {
    bool files = true;     ///< bases may rest in files
    bool keep_less = true; ///< the point before and sums may be given up, which changes the sweeps
};

/// Fits a run into `limit` bytes, of which `held` are in use. InputError when it cannot: it says what would
/// help.
MemoryPlan plan_memory(double limit, double held, const FitSize& size, const SolverOptions& options,
                       Index bytes_of_number, int threads, const Allowed& allowed);

/// Whether files in this folder, or where it will be made, are on a disk and not in memory themselves.
bool is_on_disk(const std::filesystem::path& folder);

} // namespace pnmf
