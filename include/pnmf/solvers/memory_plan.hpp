#pragma once

#include <pnmf/solvers/fit.hpp>
#include <pnmf/solvers/solver.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

namespace pnmf {

/// Components of the graphs as processes hold them, over all scales. One that is inside a block of cells is
/// on the process that has the block; the others, *wide* ones, are on every process
/// (src/devices/cpu/shift_forest.hpp).
struct SharedComponents {
    Index narrow = 0; ///< of the process that has the most
    Index wide = 0;
    Index slots = 0; ///< pairs of a wide component and a node of the tree of blocks with cells of it, at most
};

/// Sizes of a fit that its memory depends on.
struct FitSize {
    Index features = 0;
    Index cells = 0;
    Index scales = 0;
    Index rank = 0;
    bool dense = false;        ///< X has every entry stored
    bool nested = false;       ///< the start is nested: factors of two levels are in memory at the same time
    bool seeded = true;        ///< the start is made from a decomposition of X, and not read
    Index edges = 0;           ///< of the largest graph of one scale; n(n − 1)/2 for all pairs
    Index components = 0;      ///< Σ_t β₀(t)
    Index processes = 1;       ///< processes that share the cells
    bool local = false;        ///< each of them holds X of its own cells alone
    double entries = 0;        ///< stored in X, for all cells
    bool data_on_host = false; ///< a device reads a copy of X from here
    /// With several processes; none: as if each had all components.
    std::optional<SharedComponents> of_process{};

    /// With another number of scales: each has an equal share of the components.
    FitSize with_scales(Index count) const {
        FitSize other = *this;
        const Index before = std::max<Index>(scales, 1);
        other.scales = count;
        other.components = components / before * count;
        if (other.of_process) {
            other.of_process = {.narrow = of_process->narrow / before * count,
                                .wide = of_process->wide / before * count,
                                .slots = of_process->slots / before * count};
        }
        return other;
    }
};

/// Bytes that a solver and its start hold at most, beside the data and what the graphs of all scales share.
/// With several processes: the process that has the most cells.
struct SolverMemory {
    double factors = 0;  ///< W_t and H_t; where X is local, H of this process's cells
    double before = 0;   ///< the point before, for the momentum of `stationary`
    double slab = 0;     ///< several processes that have all of X: the factors that sweeps work on
    double products = 0; ///< WᵀX, WᵀW, HA and degrees of every scale
    double shifts = 0;   ///< sums over the components of every scale
    double work = 0;     ///< of the threads: XHᵀ, and the graph of one scale
    double coarser = 0;  ///< factors of the coarser level, while finer ones are interpolated from them, and X
                         ///< in single precision beside them
    double seeding = 0;  ///< the decomposition that the first pair is made from, before all else
    double whole = 0;    ///< several processes: what needs all cells of one scale, in start and assessment
    double result = 0;   ///< names, tables and merges while the result is made, when sweeps have given theirs
                         ///< back

    double total() const {
        const double sweeps = std::max(before + slab + products + shifts, coarser) + work;
        return std::max(seeding, factors + std::max(sweeps, whole));
    }
    /// What is free again when the last sweep is done.
    double freed() const { return total() - factors; }
    /// Of these, where large arrays are out of core: what stays in memory.
    SolverMemory beside_files() const { return {.work = std::max(work, result), .whole = whole}; }
};

/// `bases_rest`: in a file, but for those the threads work on (`Factors`).
SolverMemory solver_memory(const FitSize& size, const SolverOptions& options, Index bytes_of_number,
                           int threads, bool bases_rest = false);

/// Bytes from a text such as 16G, 1.5G, 800M or 2GiB; a letter stands for a power of 1000, with `i` of 1024.
/// InputError when it is none.
double parse_size(const std::string& text);

/// How a run is made to fit into its memory, and why.
struct MemoryPlan {
    double bytes = 0;          ///< the most the run will hold; 0: no limit was given
    bool bases_rest = false;   ///< bases rest in files, read and written in every sweep and at the end
    double file_bytes = 0;     ///< of these files
    double free_after = 2e9;   ///< free again after the last sweep
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
    bool files = true;        ///< bases may rest in files
    bool keep_less = true;    ///< the point before and sums may be given up, which changes the sweeps
    bool out_of_core = false; ///< large arrays are in files already
};

/// Fits a run into `limit` bytes, of which `held` are in use. InputError when it cannot: it says what would
/// help.
MemoryPlan plan_memory(double limit, double held, const FitSize& size, const SolverOptions& options,
                       Index bytes_of_number, int threads, const Allowed& allowed);

/// Whether files in this folder, or where it will be made, are on a disk and not in memory themselves.
bool is_on_disk(const std::filesystem::path& folder);

} // namespace pnmf
