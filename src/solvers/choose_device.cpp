#include "solvers/choose_device.hpp"

#include <pnmf/communicator.hpp>
#include <pnmf/error.hpp>
#include <pnmf/graphs/sparse_graph.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/remedy.hpp>

#include <fmt/format.h>

namespace pnmf {
namespace {

/// Work of a sweep below which copying to a device and starting its kernels costs more than they save
/// (measured: docs/decisions/0130-cuda.md).
constexpr double least_work = 1e8;

/// Multiplications of a search of all pairs below which the CPU has found the neighbours before a device has
/// started, and above which a choice that was left to the program would take an hour.
constexpr double least_search = 1e10;
constexpr double most_search = 5e17;

/// Multiplications of a sweep: products with X and with the graphs.
double work_of(const DeviceNeed& need) {
    const double columns = static_cast<double>(need.scales) * static_cast<double>(need.rank);
    return columns * (static_cast<double>(need.nonzeros) + static_cast<double>(need.graph_entries));
}

void require_usable(const DeviceFacts& cuda) {
    require(cuda.built, "the device cuda is not in this build of pnmf: it was configured without CUDA");
    require(cuda.found, "the device cuda cannot be used: {}", cuda.reason);
}

std::string gigabytes(double bytes) {
    return fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string sizes_on(const DeviceFacts& facts, double bytes) {
    return fmt::format("this run needs {} on the {}, of whose {} are free {}", gigabytes(bytes), facts.name,
                       gigabytes(facts.total_bytes), gigabytes(facts.free_bytes));
}

void refuse_unless_fits(double bytes, const DeviceFacts& facts, const DeviceNeed& need) {
    require(bytes <= facts.free_bytes, Remedy::need_less_memory,
            "memory: even without momentum and sums over components {}. Fewer scales{} or a lower rank needs "
            "less",
            sizes_on(facts, bytes), need.bytes_of_number > 4 ? ", single precision" : "");
}

DeviceNeed given_up(DeviceNeed need, bool keep_momentum, bool keep_shifts) {
    need.momentum = need.momentum && keep_momentum;
    need.shifts = need.shifts && keep_shifts;
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

} // namespace

DeviceChoice choose_device(Device asked, const DeviceNeed& need) {
    return asked == Device::cpu ? DeviceChoice{}
                                : choose_device(asked, need, cuda_device(), cuda_device_bytes);
}

void check_device_memory(Device asked, const DeviceNeed& least) {
    const DeviceFacts facts = asked == Device::cuda ? cuda_device() : DeviceFacts{};
    if (facts.found) {
        refuse_unless_fits(cuda_device_bytes(given_up(least, false, false)), facts, least);
    }
}

DeviceChoice choose_device(Device asked, const DeviceNeed& need, const DeviceFacts& facts,
                           const std::function<double(const DeviceNeed&)>& bytes_of) {
    if (asked == Device::cpu) {
        return {};
    }
    if (asked == Device::automatic && communicator().size() > 1) {
        return {}; // a device for each rank is not there yet
    }
    const bool demanded = asked == Device::cuda;
    if (demanded) {
        require_usable(facts);
    }
    if (!facts.built) {
        return {};
    }
    if (!facts.found) {
        return {.notice = fmt::format("device: cpu; cuda cannot be used: {}", facts.reason)};
    }
    if (!demanded && work_of(need) < least_work) {
        return {.notice = fmt::format("device: cpu; these data are too small to gain by the {}", facts.name)};
    }
    // From what costs nothing to what costs most sweeps.
    DeviceChoice choice{.device = Device::cuda};
    double bytes = 0.0;
    for (const auto& [momentum, shifts] : {std::pair(true, true), {false, true}, {false, false}}) {
        choice.keep_momentum = momentum;
        choice.keep_shifts = shifts;
        bytes = bytes_of(given_up(need, momentum, shifts));
        if (bytes <= facts.free_bytes) {
            break;
        }
    }
    if (bytes > facts.free_bytes) {
        if (demanded) {
            refuse_unless_fits(bytes, facts, need);
        }
        return {.notice = fmt::format("device: cpu; {}", sizes_on(facts, bytes))};
    }
    choice.notice = fmt::format("device: cuda, {}; {} of its memory planned{}", facts.name, gigabytes(bytes),
                                what_is_given_up(need, choice));
    return choice;
}

SearcherChoice choose_searcher(Device asked, const Points& points, const FiltrationOptions& options) {
    const bool all_pairs =
        options.search == NeighborSearch::automatic || options.search == NeighborSearch::exact;
    if (asked == Device::cpu || !options.neighbors || !all_pairs || !options.batch.empty() ||
        points.dimensions() == 0) {
        return {};
    }
    if (communicator().size() > 1) {
        return {}; // ranks share the search out on their processors
    }
    const DeviceFacts facts = cuda_device();
    constexpr Index most_neighbors = 128; // lists of a device hold twice as many
    if (!facts.found || *options.neighbors > most_neighbors) {
        return {}; // the choice of a device for the sweeps says why
    }
    const auto cells = static_cast<double>(points.count());
    const double work = cells * cells * static_cast<double>(points.dimensions());
    if ((asked == Device::automatic && work < least_search) ||
        (options.search == NeighborSearch::automatic && work > most_search)) {
        return {};
    }
    const double bytes = cuda_pair_bytes(points.dimensions(), points.count());
    if (bytes > facts.free_bytes) {
        return {
            .notice = fmt::format(
                "neighbours are searched on the cpu: all pairs need {} on the {}, of whose {} are free {}",
                gigabytes(bytes), facts.name, gigabytes(facts.total_bytes), gigabytes(facts.free_bytes))};
    }
    return {.searcher = cuda_pair_searcher(points),
            .notice = fmt::format("neighbours and tree: all pairs on the {}, confirmed by exact distances",
                                  facts.name)};
}

template <class Real>
std::unique_ptr<DataProducts> choose_products(Device asked, const DataMatrix<Real>& X, Index rank) {
    constexpr Index least_cells = 20000;
    if (asked == Device::cpu || communicator().size() > 1 || X.cells() < least_cells ||
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
    const DeviceFacts facts = cuda_device();
    return facts.found && cuda_data_product_bytes(need) <= facts.free_bytes ? cuda_data_products(X) : nullptr;
}

std::unique_ptr<PairSearcher> searcher_for_stored(const Points& points, const FiltrationOptions& options) {
    return options.search == NeighborSearch::exact
               ? choose_searcher(Device::automatic, points, options).searcher
               : nullptr;
}

void check_device(const SolverOptions& options) {
    if (options.device != Device::cuda) {
        return;
    }
    require(options.algorithm == Algorithm::stationary,
            "the algorithm {} is made on the cpu alone, not on the device cuda", name_of(options.algorithm));
    require(communicator().size() == 1, "the device cuda is not used with several ranks, got {}",
            communicator().size());
    require_usable(cuda_device());
}

template <class Real>
DeviceNeed device_need(const Problem<Real>& problem, Index rank, const SolverOptions& options) {
    const Index n = problem.cells();
    const auto* lists = dynamic_cast<const SparseMultiscaleGraph*>(problem.graph);
    DeviceNeed need{.features = problem.features(),
                    .cells = n,
                    .scales = problem.scales(),
                    .rank = rank,
                    .dense = !problem.X->is_sparse(),
                    .nonzeros = problem.X->nonzeros(),
                    .graph_entries = lists != nullptr ? lists->lists().start.back() : n * n,
                    .table = lists == nullptr,
                    .momentum = options.extrapolate,
                    .shifts = options.shift_components,
                    .bytes_of_number = sizeof(Real)};
    const Diagram diagram = h0_diagram(problem.graph->tree());
    for (const double epsilon : problem.epsilon) {
        need.components += betti0(diagram, epsilon);
    }
    return need;
}

template <class Real>
Device device_of(const Problem<Real>& problem, Index rank, const SolverOptions& options) {
    if (options.device != Device::automatic || communicator().size() > 1 || !cuda_device().found) {
        return options.device == Device::cuda ? Device::cuda : Device::cpu;
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
