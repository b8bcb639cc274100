#pragma once

#include "cells/cell_blocks.hpp"
#include "persistence/pair_searcher.hpp"
#include "solvers/backend.hpp"
#include "solvers/chain.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/solvers/solver.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace pnmf {

/// What is known of a device before anything is put on it.
struct DeviceFacts {
    bool built = false; ///< this build has code for it
    bool found = false; ///< and this machine has one that can be used
    std::string name{};
    std::string reason{};    ///< why it cannot be used
    double free_bytes = 0.0; ///< of its memory
    double total_bytes = 0.0;
    int sharing = 1; ///< processes of this machine that use it
    Device device = Device::automatic;
};

/// Sizes that the memory of a run on a device depends on.
struct DeviceNeed {
    Index features = 0;
    Index cells = 0;
    Index scales = 0;
    Index rank = 0;
    bool dense = false;             ///< X has every entry stored
    std::int64_t nonzeros = 0;      ///< entries of X that are stored
    std::int64_t graph_entries = 0; ///< edges in the lists of both their ends, or n² for a table of all pairs
    bool table = false;             ///< all pairs
    std::int64_t components = 0;    ///< Σ_t β₀(t)
    bool momentum = true;           ///< the point before is kept
    bool shifts = true;             ///< sums over components are
    bool data_on_host = false;
    Index bytes_of_number = 8;

    // Of one of several processes: then sizes above are those of its own cells, but for those of W.
    Index processes = 1;
    Index cells_in_block = 0; ///< cells/cell_blocks.hpp
    Index outer = 0;          ///< columns of H of other processes that its neighbours are
    Index sent = 0;           ///< its own that are neighbours of theirs
    Index gathered = 0; ///< columns of H of all processes, where every product with the graph needs them
};

/// The work of a fit in one precision.
template <class Real>
struct DeviceWork {
    /// Sweeps. The blocks are those in which sums over cells are taken.
    std::unique_ptr<Backend<Real>> (*backend)(const Problem<Real>&, const CellBlocks&);
    /// The chained start.
    std::unique_ptr<Chain<Real>> (*chain)(const Problem<Real>&);
    /// Products with X alone; none: the matrix makes them.
    std::unique_ptr<DataProducts> (*products)(const DataMatrix<Real>&) = nullptr;
};

/// All that is asked of a kind of device, in the order in which a run asks. What is null the CPU does. The
/// rows are in devices/table.cpp; a new device is a folder beside devices/cpu, a row there, and its name in
/// `EnumNames<Device>`.
struct DeviceRow {
    Device device = Device::cpu;
    DeviceFacts (*facts)() = nullptr;             ///< not of the CPU
    double (*bytes)(const DeviceNeed&) = nullptr; ///< of its memory that a run needs
    DeviceWork<float> in_float;
    DeviceWork<double> in_double;

    /// All pairs of cells, and what that needs; not to be called where the device is not found.
    std::unique_ptr<PairSearcher> (*searcher)(const Points&) = nullptr;
    double (*searcher_bytes)(Index dimensions, Index cells) = nullptr;
    /// What products with X need: of `need` the data, and `rank` columns at a time.
    double (*products_bytes)(const DeviceNeed&) = nullptr;
    /// The same seedings and steps, sums in another order. From one thread at a time.
    KMeansResult (*kmeans)(const Matrix&, const KMeansOptions&) = nullptr;

    template <class Real>
    const DeviceWork<Real>& in() const {
        if constexpr (std::is_same_v<Real, float>) {
            return in_float;
        } else {
            return in_double;
        }
    }
};

/// The rows of this build, the CPU's first.
std::span<const DeviceRow> device_rows();

/// The row of a device, null where this build has none; `automatic` has none.
const DeviceRow* find_device(Device device);
/// InputError instead of null.
const DeviceRow& device_row(Device device);

/// Not built where there is no row.
DeviceFacts facts_of(Device device);

/// Other rows for as long as this lives: a device that is not in the build, or one for tests.
class DeviceRowsScope {
  public:
    explicit DeviceRowsScope(std::span<const DeviceRow> rows);
    DeviceRowsScope(const DeviceRowsScope&) = delete;
    DeviceRowsScope& operator=(const DeviceRowsScope&) = delete;
    ~DeviceRowsScope();

  private:
    std::span<const DeviceRow> before_;
};

/// The work of a device of the table, sums in the usual blocks.
template <class Real>
std::unique_ptr<Backend<Real>> make_backend(Device device, const Problem<Real>& problem) {
    return device_row(device).in<Real>().backend(problem, usual_blocks(problem.cells()));
}

template <class Real>
std::unique_ptr<Chain<Real>> make_chain(Device device, const Problem<Real>& problem) {
    return device_row(device).in<Real>().chain(problem);
}

} // namespace pnmf
