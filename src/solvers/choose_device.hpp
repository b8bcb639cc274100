#pragma once

#include "solvers/device.hpp"

#include <pnmf/solvers/fit.hpp>
#include <pnmf/solvers/solver.hpp>

#include <functional>
#include <string>

namespace pnmf {

/// Where a run is made, and why, in a sentence; none where there was nothing to choose.
struct DeviceChoice {
    Device device = Device::cpu;
    std::string notice{};
    bool keep_momentum = true; ///< as in `MemoryPlan`
    bool keep_shifts = true;
    bool data_on_host = false;
};

/// The device that was asked for, or InputError: with its reason where the build or the machine has none, and
/// with sizes where its memory does not suffice. `automatic` falls back to the CPU for the same reasons, and
/// where a run is too small to gain. Where not all of a run fits into the memory of the device, X stays in
/// memory of the host if it `may_leave_data` there; then the point before is given up, then sums over
/// components, as on the host (`plan_memory`). With several processes every one must ask, and all get the
/// same answer; left to the program, each must have a device for itself.
DeviceChoice choose_device(Device asked, const DeviceNeed& need, bool may_leave_data = false);

/// The same for the device of these facts, on which a run needs `bytes_of(need)`.
DeviceChoice choose_device(Device asked, const DeviceNeed& need, const DeviceFacts& facts,
                           const std::function<double(const DeviceNeed&)>& bytes_of,
                           bool may_leave_data = false);

/// InputError, with sizes, where a run for which the device was demanded cannot fit into its memory whatever
/// is given up: known before neighbours are searched. `need` may be a lower bound.
void check_device_memory(Device asked, const DeviceNeed& least, bool may_leave_data = false);

/// A device that looks through all pairs of cells, and why it does or does not, in a sentence.
struct SearcherChoice {
    std::unique_ptr<PairSearcher> searcher{}; ///< null: the CPU searches
    std::string notice{};
};

/// Where the neighbours of these points are searched: on a device that was asked for or may be chosen, where
/// all pairs are to be looked through, its memory suffices and it gains.
SearcherChoice choose_searcher(Device asked, const Points& points, const FiltrationOptions& options);

/// Products with X for `rank` singular vectors or principal components of the side of the features: on a
/// device that was asked for or may be chosen, where its memory suffices and it gains; else null.
template <class Real>
std::unique_ptr<DataProducts> choose_products(Device asked, const DataMatrix<Real>& X, Index rank);

/// For those who make the graphs of a stored fit anew: a device where it may have searched and that gains,
/// else null. An automatic search was that of the CPU: one on a device is stored as what it was.
std::unique_ptr<PairSearcher> searcher_for_stored(const Points& points, const FiltrationOptions& options);

/// The device that a run may be made on, before its sizes are known; the CPU where there is no other.
Device possible_device(Device asked);

/// InputError unless a device that is demanded is there, for an algorithm that can use it.
void check_device(const SolverOptions& options);

/// Sizes of a run of this problem; with several processes, of what this one has of it.
template <class Real>
DeviceNeed device_need(const Problem<Real>& problem, Index rank, const SolverOptions& options);

/// The device of a run that was not prepared as a fit: never `automatic`.
template <class Real>
Device device_of(const Problem<Real>& problem, Index rank, const SolverOptions& options);

} // namespace pnmf
