#include "assess/modularity.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace pnmf {
namespace {

constexpr Index cells_of_block = 8192;

} // namespace

double modularity(const NeighborLists& graph, const std::vector<Index>& clusters) {
    require(std::ssize(clusters) == graph.cells(), "{} cells need as many clusters, got {}", graph.cells(),
            clusters.size());
    if (graph.cell.empty()) {
        return 0.0;
    }
    const Index count = *std::max_element(clusters.begin(), clusters.end()) + 1;
    const Index blocks = (graph.cells() + cells_of_block - 1) / cells_of_block;
    std::vector<std::int64_t> inside_of(static_cast<std::size_t>(blocks), 0); // each edge at both ends
    std::vector<std::vector<std::int64_t>> degree_of(inside_of.size());
    parallel_blocks(graph.cells(), cells_of_block, [&](Index begin, Index end) {
        const auto b = static_cast<std::size_t>(begin / cells_of_block);
        std::int64_t inside = 0;
        std::vector<std::int64_t> degree(static_cast<std::size_t>(count), 0);
        for (Index j = begin; j < end; ++j) {
            for (auto e = graph.start[j]; e < graph.start[j + 1]; ++e) {
                inside += clusters[graph.cell[e]] == clusters[j] ? 1 : 0;
            }
            degree[clusters[j]] += graph.start[j + 1] - graph.start[j];
        }
        inside_of[b] = inside;
        degree_of[b] = std::move(degree);
    });
    const std::int64_t inside = std::accumulate(inside_of.begin(), inside_of.end(), std::int64_t{0});
    std::vector<std::int64_t> degree(static_cast<std::size_t>(count), 0);
    for (const std::vector<std::int64_t>& part : degree_of) {
        std::transform(degree.begin(), degree.end(), part.begin(), degree.begin(), std::plus<>());
    }
    const auto ends = static_cast<double>(graph.cell.size());
    double expected = 0.0;
    for (const std::int64_t d : degree) {
        const double share = static_cast<double>(d) / ends;
        expected += share * share;
    }
    return static_cast<double>(inside) / ends - expected;
}

} // namespace pnmf
