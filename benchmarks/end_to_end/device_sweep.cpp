#include "cells/processes.hpp"
#include "graphs/sparse_graph.hpp"
#include "graphs/tree_order.hpp"
#include "solvers/backend.hpp"
#include "solvers/device.hpp"

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <sys/resource.h>

#ifdef PNMF_HAS_CUDA
#include <cuda_runtime_api.h>
#endif
#ifdef PNMF_HAS_MPI
#include "mpi/mpi_ranks.hpp"
#endif

/// How long a sweep of `stationary` takes on a device, and where its time goes:
///
///     bench_device_sweep DEVICE [GENES CELLS PERCENT RANK SCALES EDGES SWEEPS ORDER PARTS DATA]
///
/// DEVICE is cpu or cuda; float. Data and graph are made up: PERCENT of the entries of X at random places, a
/// path through all cells and EDGES random ones at each. ORDER says how cells stand in the file: "random",
/// the worst for a cache and for ranks, or "near", neighbours at most 200 places apart. With "sorted" the
/// graph is that of cells of twelve types, half of EDGES nearest neighbours in ten coordinates, in random
/// order, and the cells are put into the order of the tree, as a fit does; with "unsorted" they are not.
/// Prints the median sweep of the solver, then each operation of a sweep by itself, waiting for its end. The
/// objective of the last sweep is computed anew by the CPU first and must agree. With "sweeps" for PARTS both
/// are left out: for runs that must reach the objective of one that did it all. Under mpirun, where the build
/// has MPI, the cells are divided over the ranks, and the bytes they send are printed too. With "host" for
/// DATA the device reads X from memory of the host.
namespace pnmf {
namespace {

struct Sizes {
    Index genes;
    Index cells;
    double percent;
    Index rank;
    Index scales;
    Index edges;
    Index sweeps;
    std::string_view order;
    bool sweeps_only; ///< no operations, no second objective
    bool data_on_host;
};

/// Of several ranks the first speaks.
template <class... Parts>
void say(fmt::format_string<Parts...> format, Parts&&... parts) {
    if (all_processes().place() == 0) {
        fmt::print(format, std::forward<Parts>(parts)...);
        std::fflush(stdout);
    }
}

/// The most memory that this process has held.
double peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

double seconds_since(std::chrono::steady_clock::time_point began) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void wait_for_device() {
#ifdef PNMF_HAS_CUDA
    cudaDeviceSynchronize();
#endif
}

/// As many entries in each cell, one in each of as many equal parts of the genes. Those of the cells of a
/// rank.
SparseMatrix<float> sparse_data(const Sizes& sizes, const CellRange& range) {
    const auto of_cell =
        std::max<Index>(1, std::llround(sizes.percent / 100.0 * static_cast<double>(sizes.genes)));
    const Index part = sizes.genes / of_cell;
    SparseMatrix<float> X;
    X.rows = sizes.genes;
    X.cols = range.count;
    X.start.resize(static_cast<std::size_t>(range.count) + 1);
    X.row.resize(static_cast<std::size_t>(range.count * of_cell));
    X.value.resize(X.row.size());
    for (Index j = 0; j <= range.count; ++j) {
        X.start[j] = j * of_cell;
    }
    parallel_blocks(range.count, 1024, [&](Index begin, Index end) { // as the blocks that ranks have
        Random random(static_cast<std::uint64_t>(range.first + begin) + 1);
        for (Index j = begin; j < end; ++j) {
            for (Index e = 0; e < of_cell; ++e) {
                X.row[j * of_cell + e] = static_cast<std::int32_t>(e * part + random.below(part));
                X.value[j * of_cell + e] = static_cast<float>(0.05 + 0.2 * random.uniform());
            }
        }
    });
    return X;
}

std::unique_ptr<SparseMultiscaleGraph> random_graph(const Sizes& sizes) {
    Random random(7);
    const bool near = sizes.order == "near";
    std::vector<Index> order(static_cast<std::size_t>(sizes.cells));
    for (Index j = 0; j < sizes.cells; ++j) {
        order[j] = j;
    }
    for (Index j = sizes.cells - 1; j > 0 && !near; --j) {
        std::swap(order[j], order[random.below(j + 1)]);
    }
    constexpr Index reach = 200;
    const auto other = [&](Index j) {
        return near ? std::clamp<Index>(j - reach + random.below(2 * reach + 1), 0, sizes.cells - 1)
                    : random.below(sizes.cells);
    };
    const auto length = [&] { return 0.05 + 0.95 * random.uniform(); };
    std::vector<Edge> edges;
    const auto join = [&](Index i, Index j) {
        if (i != j) {
            edges.push_back({length(), std::min(i, j), std::max(i, j)});
        }
    };
    for (Index j = 0; j < sizes.cells; ++j) {
        join(order[j], order[std::min(j + 1, sizes.cells - 1)]);
        for (Index e = 0; e < (sizes.edges - 2) / 2; ++e) {
            join(j, other(j));
        }
    }
    std::sort(edges.begin(), edges.end());
    SpanningTree tree = minimum_spanning_tree(SortedEdges(sizes.cells, edges));
    return std::make_unique<SparseMultiscaleGraph>(std::move(tree), edges, 1.5);
}

FitOrder as_they_stand(Index cells) {
    FitOrder order;
    order.cell.resize(static_cast<std::size_t>(cells));
    std::iota(order.cell.begin(), order.cell.end(), 0);
    return order;
}

/// Cells of twelve types in random order; sorted as a fit does, or not.
std::unique_ptr<SparseMultiscaleGraph> graph_of_cells(const Sizes& sizes, std::vector<double>& epsilon) {
    constexpr Index types = 12;
    constexpr Index coordinates = 10;
    Random random(7);
    const Matrix centres = Matrix::NullaryExpr(coordinates, types, [&] { return 2.0 * random.normal(); });
    Matrix points(coordinates, sizes.cells);
    for (Index j = 0; j < sizes.cells; ++j) {
        points.col(j) = centres.col(random.below(types));
        for (Index i = 0; i < coordinates; ++i) {
            points(i, j) += random.normal();
        }
    }
    const Filtration filtration = make_filtration(
        Points(points), {.scales = {.max_scales = sizes.scales}, .neighbors = sizes.edges / 2});
    epsilon = filtration.scales.epsilon;
    const auto& graph = dynamic_cast<const SparseMultiscaleGraph&>(*filtration.graph);
    return std::make_unique<SparseMultiscaleGraph>(
        graph, sizes.order == "sorted" ? tree_order(graph.tree()) : as_they_stand(sizes.cells));
}

/// H of the cells of a range, as all of it would be drawn.
Factors<float> random_start(const Sizes& sizes, const CellRange& range) {
    Factors<float> factors = empty_factors<float>(sizes.scales, sizes.genes, sizes.rank, {});
    parallel_for(sizes.scales, [&](Index t) {
        Random random(3); // the same at every scale
        const auto draw = [&] { return static_cast<float>(random.uniform()); };
        factors.W[t] = DenseMatrix<float>::NullaryExpr(sizes.genes, sizes.rank, draw);
        for (Index before = 0; before < sizes.rank * range.first; ++before) {
            draw();
        }
        factors.H[t] = DenseMatrix<float>::NullaryExpr(sizes.rank, range.count, draw);
    });
    return factors;
}

void time_sweeps(const Problem<float>& problem, const SolverOptions& options, SolverState<float>& state) {
    std::vector<double> times;
    Processes& ranks = all_processes();
    double communicating = 0.0;
    std::int64_t sent = 0;
    auto last = std::chrono::steady_clock::now();
    run_solver(problem, options, state, {.sweep = [&](const SweepReport& report) {
                   times.push_back(seconds_since(last));
                   say("sweep {}: objective {:.8g}, residual {:.3g}, {:.4f} s\n", report.sweep,
                       report.objective.total(), report.residual.certificate(), times.back());
                   if (report.sweep == 1) {
                       communicating = ranks.seconds();
                       sent = ranks.bytes_sent();
                   } else if (report.sweep == options.max_sweeps) {
                       communicating = ranks.seconds() - communicating;
                       sent = ranks.bytes_sent() - sent;
                   }
                   last = std::chrono::steady_clock::now();
                   return true;
               }});
    const double all = std::accumulate(times.begin() + 1, times.end(), 0.0);
    say("ranks {}, a sweep sends {:.1f} MB from rank 0, {:.1f} % of its time in exchanges\n", ranks.count(),
        1e-6 * static_cast<double>(sent) / static_cast<double>(times.size() - 1),
        100.0 * communicating / all);
    times.erase(times.begin()); // with all copies to the device
    std::sort(times.begin(), times.end());
    say("median sweep {:.4f} s, {:.4f} to {:.4f}; back from the device {:.2f} s\n", times[times.size() / 2],
        times.front(), times.back(), seconds_since(last));
}

void time_operations(Device device, const Problem<float>& problem, SolverState<float>& state) {
    const auto backend = make_backend(device, problem);
    auto began = std::chrono::steady_clock::now();
    const auto lap = [&](const char* name, const std::function<void()>& work) {
        wait_for_device();
        began = std::chrono::steady_clock::now();
        work();
        wait_for_device();
        say("| {} | {:.1f} ms |\n", name, 1e3 * seconds_since(began));
    };
    backend->load(state.current, state.previous);
    say("| operation | time |\n| --- | --- |\n");
    const std::vector<double> beta(static_cast<std::size_t>(problem.scales()), 0.3);
    for (int round = 0; round < 2; ++round) { // the first brings memory in
        lap("move_copy", [&] { backend->move_copy(); });
        lap("extrapolate", [&] { backend->extrapolate(beta); });
        lap("basis_step, no pass", [&] { backend->basis_step(0); });
        lap("basis_step, 16 passes", [&] { backend->basis_step(16); });
        lap("graph_products", [&] { backend->graph_products(); });
        lap("embedding_pass", [&] { backend->embedding_pass(); });
        lap("graph_products", [&] { backend->graph_products(); });
        lap("shift_components", [&] { backend->shift_components(); });
        lap("terms", [&] { backend->terms(); });
        lap("movement_H", [&] { backend->movement_H(); });
        lap("accept", [&] { backend->accept(); });
    }
    lap("evaluate", [&] { backend->evaluate(); });
}

void measure(const std::string& device, const Sizes& sizes) {
    auto began = std::chrono::steady_clock::now();
    const CellRange range = local_range(sizes.cells, all_processes());
    const DataMatrix<float> X = all_processes().count() > 1
                                    ? DataMatrix<float>(sparse_data(sizes, range), range)
                                    : DataMatrix<float>(sparse_data(sizes, range));
    std::vector<double> epsilon;
    const bool of_cells = sizes.order == "sorted" || sizes.order == "unsorted";
    const auto graph = of_cells ? graph_of_cells(sizes, epsilon) : random_graph(sizes);
    Problem<float> problem{&X, graph.get(), epsilon, {1.0, 1.0, 0.1}};
    for (Index t = 0; t < sizes.scales && !of_cells; ++t) {
        problem.epsilon.push_back(1.01 * static_cast<double>(t + 1) / static_cast<double>(sizes.scales));
    }
    problem.data_on_host = sizes.data_on_host;
    SolverOptions options{.tolerance = 0.0, .max_sweeps = sizes.sweeps};
    options.device = device == "cuda" ? Device::cuda : Device::cpu;
    say("{}: {} genes x {} cells, {} nonzeros, rank {}, {} scales, {} graph entries, {} threads; made "
        "in {:.1f} s\n",
        device == "cuda" ? facts_of(Device::cuda).name : "cpu", sizes.genes, sizes.cells, X.nonzeros(),
        sizes.rank, sizes.scales, graph->lists().start.back(), thread_count(), seconds_since(began));
    began = std::chrono::steady_clock::now();
    auto state = start_solver(problem, options, random_start(sizes, X.local()));
    say("start, with its objective: {:.1f} s\n", seconds_since(began));
    time_sweeps(problem, options, state);
    say("the largest rank held {:.0f} MB\n", 1e-6 * most_of(all_processes(), peak_bytes()));
    if (sizes.sweeps_only) {
        return;
    }
    began = std::chrono::steady_clock::now();
    const double evaluated = objective(problem, state.current).total();
    say("objective {:.9g}, by the CPU {:.9g} ({:.1f} s)\n", state.trace.back().total(), evaluated,
        seconds_since(began));
    if (!(std::abs(evaluated - state.trace.back().total()) <= 1e-5 * evaluated)) {
        say("they differ: no times are given\n");
        std::exit(1);
    }
    time_operations(options.device, problem, state);
}

} // namespace
} // namespace pnmf

int main(int argc, char** argv) {
#ifdef PNMF_HAS_MPI
    pnmf::MpiRanks mpi;
    const pnmf::ProcessesScope scope(mpi.processes());
#endif
    const auto number = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
    const auto count = [&](int i, double otherwise) {
        return static_cast<pnmf::Index>(number(i, otherwise));
    };
    pnmf::measure(argc > 1 ? argv[1] : "cpu",
                  {count(2, 2000), count(3, 20000), number(4, 5.0), count(5, 30), count(6, 32), count(7, 26),
                   count(8, 5), argc > 9 ? argv[9] : "random",
                   argc > 10 && std::string_view(argv[10]) == "sweeps",
                   argc > 11 && std::string_view(argv[11]) == "host"});
}
