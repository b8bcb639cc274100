#include "run/plan_run.hpp"
#include "cells/processes.hpp"
#include "linalg/arrays_on_disk.hpp"
#include "linalg/large_array.hpp"
#include "persistence/balanced_edges.hpp"
#include "persistence/search_space.hpp"
#include "run/process_memory.hpp"
#include "solvers/choose_device.hpp"
#include "solvers/fit_data.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

namespace pnmf {
namespace {

/// What libraries not used yet will bring in, and what memory that is freed and taken again leaves unused.
constexpr double libraries = 8e6;

/// What the search holds: search space, candidates, and edges twice while they are sorted.
double search_bytes(const FitSize& size, const FitOptions& fit) {
    const Index q = std::min(clustered_search.dimension, size.features);
    const double of_cell = static_cast<double>((q + 1) * static_cast<Index>(sizeof(float))) + 160.0 +
                           static_cast<double>(fit.filtration.neighbors.value_or(0)) * 3.0 * sizeof(Edge);
    return of_cell * static_cast<double>(size.cells);
}

/// The most scales, from 2 up to those there are, that fit into so many bytes with nothing given up.
template <RealNumber Real>
Index scales_that_fit(const PreparedFit<Real>& prepared, const FitSize& size, double bytes, int threads,
                      bool bases_rest) {
    Index fits = 2;
    for (Index past = std::max<Index>(3, prepared.scales.size() + 1); past - fits > 1;) {
        const Index scales = fits + (past - fits) / 2;
        const bool fit = solver_memory(size.with_scales(scales), prepared.options.solver, sizeof(Real),
                                       threads, bases_rest)
                             .total() <= bytes;
        (fit ? fits : past) = scales;
    }
    return fits;
}

/// Else files would hold nothing.
bool has_large_arrays(const FitSize& size, Index bytes_of_number) {
    return static_cast<std::size_t>(size.cells * size.rank * bytes_of_number) >= large_array_bytes();
}

} // namespace

FitSize guessed_size(const DataView& X, const RunOptions& options, Index bytes_of_number) {
    FitSize size;
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        size = {.features = dense->rows(),
                .cells = options.local ? options.local->all : dense->cols(),
                .dense = true};
    } else {
        const auto& sparse = std::get<SparseView<double>>(X);
        size = {.features = sparse.rows,
                .cells = options.local ? options.local->all : sparse.cols,
                .dense = becomes_dense(X, bytes_of_number, options.local)};
    }
    const FitOptions& fit = options.fit;
    const auto root = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(size.cells))));
    size.rank = fit.rank.value_or(std::min({root, size.features, size.cells}));
    // Where few scales stand for all, a handful is enough to begin with; neighbourhoods that double are few.
    const ScaleOptions& scales = fit.filtration.scales;
    const bool few = fit.scale_error.has_value() || scales.strategy == ScaleStrategy::neighborhoods;
    size.scales = std::min(size.cells, scales.max_scales.value_or(few ? 9 : size.cells));
    const Index pairs = size.cells * (size.cells - 1) / 2;
    std::optional<Index> neighbors = fit.filtration.neighbors;
    if (const std::vector<Index>& batch = fit.filtration.batch; neighbors && !batch.empty()) {
        const Index batches = *std::max_element(batch.begin(), batch.end()) + 1;
        neighbors = batches * neighbors_of_each_batch(*neighbors, batches);
    }
    size.edges = neighbors ? std::min(pairs, size.cells * (*neighbors + 1)) : pairs;
    size.processes = all_processes().count();
    size.local = options.local.has_value();
    return size;
}

