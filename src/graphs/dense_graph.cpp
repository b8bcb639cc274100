#include <pnmf/error.hpp>
#include <pnmf/graphs/dense_graph.hpp>
#include <pnmf/parallel.hpp>

#include "graphs/scale_forms.hpp"

#include <pnmf/persistence/diagram.hpp>

#include <algorithm>
#include <utility>

namespace pnmf {
namespace {

/// Neighbours a list holds. Measured: beyond about this share of the pairs a table and a dense product are
/// quicker than lists and a gathered one (docs/decisions/0040-graphs-of-one-scale.md).
Index list_length(Index n) {
    return std::min(n - 1, std::max<Index>(8, n / 16));
}

Matrix distance_table(const Points& points) {
    const Index n = points.count();
    Matrix table(n, n);
    parallel_for(n, [&](Index j) { points.distances_from(j, table.col(j)); });
    return table;
}

} // namespace

DenseMultiscaleGraph::DenseMultiscaleGraph(const Points& points, SpanningTree tree, double alpha)
    : tree_(std::move(tree)), alpha_(alpha) {
    check_alpha(alpha);
    const Index n = points.count();
    require(tree_.cells == n, "the spanning tree must have the {} cells of the points, got {}", n,
            tree_.cells);
    distances_ = distance_table(points);
    const Index length = list_length(n);
    NeighborLists nearest = nearest_in_table(distances_, length);
    if (length < n - 1) {
        for (Index j = 0; j < n; ++j) {
            reach_ = std::min(reach_, nearest.length[nearest.start[j + 1] - 1]);
        }
    }
    nearest_ = std::make_shared<const NeighborLists>(std::move(nearest));
}

std::unique_ptr<MultiscaleGraph::Scale> DenseMultiscaleGraph::at(double epsilon) const {
    const EdgeWeight edge_weight(epsilon, alpha_);
    if (epsilon <= reach_) {
        ListWeights weights = weigh_prefixes(*nearest_, edge_weight);
        weights.facts.set_components(components(tree_, epsilon));
        return std::make_unique<ListScale>(nearest_, std::make_shared<const ListWeights>(std::move(weights)));
    }
    ScaleFacts facts;
    Matrix adjacency = weigh_table(distances_, edge_weight, facts);
    facts.set_components(components(tree_, epsilon));
    return std::make_unique<TableScale>(std::move(adjacency), std::move(facts));
}

} // namespace pnmf
