#include "persistence/candidate_ranking.hpp"
#include "persistence/neighbor_candidates.hpp"
#include "persistence/neighbors_of.hpp"
#include "persistence/searched_pairs.hpp"
#include "solvers/device.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <numeric>

/// How long the exact neighbours and the exact tree of many cells take on a CUDA device, step by step:
///
///     bench_device_pairs [CELLS COMPONENTS NEIGHBOURS [LOOKED_AT…]]
///
/// With LOOKED_AT: the clustered search alone, in which a cell is compared with about so many, with its
/// recall on 10,000 cells. Simulated cells × 2,000 genes, log10(1 + x), unit length; in COMPONENTS principal
/// components, or in all genes where that is 0. The neighbours of a few cells are found anew by the CPU first
/// and must agree.
namespace pnmf {
namespace {

class Lap {
  public:
    void operator()(const char* name) {
        const auto now = std::chrono::steady_clock::now();
        fmt::print("| {} | {:.2f} s |\n", name, std::chrono::duration<double>(now - last_).count());
        std::fflush(stdout);
        last_ = std::chrono::steady_clock::now();
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

SparseMatrix<double> unit_cells(Index cells) {
    const CellModel model =
        make_cell_model({.cells = cells, .genes = 2000, .types = 12, .depth = 145.0, .seed = 0});
    SparseMatrix<double> X = simulate_cells(model, 0, cells).counts;
    parallel_blocks(X.cols, 1024, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            Eigen::Map<Vector> column(X.value.data() + X.start[j], X.start[j + 1] - X.start[j]);
            column = (column.array() + 1.0).log10();
            const double norm = column.norm();
            column /= norm > 0.0 ? norm : 1.0;
        }
    });
    return X;
}

/// Says how often the device is asked, and for how many cells.
class Counted final : public PairSearcher {
  public:
    explicit Counted(PairSearcher& searcher) : searcher_(searcher) {}
    Index most() const override { return searcher_.most(); }
    SearchedLists search(const PairQuery& query) override {
        const auto began = std::chrono::steady_clock::now();
        SearchedLists lists = searcher_.search(query);
        fmt::print("|   a search for {} cells | {:.2f} s |\n", query.cells.size(),
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
        return lists;
    }

  private:
    PairSearcher& searcher_;
};

void check_some(const PairBounds& bounds, const Neighbors& found) {
    const Index n = bounds.points().count();
    Neighbors expected;
    expected.index.resize(found.index.rows(), n);
    expected.distance.resize(found.index.rows(), n);
    const std::vector<Index> some = random_sample(n, std::min<Index>(n, 64), Random(5));
    exact_neighbors_of(bounds, some, expected);
    for (const Index j : some) {
        if (found.index.col(j) != expected.index.col(j) ||
            found.distance.col(j) != expected.distance.col(j)) {
            fmt::print("the neighbours of cell {} differ from the CPU's: no times count\n", j);
            std::exit(1);
        }
    }
}

/// Share of the k nearest of some cells that are among the candidates; the device looks at all pairs for
/// them.
double recall_of(const Points& points, PairSearcher& searcher,
                 const std::vector<std::vector<CellAtDistance>>& found, Index k) {
    const Index n = points.count();
    std::vector<std::int32_t> some;
    for (const Index cell : random_sample(n, std::min<Index>(n, 10000), Random(7))) {
        some.push_back(static_cast<std::int32_t>(cell));
    }
    const SearchedLists lists = searcher.search({.cells = some, .count = searched_count(k)});
    const CandidateRanking ranking(points);
    Index right = 0;
    for (std::size_t q = 0; q < some.size(); ++q) {
        const auto others =
            std::span(lists.cell)
                .subspan(q * static_cast<std::size_t>(lists.count), static_cast<std::size_t>(lists.count));
        const double radius = ranking.nearest(some[q], others, k).back().first;
        right += std::count_if(found[some[q]].begin(), found[some[q]].end(),
                               [&](const CellAtDistance& other) { return other.first <= radius; });
    }
    return static_cast<double>(right) / static_cast<double>(k * std::ssize(some));
}

void measure_clusters(const Points& points, PairSearcher& searcher, Index k,
                      const std::vector<Index>& looked_at) {
    Lap lap;
    const SearchSpace space = search_space(points, clustered_search.dimension, basis_sample, 0);
    lap("search space");
    const CandidateRanking ranking(points);
    for (const Index compared : looked_at) {
        std::vector<std::vector<CellAtDistance>> found(static_cast<std::size_t>(points.count()));
        visit_clustered_candidates(
            space, searched_count(k), {.looked_at = compared}, 0,
            [&](Index cell, std::span<const std::int32_t> candidates) {
                found[cell] = ranking.nearest(cell, candidates, k);
            },
            &searcher);
        lap(fmt::format("clustered search, {} looked at", compared).c_str());
        fmt::print("| recall | {:.4f} |\n", recall_of(points, searcher, found, k));
        lap("all pairs of 10,000 cells");
    }
}

void measure(Index cells, Index components, Index k, const std::vector<Index>& looked_at) {
    fmt::print("{} cells, {} components, {} neighbours, {}, {} threads\n\n| step | time |\n| --- | --- |\n",
               cells, components, k, facts_of(Device::cuda).name, thread_count());
    Lap lap;
    SparseMatrix<double> counts = unit_cells(cells);
    lap("simulated");
    const DataMatrix<double> X(std::move(counts));
    lap("held by rows too");
    Matrix coordinates;
    if (components > 0) {
        coordinates = principal_components(X, components).coordinates(X);
        lap("principal components");
    }
    const Points points =
        components > 0 ? Points(DataView(DenseView<double>(coordinates.data(), coordinates.rows(), cells)))
                       : Points(DataView(X.columns()));
    lap("points");
    const auto device = device_row(Device::cuda).searcher(points);
    lap("points to the device");
    if (!looked_at.empty()) {
        return measure_clusters(points, *device, k, looked_at);
    }
    const PairBounds bounds(points);
    lap("bounds of the CPU");
    Counted searcher(*device);
    std::vector<std::int32_t> all(static_cast<std::size_t>(cells));
    std::iota(all.begin(), all.end(), 0);
    SearchedLists lists = searcher.search({.cells = all, .count = searched_count(k), .reach = true});
    lap("lists of all cells");
    const Neighbors neighbors = searched_neighbors(bounds, lists, k);
    lap("neighbours confirmed");
    const std::vector<Edge> edges = edges_of_neighbors(neighbors);
    lap("their edges, sorted");
    const SpanningTree tree = searched_tree(bounds, searcher, std::move(lists));
    lap("tree");
    check_some(bounds, neighbors);
    lap("some neighbours anew by the CPU");
    fmt::print("{} edges, longest of the tree {:.6g}, largest distance {:.6g}\n", edges.size(),
               tree.edges.back().length, tree.largest_distance);
}

} // namespace
} // namespace pnmf

int main(int argc, char** argv) {
    const auto count = [&](int i, pnmf::Index otherwise) {
        return argc > i ? static_cast<pnmf::Index>(std::atof(argv[i])) : otherwise;
    };
    if (!pnmf::facts_of(pnmf::Device::cuda).found) {
        fmt::print("no CUDA device: {}\n", pnmf::facts_of(pnmf::Device::cuda).reason);
        return 1;
    }
    std::vector<pnmf::Index> looked_at;
    for (int i = 4; i < argc; ++i) {
        looked_at.push_back(count(i, 0));
    }
    pnmf::measure(count(1, 100000), count(2, 30), count(3, 15), looked_at);
    return 0;
}
