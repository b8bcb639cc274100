#include <pnmf/assess/modularity.hpp>
#include <pnmf/error.hpp>

#include <algorithm>

namespace pnmf {

double modularity(const NeighborLists& graph, const std::vector<Index>& clusters) {
    require(std::ssize(clusters) == graph.cells(), "{} cells need as many clusters, got {}", graph.cells(),
            clusters.size());
    if (graph.cell.empty()) {
        return 0.0;
    }
    const Index count = *std::max_element(clusters.begin(), clusters.end()) + 1;
    std::vector<double> degree(static_cast<std::size_t>(count), 0.0);
    std::int64_t inside = 0; // each edge at both ends
    for (Index j = 0; j < graph.cells(); ++j) {
        for (auto e = graph.start[j]; e < graph.start[j + 1]; ++e) {
            inside += clusters[graph.cell[e]] == clusters[j] ? 1 : 0;
        }
        degree[clusters[j]] += static_cast<double>(graph.start[j + 1] - graph.start[j]);
    }
    const auto ends = static_cast<double>(graph.cell.size());
    double expected = 0.0;
    for (const double d : degree) {
        expected += (d / ends) * (d / ends);
    }
    return static_cast<double>(inside) / ends - expected;
}

} // namespace pnmf
