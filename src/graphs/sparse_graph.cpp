#include "graphs/sparse_graph.hpp"
#include "graphs/scale_forms.hpp"
#include "graphs/tree_order.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <utility>

namespace pnmf {

SparseMultiscaleGraph::SparseMultiscaleGraph(SpanningTree tree, const std::vector<Edge>& neighbors,
                                             double alpha)
    : tree_(std::move(tree)), alpha_(alpha) {
    check_alpha(alpha);
    const Index n = tree_.cells;
    for (const Edge& edge : neighbors) {
        require(0 <= edge.i && edge.i < edge.j && edge.j < n,
                "an edge must join two of the {} cells, the smaller one first, got {} and {}", n, edge.i,
                edge.j);
    }
    std::vector<Edge> edges = tree_.edges;
    const auto tree_ends = static_cast<std::ptrdiff_t>(edges.size());
    edges.insert(edges.end(), neighbors.begin(), neighbors.end());
    // Both ascend as a rule: then merging spares sorting them all.
    const auto middle = edges.begin() + tree_ends;
    if (std::is_sorted(edges.begin(), middle) && std::is_sorted(middle, edges.end())) {
        std::inplace_merge(edges.begin(), middle, edges.end());
    }
    lists_ = std::make_shared<const NeighborLists>(symmetric_lists(n, std::move(edges)));
}

SparseMultiscaleGraph::SparseMultiscaleGraph(const SparseMultiscaleGraph& graph, const FitOrder& order)
    : tree_(renumbered(graph.tree_, order)), alpha_(graph.alpha_),
      lists_(std::make_shared<const NeighborLists>(renumbered(*graph.lists_, order))) {}

std::unique_ptr<MultiscaleGraph::Scale> SparseMultiscaleGraph::at(double epsilon) const {
    return std::make_unique<ListScale>(
        lists_, std::make_shared<const ListWeights>(weigh_prefixes(*lists_, EdgeWeight(epsilon, alpha_))));
}

} // namespace pnmf
