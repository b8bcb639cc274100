#include "results/plan_run.hpp"
#include "cells/processes.hpp"
#include "persistence/balanced_edges.hpp"
#include "results/process_memory.hpp"
#include "solvers/choose_device.hpp"
#include "solvers/fit_data.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

namespace pnmf {
namespace {

/// What libraries not used yet will bring in, and what memory that is freed and taken again leaves unused.
constexpr double libraries = 8e6;

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
    const double solver = solver_memory(size, least, bytes_of_number, thread_count(), bases_rest).total();
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
    const bool made = !resumed && options.start_from.empty();
    const Start usual = solver.algorithm == Algorithm::stationary ? Start::nested : Start::chained;
    const bool nested = (made || in_start) && prepared.options.start.value_or(usual) == Start::nested;
    const std::filesystem::path scratch =
        options.folder != nullptr ? options.folder->path() : std::filesystem::temp_directory_path();
    Processes& processes = all_processes(); // all must come to the same plan
    const double held = most_of(processes, resident_bytes() + libraries);
    const auto threads = static_cast<int>(most_of(processes, thread_count()));
    FitSize size = fit_size(prepared, made, nested);
    if (prepared.adapts() && allowed.given) {
        prepared.most_scales = scales_that_fit(prepared, size, allowed.limit - held, threads, false);
        size = size.with_scales(std::min(size.scales, prepared.most_scales));
    }
    // Processes hold W in memory: what each moves, all need.
    const bool files = processes.count() == 1 && is_on_disk(scratch);
    MemoryPlan plan = plan_memory(allowed.limit, held, size, solver, sizeof(Real), threads,
                                  {.files = files, .keep_less = allowed.given && !resumed});
    if (prepared.adapts() && !allowed.given && (made || in_start)) {
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
