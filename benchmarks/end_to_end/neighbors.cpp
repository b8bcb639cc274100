#include "persistence/neighbor_tree.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

/// What approximate neighbours, and a spanning tree of them alone, cost and miss:
///
///     bench_neighbors INPUT [approximate] [space]
///
/// Counts as log10(1 + x), cells of unit length, 15 neighbours; with `space` the principal components that a
/// fit makes by default. Recall is that of 200 cells. The tree is held
/// against the exact one: share of its edges that are the exact tree's, and its deaths, in order, above the
/// exact ones. With `approximate` nothing exact is computed but the recall.

namespace pnmf {
namespace {

struct Cost {
    double wall = 0.0;
    double processor = 0.0;
};

Cost cost_of(const std::function<void()>& work) {
    const auto began = std::chrono::steady_clock::now();
    const std::clock_t clock = std::clock();
    work();
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(),
            static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC};
}

SparseMatrix<double> log_unit(SparseMatrix<double> X) {
    for (Index j = 0; j < X.cols; ++j) {
        Eigen::Map<Eigen::ArrayXd> column(X.value.data() + X.start[j], X.start[j + 1] - X.start[j]);
        column = (1.0 + column).log10();
        column /= column.matrix().norm();
    }
    return X;
}

Points points_of_counts(const char* path) {
    Dataset data = read_dataset(path);
    return Points(log_unit(std::move(std::get<SparseMatrix<double>>(data.X))));
}

Points points_in_components(const char* path) {
    AnalysisOptions options;
    options.preset = Preset::cells;
    return Points(std::move(read_planned(path, options).data.space.value().coordinates));
}

void report(std::string_view what, const Cost& cost, const std::string& found) {
    fmt::print("| {} | {:.1f} | {:.1f} | {} |\n", what, cost.wall, cost.processor, found);
    std::fflush(stdout);
}

void compare(const SpanningTree& tree, const Cost& cost, const SpanningTree& exact) {
    std::vector<Edge> common;
    std::set_intersection(tree.edges.begin(), tree.edges.end(), exact.edges.begin(), exact.edges.end(),
                          std::back_inserter(common));
    const std::vector<double> deaths = h0_diagram(tree).deaths;
    const std::vector<double> least = h0_diagram(exact).deaths;
    double sum = 0.0;
    double sum_least = 0.0;
    double worst = 0.0;
    for (std::size_t k = 0; k < deaths.size(); ++k) {
        sum += deaths[k];
        sum_least += least[k];
        worst = std::max(worst, least[k] > 0.0 ? deaths[k] / least[k] - 1.0 : 0.0);
    }
    report("tree of the neighbours", cost,
           fmt::format("{:.1f} % of the exact edges; deaths {:.3f} % later on average, {:.2f} % at most; "
                       "largest distance {:.4f} of {:.4f}",
                       100.0 * static_cast<double>(common.size()) / static_cast<double>(exact.edges.size()),
                       100.0 * (sum / sum_least - 1.0), 100.0 * worst, tree.largest_distance,
                       exact.largest_distance));
}

void measure(const Points& points, bool approximate) {
    fmt::print("| work | wall s | processor s | found |\n| --- | --- | --- | --- |\n");
    SpanningTree exact;
    if (!approximate) {
        const Cost cost = cost_of([&] { exact = minimum_spanning_tree(points); });
        report("exact tree", cost, fmt::format("{} edges", exact.edges.size()));
    }
    for (const auto& [name, search] : {std::pair{"exact neighbours", NeighborSearch::exact},
                                       std::pair{"screened neighbours", NeighborSearch::screened},
                                       std::pair{"clustered neighbours", NeighborSearch::clustered}}) {
        if (approximate && search != NeighborSearch::clustered) {
            continue;
        }
        NeighborEdges found;
        const Cost cost = cost_of([&] { found = neighbor_edges(points, {.search = search}); });
        report(name, cost, fmt::format("recall {:.4f}", found.recall));
        if (search == NeighborSearch::clustered) {
            SpanningTree tree;
            const Cost more = cost_of([&] { tree = neighbor_tree(points, found.edges); });
            if (approximate) {
                report("tree of the neighbours", more, "");
            } else {
                compare(tree, more, exact);
            }
        }
    }
}

} // namespace
} // namespace pnmf

int main(int argc, char** argv) {
    using namespace pnmf;
    if (argc < 2) {
        fmt::print(stderr, "bench_neighbors INPUT [approximate] [space]\n");
        return 2;
    }
    const std::set<std::string_view> asked(argv + 2, argv + argc);
    const Points points = asked.contains("space") ? points_in_components(argv[1]) : points_of_counts(argv[1]);
    fmt::print("{} cells, {} features, {} threads\n", points.count(), points.dimensions(), thread_count());
    measure(points, asked.contains("approximate"));
}
