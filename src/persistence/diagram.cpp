#include <pnmf/error.hpp>
#include <pnmf/persistence/diagram.hpp>

#include "persistence/union_find.hpp"

#include <algorithm>

namespace pnmf {

Diagram h0_diagram(const SpanningTree& tree) {
    Diagram diagram;
    diagram.deaths.reserve(tree.edges.size());
    for (const Edge& edge : tree.edges) {
        diagram.deaths.push_back(edge.length);
    }
    return diagram;
}

Index betti0(const Diagram& diagram, double epsilon) {
    require(epsilon > 0.0, "a scale must be positive, got {}", epsilon);
    const auto merged = std::lower_bound(diagram.deaths.begin(), diagram.deaths.end(), epsilon);
    return 1 + (diagram.deaths.end() - merged);
}

std::vector<Merge> merge_tree(const SpanningTree& tree) {
    std::vector<Merge> merges;
    merges.reserve(tree.edges.size());
    UnionFind sets(tree.cells);
    std::vector<Index> cluster(static_cast<std::size_t>(tree.cells)); // of each representative
    std::iota(cluster.begin(), cluster.end(), Index{0});
    for (const Edge& edge : tree.edges) {
        const Index a = cluster[sets.find(edge.i)];
        const Index b = cluster[sets.find(edge.j)];
        sets.join(edge.i, edge.j);
        cluster[sets.find(edge.i)] = tree.cells + static_cast<Index>(merges.size());
        merges.push_back({std::min(a, b), std::max(a, b), edge.length, sets.size(edge.i)});
    }
    return merges;
}

std::vector<Index> components(const SpanningTree& tree, double epsilon) {
    UnionFind sets(tree.cells);
    for (const Edge& edge : tree.edges) {
        if (!(edge.length < epsilon)) {
            break;
        }
        sets.join(edge.i, edge.j);
    }
    std::vector<Index> component(static_cast<std::size_t>(tree.cells));
    std::vector<Index> number(static_cast<std::size_t>(tree.cells), -1); // of each representative
    Index next = 0;
    for (Index cell = 0; cell < tree.cells; ++cell) {
        Index& mine = number[sets.find(cell)];
        if (mine < 0) {
            mine = next++;
        }
        component[cell] = mine;
    }
    return component;
}

Index component_count(const std::vector<Index>& components) {
    return components.empty() ? 0 : 1 + *std::max_element(components.begin(), components.end());
}

} // namespace pnmf
