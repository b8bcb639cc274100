#include "graphs/dense_graph.hpp"
#include "graphs/sparse_graph.hpp"
#include "graphs/tree_filtration.hpp"
#include "persistence/balanced_edges.hpp"
#include "persistence/neighbor_tree.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>

#include <cmath>
#include <functional>
#include <utility>

namespace pnmf {
namespace {

void add_search_notices(Filtration& filtration, Index neighbors) {
    const NeighborEdges& found = *filtration.neighbors;
    filtration.notices.push_back(
        fmt::format("graph: {} nearest neighbours and the minimum spanning tree", neighbors));
    if (found.search != NeighborSearch::exact) {
        filtration.notices.push_back(
            fmt::format("neighbours searched approximately: {:.1f} % of the true ones found "
                        "for {} cells tried; an exact search gives another result",
                        100.0 * found.recall, found.sampled));
    }
    if (!filtration.tree_is_exact) {
        filtration.notices.emplace_back(
            "the spanning tree is that of the neighbours found, not of all pairs: "
            "scales are no smaller than the exact ones");
    }
}

/// Tree and scales of neighbours that are balanced over batches.
Filtration balanced_tree_and_scales(const Points& points, const FiltrationOptions& options,
                                    std::uint64_t seed) {
    require(options.neighbors.has_value(),
            "neighbours can be balanced over batches only where there are neighbours: give their number");
    require(options.search == NeighborSearch::automatic || options.search == NeighborSearch::exact,
            "neighbours balanced over batches are searched exactly, {} cannot be asked for",
            name_of(options.search));
    BalancedEdges balanced = balanced_edges(points, options.batch, *options.neighbors);
    Filtration filtration;
    filtration.tree = minimum_spanning_tree(balanced.edges);
    filtration.tree_is_exact = false;
    filtration.scales =
        choose_scales({.tree = filtration.tree, .edges = &balanced.edges, .seed = seed}, options.scales);
    filtration.notices.push_back(
        fmt::format("graph: {} nearest neighbours of each cell in each of {} batches, and the spanning tree "
                    "of these edges; {:.0f} % of the cells have mutual neighbours in every other batch",
                    balanced.of_each, balanced.batches, 100.0 * balanced.anchored));
    filtration.notices.push_back(fmt::format(
        "edges between batches are made shorter, by {:.3g} in the middle; the values that are factorised are "
        "not corrected",
        balanced.shift));
    filtration.neighbors = NeighborEdges{.edges = std::move(balanced.edges.edges)};
    return filtration;
}

/// Tree, neighbours and graph are there; `source` is what scales may look at beside the tree.
Filtration with_scales(TreeAndNeighbors found, const ScaleOptions& scales,
                       const std::function<ScaleSource(const SpanningTree&)>& source) {
    Filtration filtration;
    filtration.tree_is_exact = found.tree_is_exact();
    filtration.tree = std::move(found.tree);
    filtration.neighbors = std::move(found.neighbors);
    ScaleSource choosing = source(filtration.tree);
    choosing.neighbors = filtration.neighbors ? &filtration.neighbors->edges : nullptr;
    filtration.scales = choose_scales(choosing, scales);
    if (!filtration.scales.wanted.empty()) {
        filtration.notices.push_back(
            fmt::format("scales: {} loop{} more than chance, or the most persistent, with "
                        "the scales of birth and death",
                        filtration.scales.wanted.size() / 2, filtration.scales.wanted.size() > 2 ? "s" : ""));
    }
    return filtration;
}

} // namespace

void check_options(const FiltrationOptions& options) {
    require(std::isfinite(options.alpha) && options.alpha > 0.0,
            "alpha must be a finite number above 0, got {}", options.alpha);
}

Filtration tree_and_scales(const Points& points, const FiltrationOptions& options, std::uint64_t seed,
                           PairSearcher* searcher) {
    check_options(options);
    if (!options.batch.empty()) {
        return balanced_tree_and_scales(points, options, seed);
    }
    Filtration filtration = with_scales(
        tree_and_neighbors(points, options.neighbors, options.search, seed, searcher), options.scales,
        [&](const SpanningTree& tree) { return ScaleSource{.tree = tree, .points = &points, .seed = seed}; });
    if (filtration.neighbors) {
        add_search_notices(filtration, *options.neighbors);
    }
    return filtration;
}

Filtration make_filtration(const Points& points, const FiltrationOptions& options, std::uint64_t seed,
                           PairSearcher* searcher) {
    Filtration filtration = tree_and_scales(points, options, seed, searcher);
    if (filtration.neighbors) {
        filtration.graph = std::make_unique<SparseMultiscaleGraph>(
            filtration.tree, filtration.neighbors->edges, options.alpha);
    } else {
        filtration.graph = std::make_unique<DenseMultiscaleGraph>(points, filtration.tree, options.alpha);
    }
    return filtration;
}

Filtration make_filtration(const SortedEdges& edges, const FiltrationOptions& options, std::uint64_t seed) {
    check_options(options);
    require(!options.neighbors, "a neighbour graph was given: {} nearest neighbours cannot be asked for too",
            options.neighbors.value_or(0));
    require(options.batch.empty(),
            "a neighbour graph was given: its neighbours cannot be balanced over batches");
    Filtration filtration;
    filtration.tree = minimum_spanning_tree(edges);
    filtration.scales =
        choose_scales({.tree = filtration.tree, .edges = &edges, .seed = seed}, options.scales);
    filtration.graph = std::make_unique<SparseMultiscaleGraph>(filtration.tree, edges.edges, options.alpha);
    filtration.notices.push_back(fmt::format("graph: the {} edges given", edges.edges.size()));
    return filtration;
}

Filtration tree_filtration(TreeAndNeighbors found, const FiltrationOptions& options, std::uint64_t seed) {
    const SortedEdges none(found.tree.cells, {});
    Filtration filtration = with_scales(std::move(found), options.scales, [&](const SpanningTree& tree) {
        return ScaleSource{.tree = tree, .edges = &none, .seed = seed};
    });
    add_search_notices(filtration, *options.neighbors);
    filtration.graph =
        std::make_unique<SparseMultiscaleGraph>(filtration.tree, filtration.neighbors->edges, options.alpha);
    return filtration;
}

SortedEdges edges_of(const Points& points, const Filtration& filtration) {
    if (!filtration.neighbors) {
        return all_pairs(points);
    }
    std::vector<Edge> edges = filtration.tree.edges;
    edges.insert(edges.end(), filtration.neighbors->edges.begin(), filtration.neighbors->edges.end());
    return sorted_edges(filtration.tree.cells, std::move(edges));
}

} // namespace pnmf