std::string size_words(double bytes) {
    return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

std::string rough_time(double seconds) {
    const auto rounded = [](double value) {
        const double step = value < 20.0 ? 5.0 : 10.0;
        return std::max(step, std::round(value / step) * step);
    };
    return seconds < 90.0     ? fmt::format("about {:.0f} s", rounded(seconds))
           : seconds < 5400.0 ? fmt::format("about {:.0f} min", std::max(2.0, std::round(seconds / 60.0)))
                              : fmt::format("about {:.1f} h", seconds / 3600.0);
}

void check_same_data(const std::string& fingerprint) {
    Processes& processes = all_processes();
    const std::vector<std::size_t> all = gather_one(processes, std::hash<std::string>{}(fingerprint));
    for (int r = 1; r < processes.count(); ++r) {
        require(all[r] == all[0],
                "all processes must have the same data and options, but those of process {} differ from "
                "those of process "
                "0: is the same file there on every machine?",
                r);
    }
}

bool resumes(const RunOptions& options) {
    return options.folder != nullptr && options.folder->use() == FolderUse::resume &&
           std::filesystem::exists(options.folder->checkpoint()); // else it has the types of a tissue alone
}

MemoryLimit memory_limit(const RunOptions& options) {
    if (options.memory) {
        return {.limit = *options.memory, .given = true};
    }
    Processes& processes = all_processes();
    const double available = available_bytes();
    const double share = 0.9 / processes.count_here(); // others need some too
    // Processes must plan alike, or they would not make the same sweeps.
    return {.limit = least_of(processes, available > 0.0 ? resident_bytes() + share * available : 0.0),
            .given = false};
}

double free_disk(std::filesystem::path folder) {
    std::error_code error;
    folder = std::filesystem::absolute(folder, error);
    while (folder.has_relative_path() && !std::filesystem::exists(folder, error)) {
        folder = folder.parent_path();
    }
    const auto space = std::filesystem::space(folder, error);
    return error ? 0.0 : static_cast<double>(space.available);
}

FitSize expected_size(const DataView& X, const RunOptions& options, Index bytes_of_number) {
    constexpr Index usual = 11; // where few stand for all
    FitSize size = guessed_size(X, options, bytes_of_number);
    if (options.fit.scale_error) {
        size.scales = std::min({size.cells, usual, options.fit.filtration.scales.max_scales.value_or(usual)});
    }
    size.components = size.cells * size.scales / 2; // all cells at the finest scale, few at the coarsest
    return size;
}

RunBytes bytes_of_run(const DataView& X, const RunOptions& options, const FitSize& size,
                      Index bytes_of_number) {
    const DataSize data = size_of_data(X, bytes_of_number, options.local);
    const auto number = static_cast<double>(bytes_of_number);
    const double copy =
        static_cast<double>(data.nonzeros) * (data.dense ? number : 2.0 * (number + sizeof(std::int32_t)));
    SolverOptions settings = options.fit.solver;
    settings.device = possible_device(settings.device); // which then holds most
    const SolverMemory solver = solver_memory(size, settings, bytes_of_number, thread_count());
    const double search = search_bytes(size, options.fit);
    const double beside = std::max(search, solver.beside_files().total());
    return {.in_memory = copy + std::max(search, solver.total()),
            .beside_files = beside + (data.dense ? copy : 0.0),
            .files = solver.total() - solver.beside_files().total() + (data.dense ? 0.0 : copy)};
}

bool can_copy_data(const DataView& X, const RunOptions& options, const MemoryLimit& allowed,
                   Index bytes_of_number) {
    const FitSize size = expected_size(X, options, bytes_of_number);
    if (arrays_on_disk() || size.processes > 1 || size.dense || bytes_of_number > Index{sizeof(float)}) {
        return false;
    }
    const auto nonzeros = static_cast<double>(size_of_data(X, bytes_of_number, options.local).nonzeros);
    const double copy = 2.0 * nonzeros * (static_cast<double>(bytes_of_number) + sizeof(std::int32_t));
    const RunBytes bytes = bytes_of_run(X, options, size, bytes_of_number);
    return resident_bytes() + bytes.in_memory + copy <= allowed.limit;
}

bool is_out_of_core(const FitSize& size, Index bytes_of_number) {
    return arrays_on_disk() && has_large_arrays(size, bytes_of_number);
}

std::string trouble_out_of_core(double files) {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error) {
        return "there is no folder for temporary files; TMPDIR names one";
    }
    if (rlimit space{}; getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        return "the address space of this process is limited (ulimit -v)";
    }
    if (!may_keep_on_disk()) {
        return "the allocator of this process does not give memory back to the system";
    }
    if (!is_on_disk(folder)) {
        return fmt::format("{} is in memory itself; TMPDIR names another folder", folder.string());
    }
    const double free = free_disk(folder);
    return files > free ? fmt::format("{} are needed in {}, and {} are free; TMPDIR names another folder",
                                      size_words(files), folder.string(), size_words(free))
                        : std::string();
}

ArrayScope::ArrayScope(const DataView& X, const RunOptions& options, const MemoryLimit& allowed,
                       Index bytes_of_number) {
    const FitSize size = expected_size(X, options, bytes_of_number);
    const RunBytes bytes = bytes_of_run(X, options, size, bytes_of_number);
    const bool asked = options.fit.out_of_core.value_or(false);
    const double needed = resident_bytes() + bytes.in_memory;
    // Several processes would have to decide alike.
    const bool must = !options.fit.out_of_core && allowed.limit > 0.0 && needed > allowed.limit &&
                      has_large_arrays(size, bytes_of_number) && all_processes().count() == 1;
    const std::string trouble = asked || must ? trouble_out_of_core(bytes.files) : "";
    if (asked && !trouble.empty()) {
        throw SystemError(fmt::format("arrays cannot be out of core: {}", trouble));
    }
    before_ = set_array_folder({});
    if ((asked || must) && trouble.empty()) {
        const std::filesystem::path folder = std::filesystem::temp_directory_path();
        notice_ =
            must && before_.empty()
                ? fmt::format("memory: about {} are needed, more than {}: arrays of {} are out of core, "
                              "in files in {}; out-of-core false forbids it",
                              size_words(needed), size_words(allowed.limit), size_words(bytes.files),
                              folder.string())
                : fmt::format("arrays of about {} are out of core, in files in {}", size_words(bytes.files),
                              folder.string());
        set_array_folder(folder);
    } else if (!options.fit.out_of_core) {
        set_array_folder(before_);
    }
}

ArrayScope::~ArrayScope() {
    set_array_folder(before_);
}

