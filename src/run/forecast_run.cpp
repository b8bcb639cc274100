#include "persistence/cluster_lists.hpp"
#include "persistence/neighbor_tree.hpp"
#include "persistence/search_space.hpp"
#include "run/plan_run.hpp"
#include "run/process_memory.hpp"
#include "solvers/choose_device.hpp"
#include "solvers/fit_data.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <ctime>
#include <functional>
#include <numeric>

namespace pnmf {
namespace {

// As measured: benchmarks/results/growth.md has runs beside their forecast. Work of the threads is in seconds
// of the processor.
constexpr double of_start = 2.0;
constexpr double of_sweeps = 1.0;
constexpr double of_clusters = 2.4;
constexpr double of_clusters_a_cell = 1e-4;
constexpr double of_page_a_cell = 1e-4;
constexpr double bytes_of_cell = 500.0; // in the result, beside embeddings
constexpr double bytes_on_page = 650.0;

/// Seconds of the processor, shared by the threads: what others do on the machine does not count.
double seconds_of(const std::function<void()>& work) {
    const std::clock_t began = std::clock();
    work();
    return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC / thread_count();
}

/// Neighbours and tree. Of m cells they cost a·m² + b·m, with a and b from trials of two sizes. A clustered
/// search of all cells does not compare all pairs.
double search_seconds(const Points& points, const FiltrationOptions& options, std::uint64_t seed) {
    constexpr Index few = 1500;
    constexpr Index some = 6000;
    const Index n = points.count();
    const NeighborSearch search =
        options.neighbors ? chosen_search(options.search, n, points.dimensions() > 0) : NeighborSearch::exact;
    const auto trial = [&](Index cells) {
        const Points part = points.subset(sample_of_cells(n, cells, seed));
        std::optional<Index> neighbors = options.neighbors;
        if (neighbors) {
            neighbors = std::min(*neighbors, cells - 1);
        }
        return seconds_of([&] { tree_and_neighbors(part, neighbors, search, seed); });
    };
    if (n <= some) {
        return n < 2 ? 0.0 : trial(n);
    }
    const double of_few = trial(few) / few;
    const double of_some = trial(some) / some;
    const double pair = std::max(0.0, (of_some - of_few) / static_cast<double>(some - few));
    const double cell = std::max(0.0, of_some - pair * static_cast<double>(some));
    const ClusterSettings lists;
    const Index compared =
        search == NeighborSearch::clustered ? std::min(n, lists.looked_at + number_of_centres(n, lists)) : n;
    return static_cast<double>(n) * (cell + pair * static_cast<double>(compared));
}

/// Some of the cells: the first ones.
DataView first_cells(const DataView& X, Index cells) {
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        return DenseView<double>(dense->data(), dense->rows(), cells);
    }
    SparseView<double> some = std::get<SparseView<double>>(X);
    some.cols = cells;
    some.start = some.start.first(static_cast<std::size_t>(cells) + 1);
    some.row = some.row.first(static_cast<std::size_t>(some.start.back()));
    some.value = some.value.first(static_cast<std::size_t>(some.start.back()));
    return some;
}

/// A product of X with factors of this rank.
template <RealNumber Real>
double product_seconds(const DataView& X, const DataSize& size, Index rank) {
    constexpr Index most = 20000;
    const Index cells = std::min(cells_of(X), most);
    const auto some = data_of<Real>(first_cells(X, cells), true);
    const auto H = DenseMatrix<Real>::Constant(rank, cells, Real{1}).eval();
    double seconds = 0.0;
    int times = 0;
    for (; seconds < 0.05 && times < 1000; ++times) {
        seconds += seconds_of([&] { some->times_transposed(H); });
    }
    return seconds / times * static_cast<double>(size.cells) / static_cast<double>(cells);
}

} // namespace

template <RealNumber Real>
RunForecast forecast_run(const DataView& X, const RunOptions& options, bool page) {
    const DataSize data = size_of_data(X, sizeof(Real), options.local);
    const MemoryLimit limit = memory_limit(options);
    const ArrayScope arrays(X, options, limit, sizeof(Real)); // where it would be out of core
    const FitSize size = expected_size(X, options, sizeof(Real));
    const FitOptions& fit = options.fit;
    const auto n = static_cast<double>(size.cells);
    const double held = resident_bytes();
    const double product = product_seconds<Real>(X, data, size.rank);
    const double search = search_seconds(
        Points(options.space != nullptr ? DataView(view_of(*options.space)) : X, fit.filtration.metric),
        fit.filtration, fit.seed);
    const auto scales = static_cast<double>(size.scales);

    RunForecast result;
    const auto [start, sweeps] = products_of_fit(fit.scale_error.has_value());
    const double threads = thread_count();
    result.stages = {{"neighbours and tree", search},
                     {"start", of_start / threads + start * scales * product},
                     {"sweeps", of_sweeps / threads + sweeps * scales * product},
                     {"clusters and tests", (of_clusters + of_clusters_a_cell * n) / threads}};
    if (options.tissue) { // a fit of its own finds the types
        const double once =
            std::accumulate(result.stages.begin(), result.stages.end(), 0.0,
                            [](double sum, const StageTime& one) { return sum + one.seconds; });
        result.stages.insert(result.stages.begin(), {"types of cells", once});
    }
    result.stages.push_back({page ? "result and page" : "result", of_page_a_cell * n});
    result.may_use_device = possible_device(fit.solver.device) != Device::cpu;

    const double factor = scales * static_cast<double>(size.rank) * sizeof(Real);
    const double embeddings = factor * n;
    const double bases = factor * static_cast<double>(size.features);
    const RunBytes bytes = bytes_of_run(X, options, size, sizeof(Real));
    const bool out_of_core = is_out_of_core(size, sizeof(Real));
    if (out_of_core) {
        result.files = bytes.files;
        result.files_free = free_disk(std::filesystem::temp_directory_path());
    }
    result.bytes = held + (out_of_core ? bytes.beside_files : bytes.in_memory);
    result.allowed = limit.limit;
    result.disk =
        embeddings + (options.save_basis ? bases : 0.0) + bytes_of_cell * n +
        (options.space != nullptr ? static_cast<double>(options.space->size()) * sizeof(double) : 0.0) +
        (page ? bytes_on_page * n : 0.0) + 4.0 * (embeddings + bases);
    if (options.folder != nullptr) {
        result.disk_free = free_disk(options.folder->path());
    }
    return result;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template RunForecast forecast_run<Real>(const DataView&, const RunOptions&, bool);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
