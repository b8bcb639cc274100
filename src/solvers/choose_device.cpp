#include "solvers/choose_device.hpp"
#include "cells/cell_blocks.hpp"
#include "cells/processes.hpp"
#include "graphs/fixed_graph.hpp"
#include "graphs/sparse_graph.hpp"

#include <pnmf/error.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace pnmf {
namespace {

/// Work of a sweep below which copying to a device and starting its kernels costs more than they save
/// (measured: docs/decisions/0130-cuda.md).
constexpr double least_work = 1e8;

/// Multiplications of a search of all pairs below which the CPU has found the neighbours before a device has
/// started.
constexpr double least_search = 1e10;

/// Multiplications of a sweep: products with X and with the graphs.
double work_of(const DeviceNeed& need) {
    const double columns = static_cast<double>(need.scales) * static_cast<double>(need.rank);
    return columns * (static_cast<double>(need.nonzeros) + static_cast<double>(need.graph_entries));
}

/// What the devices of all processes have in common. Every process must ask: then all of them choose alike.
/// Free memory is what there is for each process.
DeviceFacts facts_of_all(const DeviceRow& row) {
    Processes& processes = all_processes();
    DeviceFacts facts = row.facts();
    facts.device = row.device;
    if (processes.count() == 1) {
        return facts;
    }
    least_of(processes, 0.0); // all have given back what they had, and begun to use their devices
    facts = row.facts();
    facts.device = row.device;
    if (least_of(processes, facts.found ? 1.0 : 0.0) == 0.0 && facts.found) {
        facts.found = false;
        facts.reason = "another process has none";
    }
    facts.free_bytes = least_of(processes, facts.free_bytes / facts.sharing);
    facts.sharing = static_cast<int>(most_of(processes, facts.sharing));
    return facts;
}

/// Of what may be used in place of the CPU: the device that is asked for; where that is left to the program
/// the first that all processes have, else the first of this build.
DeviceFacts facts_of_accelerator(Device asked) {
    DeviceFacts first{.device = asked};
    for (const DeviceRow& row : device_rows().subspan(1)) {
        if (asked != Device::automatic && asked != row.device) {
            continue;
        }
        DeviceFacts facts = facts_of_all(row);
        if (facts.found) {
            return facts;
        }
        first = first.built ? first : std::move(facts);
    }
    return first;
}

/// Of the process that needs most.
double most_device_bytes(Device device, const DeviceNeed& need) {
    return most_of(all_processes(), device_row(device).bytes(need));
}

void require_usable(const DeviceFacts& facts) {
    const std::string_view name = name_of(facts.device);
    require(facts.built, "the device {} is not in this build of pnmf: it was configured without it", name);
    require(facts.found, "the device {} cannot be used: {}", name, facts.reason);
}

std::string gigabytes(double bytes) {
    return fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string sizes_on(const DeviceFacts& facts, double bytes) {
    const bool alone = facts.sharing == 1;
    return fmt::format("this run needs {} on the {}{}, of whose {} are free {}{}", gigabytes(bytes),
                       facts.name, all_processes().count() > 1 ? " for each process" : "",
                       gigabytes(facts.total_bytes), gigabytes(facts.free_bytes),
                       alone ? "" : fmt::format(" for each of {}", facts.sharing));
}

void refuse_unless_fits(double bytes, const DeviceFacts& facts, const DeviceNeed& need) {
    require(
        bytes <= facts.free_bytes, Remedy::need_less_memory,
        "memory: even {}without momentum and sums over components {}. Fewer scales{} or a lower rank needs "
        "less",
        need.data_on_host ? "with the data on the host, " : "", sizes_on(facts, bytes),
        need.bytes_of_number > 4 ? ", single precision" : "");
}

/// A way to fit a run into the memory of a device.
struct Way {
    bool data_on_host;
    bool momentum;
    bool shifts;
};

DeviceNeed need_of(DeviceNeed need, const Way& way) {
    need.data_on_host = way.data_on_host && !need.dense && need.processes == 1; // as `DeviceData` has it
    need.momentum = need.momentum && way.momentum;
    need.shifts = need.shifts && way.shifts;
    return need;
}

std::string what_is_given_up(const DeviceNeed& need, const DeviceChoice& choice) {
    const bool momentum = need.momentum && !choice.keep_momentum;
    const bool shifts = need.shifts && !choice.keep_shifts;
    if (!momentum && !shifts) {
        return "";
    }
    return fmt::format("; {} not kept there, so more sweeps are needed",
                       !shifts     ? "the point before is"
                       : !momentum ? "sums over components are"
                                   : "the point before and sums over components are");
}

std::string for_processes(const DeviceFacts& facts) {
    const int processes = all_processes().count();
    if (processes == 1) {
        return "";
    }
    return fmt::format(" for each of {} processes{}; neighbours and first factors come from the processors",
                       processes,
                       facts.sharing > 1 ? fmt::format(", {} of which share one", facts.sharing) : "");
}

} // namespace

DeviceChoice choose_device(Device asked, const DeviceNeed& need, bool may_leave_data) {
    if (asked == Device::cpu) {
        return {};
    }
    const DeviceFacts facts = facts_of_accelerator(asked);
    return choose_device(
        asked, need, facts, [&](const DeviceNeed& of) { return most_device_bytes(facts.device, of); },
        may_leave_data);
}

void check_device_memory(Device asked, const DeviceNeed& least, bool may_leave_data) {
    if (asked == Device::automatic || asked == Device::cpu) {
        return;
    }
    const DeviceFacts facts = facts_of_accelerator(asked);
    if (facts.found) {
        const DeviceNeed need = need_of(least, {may_leave_data, false, false});
        refuse_unless_fits(most_device_bytes(asked, need), facts, need);
    }
}

DeviceChoice choose_device(Device asked, const DeviceNeed& need, const DeviceFacts& facts,
                           const std::function<double(const DeviceNeed&)>& bytes_of, bool may_leave_data) {
    if (asked == Device::cpu) {
        return {};
    }
    const bool demanded = asked != Device::automatic;
    if (demanded) {
        require_usable(facts);
    }
    if (!facts.built) {
        return {};
    }
    if (!facts.found) {
        return {.notice =
                    fmt::format("device: cpu; {} cannot be used: {}", name_of(facts.device), facts.reason)};
    }
    if (!demanded && most_of(all_processes(), work_of(need)) < least_work) {
        return {.notice = fmt::format("device: cpu; these data are too small to gain by the {}", facts.name)};
    }
    if (!demanded && facts.sharing > 1) {
        return {.notice =
                    fmt::format("device: cpu; {} processes would share the {}, which one process uses better",
                                facts.sharing, facts.name)};
    }
    // From what costs nothing to what costs most.
    DeviceChoice choice{.device = facts.device};
    double bytes = 0.0;
    for (const Way& way :
         {Way{false, true, true}, Way{may_leave_data, true, true}, Way{false, false, true},
          Way{may_leave_data, false, true}, Way{false, false, false}, Way{may_leave_data, false, false}}) {
        const DeviceNeed smaller = need_of(need, way);
        choice.data_on_host = smaller.data_on_host;
        choice.keep_momentum = way.momentum;
        choice.keep_shifts = way.shifts;
        bytes = bytes_of(smaller);
        if (bytes <= facts.free_bytes) {
            break;
        }
    }
    if (bytes > facts.free_bytes) {
        if (demanded) {
            refuse_unless_fits(bytes, facts, need_of(need, {choice.data_on_host, false, false}));
        }
        return {.notice = fmt::format("device: cpu; {}", sizes_on(facts, bytes))};
    }
    choice.notice = fmt::format("device: {}, {}; {} of its memory planned{}{}{}", name_of(facts.device),
                                facts.name, gigabytes(bytes), for_processes(facts),
                                choice.data_on_host ? "; it reads the data from memory of the host" : "",
                                what_is_given_up(need, choice));
    return choice;
}

SearcherChoice choose_searcher(Device asked, const Points& points, const FiltrationOptions& options) {
    const NeighborSearch search = chosen_search_of_device(options.search, points.count());
    const bool all_pairs = search == NeighborSearch::exact;
    const bool clustered =
        search == NeighborSearch::clustered && points.count() > largest_search_of_all_pairs;
    if (asked == Device::cpu || !options.neighbors || !(all_pairs || clustered) || !options.batch.empty() ||
        points.dimensions() == 0) {
        return {};
    }
    if (all_processes().count() > 1) {
        return {}; // processes share the search out on their processors
    }
    const DeviceFacts facts = facts_of_accelerator(asked);
    const DeviceRow* const row = facts.found ? find_device(facts.device) : nullptr;
    constexpr Index most_neighbors = 128; // lists of a device hold twice as many
    if (row == nullptr || row->searcher == nullptr || *options.neighbors > most_neighbors) {
        return {}; // the choice of a device for the sweeps says why
    }
    const auto cells = static_cast<double>(points.count());
    const double work = cells * cells * static_cast<double>(points.dimensions());
    if (asked == Device::automatic && work < least_search) {
        return {};
    }
    const double bytes = row->searcher_bytes(points.dimensions(), points.count());
    if (bytes > facts.free_bytes) {
        return {
            .notice = fmt::format(
                "neighbours are searched on the cpu: the cells need {} on the {}, of whose {} are free {}",
                gigabytes(bytes), facts.name, gigabytes(facts.total_bytes), gigabytes(facts.free_bytes))};
    }
    if (clustered) {
        return {.searcher = row->searcher(points),
                .notice =
                    fmt::format("neighbours: those of near clusters, searched on the {}; more than {} cells "
                                "are searched so; an exact search looks at all pairs",
                                facts.name, largest_search_of_all_pairs)};
    }
    const bool cpu_would_approximate =
        options.search == NeighborSearch::automatic && points.count() > largest_exact_search;
    return {.searcher = row->searcher(points),
            .notice = fmt::format(
                "neighbours and tree: all pairs on the {}, confirmed by exact distances{}", facts.name,
                cpu_would_approximate ? "; the cpu would search so many cells approximately, "
                                        "and its result differs by more than rounding"
                                      : "")};
}

template <class Real>
std::unique_ptr<DataProducts> choose_products(Device asked, const DataMatrix<Real>& X, Index rank) {
    constexpr Index least_cells = 20000;
    if (asked == Device::cpu || all_processes().count() > 1 || X.cells() < least_cells ||
        X.cells() <= X.features()) {
        return nullptr;
    }
    const DeviceNeed need{.features = X.features(),
                          .cells = X.cells(),
                          .scales = 1,
                          .rank = rank,
                          .dense = !X.is_sparse(),
                          .nonzeros = X.nonzeros(),
                          .bytes_of_number = sizeof(Real)};
    if (work_of(need) < least_work) {
        return nullptr;
    }
    const DeviceFacts facts = facts_of_accelerator(asked);
    const DeviceRow* const row = facts.found ? find_device(facts.device) : nullptr;
    const bool can = row != nullptr && row->in<Real>().products != nullptr;
    return can && row->products_bytes(need) <= facts.free_bytes ? row->in<Real>().products(X) : nullptr;
}

std::unique_ptr<PairSearcher> searcher_for_stored(const Points& points, const FiltrationOptions& options) {
    return options.search == NeighborSearch::exact || options.search == NeighborSearch::clustered
               ? choose_searcher(Device::automatic, points, options).searcher
               : nullptr;
}

Device possible_device(Device asked) {
    const DeviceFacts facts = asked == Device::cpu ? DeviceFacts{} : facts_of_accelerator(asked);
    return facts.found ? facts.device : Device::cpu;
}

void check_device(const SolverOptions& options) {
    if (options.device == Device::automatic || options.device == Device::cpu) {
        return;
    }
    require(options.algorithm == Algorithm::stationary,
            "the algorithm {} is made on the cpu alone, not on the device {}", name_of(options.algorithm),
            name_of(options.device));
    DeviceFacts facts = facts_of(options.device);
    facts.device = options.device;
    require_usable(facts);
}

namespace {

/// Entries of X in the cells of a slab.
template <class Real>
std::int64_t entries_of(const DataMatrix<Real>& X, const BlockSlab& slab) {
    if (!X.is_sparse()) {
        return X.features() * slab.cells();
    }
    const SparseView<Real> columns = X.columns();
    return !X.has_all_cells()
               ? columns.nonzeros()
               : columns.start[slab.first_cell() + slab.cells()] - columns.start[slab.first_cell()];
}

/// Of one process in place of all cells.
template <class Real>
void take_share(const Problem<Real>& problem, const Processes& processes, DeviceNeed& need) {
    const BlockShares shares = share(usual_blocks(problem.cells()), processes.count());
    const BlockSlab slab = shares.slab(processes.place());
    const Index first = slab.first_cell();
    const Index past = first + slab.cells();
    need.processes = processes.count();
    need.cells = slab.cells();
    need.cells_in_block = shares.blocks.size;
    need.nonzeros = entries_of(*problem.X, slab);
    const auto* graph = dynamic_cast<const SparseMultiscaleGraph*>(problem.graph);
    if (graph == nullptr) {
        need.graph_entries = problem.cells() * slab.cells();
        need.gathered = problem.cells();
    } else {
        const NeighborLists& lists = graph->lists();
        need.graph_entries = lists.start[past] - lists.start[first];
        std::vector<char> theirs(static_cast<std::size_t>(problem.cells()), 0);
        for (Index j = first; j < past; ++j) {
            std::vector<char> to(static_cast<std::size_t>(processes.count()),
                                 0); // a column may go to several
            for (auto e = lists.start[j]; e < lists.start[j + 1]; ++e) {
                const Index other = lists.cell[e];
                if (other < first || other >= past) {
                    const auto after =
                        std::upper_bound(shares.first.begin(), shares.first.end(), shares.blocks.of(other));
                    to[after - shares.first.begin() - 1] = 1;
                    theirs[other] = 1;
                }
            }
            need.sent += std::count(to.begin(), to.end(), 1);
        }
        need.outer = std::count(theirs.begin(), theirs.end(), 1);
    }
    // A component counts once in each block that has cells of it.
    const Diagram diagram = h0_diagram(problem.graph->tree());
    need.components = 0;
    for (const double epsilon : problem.epsilon) {
        need.components += std::min(slab.cells(), betti0(diagram, epsilon) * (slab.past - slab.first));
    }
}

} // namespace

template <class Real>
DeviceNeed device_need(const Problem<Real>& problem, Index rank, const SolverOptions& options) {
    const Index n = problem.cells();
    const auto* lists = dynamic_cast<const SparseMultiscaleGraph*>(problem.graph);
    const auto* fixed = dynamic_cast<const FixedGraph*>(problem.graph);
    DeviceNeed need{.features = problem.features(),
                    .cells = n,
                    .scales = problem.scales(),
                    .rank = rank,
                    .dense = !problem.X->is_sparse(),
                    .nonzeros = problem.X->nonzeros(),
                    .graph_entries = lists != nullptr   ? lists->lists().start.back()
                                     : fixed != nullptr ? fixed->weights().nonzeros()
                                                        : n * n,
                    .table = lists == nullptr && fixed == nullptr,
                    .momentum = options.extrapolate,
                    .shifts = options.shift_components,
                    .bytes_of_number = sizeof(Real)};
    const Diagram diagram = h0_diagram(problem.graph->tree());
    for (const double epsilon : problem.epsilon) {
        need.components += betti0(diagram, epsilon);
    }
    if (all_processes().count() > 1) {
        take_share(problem, all_processes(), need);
    }
    return need;
}

template <class Real>
Device device_of(const Problem<Real>& problem, Index rank, const SolverOptions& options) {
    if (options.device != Device::automatic || device_rows().size() == 1) {
        return options.device == Device::automatic ? Device::cpu : options.device;
    }
    if (all_processes().count() == 1 && !facts_of_accelerator(Device::automatic).found) {
        return Device::cpu; // the sizes of the run do not matter
    }
    return choose_device(options.device, device_need(problem, rank, options)).device;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template DeviceNeed device_need(const Problem<Real>&, Index, const SolverOptions&);                      \
    template Device device_of(const Problem<Real>&, Index, const SolverOptions&);                            \
    template std::unique_ptr<DataProducts> choose_products(Device, const DataMatrix<Real>&, Index);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