void check_memory(const DataView& X, const RunOptions& options, const MemoryLimit& allowed,
                  Index bytes_of_number) {
    if (allowed.limit <= 0.0) {
        return;
    }
    const FitSize size = guessed_size(X, options, bytes_of_number);
    SolverOptions least = options.fit.solver;
    least.device = possible_device(least.device); // which then holds most
    if (allowed.given || resumes(options)) {      // else they are never given up
        least.extrapolate = false;
        least.shift_components = false;
    }
    const double pairs =
        options.fit.filtration.neighbors
            ? 0.0
            : static_cast<double>(size.cells) * static_cast<double>(size.cells) * sizeof(double);
    const bool bases_rest = size.processes == 1; // processes hold W in memory
    const SolverMemory memory = solver_memory(size, least, bytes_of_number, thread_count(), bases_rest);
    const double solver = (is_out_of_core(size, bytes_of_number) ? memory.beside_files() : memory).total();
    const bool is_table = size.dense && std::holds_alternative<SparseView<double>>(X); // to be made
    const Index held = options.local ? options.local->count : size.cells;
    const double table =
        is_table ? static_cast<double>(size.features) * static_cast<double>(held * bytes_of_number) : 0.0;
    const double needed = resident_bytes() + table + pairs + solver;
    require(
        needed <= allowed.limit, Remedy::need_less_memory,
        "memory: this run needs at least {} ({} for the distances of all pairs of {} cells, {} for {} "
        "scales of rank {}{}), and {} {}. A graph of nearest neighbours, fewer scales or a lower rank needs "
        "less",
        size_words(needed), size_words(pairs), size.cells, size_words(solver), size.scales, size.rank,
        table > 0.0 ? fmt::format(", {} for the data as a table", size_words(table)) : "",
        allowed.given ? "the limit is" : "this process can have", size_words(allowed.limit));
}

template <RealNumber Real>
MemoryPlan fit_into(const MemoryLimit& allowed, const RunOptions& options, PreparedFit<Real>& prepared,
                    bool resumed, bool in_start) {
    const SolverOptions& solver = prepared.options.solver;
    const bool made = !resumed && !options.start_from;
    const Start usual = solver.algorithm == Algorithm::stationary ? Start::nested : Start::chained;
    const bool nested = (made || in_start) && prepared.options.start.value_or(usual) == Start::nested;
    const std::filesystem::path scratch =
        options.folder != nullptr ? options.folder->path() : std::filesystem::temp_directory_path();
    Processes& processes = all_processes(); // all must come to the same plan
    const double held = most_of(processes, resident_bytes() + libraries);
    const auto threads = static_cast<int>(most_of(processes, thread_count()));
    FitSize size = fit_size(prepared, made, nested);
    const bool out_of_core = is_out_of_core(size, sizeof(Real));
    if (prepared.adapts() && allowed.given && !out_of_core) {
        prepared.most_scales = scales_that_fit(prepared, size, allowed.limit - held, threads, false);
        size = size.with_scales(std::min(size.scales, prepared.most_scales));
    }
    // Processes hold W in memory: what each moves, all need.
    const bool files = processes.count() == 1 && is_on_disk(scratch);
    MemoryPlan plan =
        plan_memory(allowed.limit, held, size, solver, sizeof(Real), threads,
                    {.files = files, .keep_less = allowed.given && !resumed, .out_of_core = out_of_core});
    if (prepared.adapts() && !allowed.given && !out_of_core && (made || in_start)) {
        prepared.most_scales =
            scales_that_fit(prepared, size, allowed.limit - held, threads, plan.bases_rest);
    }
    prepared.options.solver.extrapolate = solver.extrapolate && plan.keep_momentum;
    prepared.options.solver.shift_components = solver.shift_components && plan.keep_shifts;
    if (plan.bases_rest) {
        prepared.bases_in = scratch;
    }
    return plan;
}

// A sweep has two such products for each scale, and passes over the factors that cost about as much.
ProductsOfFit products_of_fit(bool few) {
    return few ? ProductsOfFit{.start = 70.0, .sweeps = 55.0} : ProductsOfFit{.start = 60.0, .sweeps = 180.0};
}

template <RealNumber Real>
double estimated_seconds(const PreparedFit<Real>& prepared) {
    const CellRange held = prepared.X->local();
    const DenseMatrix<Real> H = DenseMatrix<Real>::Constant(prepared.rank, held.count, Real{1});
    const auto began = std::chrono::steady_clock::now();
    const DenseMatrix<Real> product = prepared.X->times_transposed(H);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const auto [start, sweeps] = products_of_fit(prepared.adapts());
    const double touched = static_cast<double>(product.size() > 0 ? held.all : 0) /
                           static_cast<double>(std::max<Index>(held.count, 1));
    return touched * seconds * static_cast<double>(expected_scales(prepared)) * (start + sweeps);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template MemoryPlan fit_into(const MemoryLimit&, const RunOptions&, PreparedFit<Real>&, bool, bool);     \
    template double estimated_seconds(const PreparedFit<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
