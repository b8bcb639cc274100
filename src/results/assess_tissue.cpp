#include "results/assess_tissue.hpp"

#include "graphs/tree_order.hpp"
#include "linalg/parallel_copy.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/sparse_graph.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>

#include <algorithm>

namespace pnmf {

NeighborLists expression_neighbors(const DataView& X, std::uint64_t seed) {
    constexpr Index components = 30;
    constexpr Index neighbors = 8;
    const auto data = std::visit([](const auto& view) { return DataMatrix<double>(view); }, X);
    const Points points(component_space(data, components).coordinates);
    NeighborEdges found =
        neighbor_edges(points, {.neighbors = std::min(neighbors, points.count() - 1), .seed = seed});
    return symmetric_lists(points.count(), std::move(found.edges));
}

template <class Real>
Domains tissue_domains(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                       const DomainOptions& options) {
    const auto* graph = dynamic_cast<const SparseMultiscaleGraph*>(prepared.graph.get());
    require(graph != nullptr, "domains need a graph of nearest neighbours: give their number");
    NeighborLists lists; // in the order of the data
    if (!prepared.order.empty()) {
        lists = renumbered(graph->lists(), inverse(prepared.order));
    }
    const auto embedding = [&](Index t) {
        return converted<double>(result.factors.H[static_cast<std::size_t>(t)]);
    };
    return find_domains(result.scales.epsilon, Embeddings(embedding),
                        prepared.order.empty() ? graph->lists() : lists, options);
}

template Domains tissue_domains(const PreparedFit<float>&, const FitResult<float>&, const DomainOptions&);
template Domains tissue_domains(const PreparedFit<double>&, const FitResult<double>&, const DomainOptions&);

} // namespace pnmf
