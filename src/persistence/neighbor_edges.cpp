#include "cells/processes.hpp"
#include "cells/shared_work.hpp"
#include "linalg/large_pages.hpp"
#include "persistence/candidate_ranking.hpp"
#include "persistence/neighbor_candidates.hpp"
#include "persistence/neighbors.hpp"
#include "persistence/neighbors_of.hpp"
#include "persistence/searched_pairs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace pnmf {
namespace {

using Candidate = CellAtDistance;

/// What the other processes have found for their cells.
void gather_nearest(std::vector<std::vector<Candidate>>& nearest) {
    Processes& processes = all_processes();
    if (processes.count() == 1) {
        return;
    }
    struct Found {
        Index cell;
        double length;
        Index other;
    };
    std::vector<Found> mine;
    for (std::size_t cell = 0; cell < nearest.size(); ++cell) {
        for (const auto& [length, other] : nearest[cell]) {
            mine.push_back({static_cast<Index>(cell), length, other});
        }
        nearest[cell].clear();
    }
    for (const Found& found : gather_any(processes, mine)) {
        nearest[found.cell].emplace_back(found.length, found.other);
    }
}

/// For each cell its k nearest, as far as the search finds them.
std::vector<std::vector<Candidate>> approximate_neighbors(const Points& points, NeighborSearch search,
                                                          const NeighborOptions& options) {
    const Index n = points.count();
    const auto [k, asked, seed, searcher] = options;
    const bool screened = search == NeighborSearch::screened;
    const SearchSettings settings = screened ? screened_search : clustered_search;
    const SearchSpace space = search_space(points, settings.dimension, basis_sample, seed);
    const Index candidates = settings.candidates_of(n, k, points.dimensions());
    const CandidateRanking ranking(points);
    std::vector<std::vector<Candidate>> nearest(static_cast<std::size_t>(n));
    const auto rank = [&, k = k](Index cell, std::span<const std::int32_t> found) {
        nearest[cell] = ranking.nearest(cell, found, k);
    };
    if (screened) {
        visit_screened_candidates(space, candidates, rank);
    } else if (searcher != nullptr) {
        visit_clustered_candidates(space, searched_count(k), clusters_of_device, seed, rank, searcher);
    } else {
        visit_clustered_candidates(space, candidates, ClusterSettings{}, seed, rank);
    }
    gather_nearest(nearest);
    for (int round = 0; !screened && round < clustered_rounds; ++round) {
        const NeighborTable table(nearest, k);
        nearest.assign(nearest.size(), {});
        over_shared_blocks(n, 256, [&](Index begin, Index end) {
            std::vector<std::int32_t> others;
            for (Index cell = begin; cell < end; ++cell) {
                table.two_steps_from(cell, others);
                rank(cell, others);
            }
        });
        gather_nearest(nearest);
    }
    return nearest;
}

/// Share of the true k nearest neighbours that were found, over the sampled cells. A cell as near as the k-th
/// nearest is a true neighbour, whichever of equals was taken.
double measured_recall(const Points& points, const std::vector<std::vector<Candidate>>& nearest, Index k,
                       const std::vector<Index>& sample) {
    const CandidateRanking ranking(points);
    std::vector<Index> found(sample.size(), 0);
    over_shared_items(std::ssize(sample), [&](Index s) {
        const Index j = sample[s];
        std::vector<std::int32_t> others(static_cast<std::size_t>(points.count()));
        std::iota(others.begin(), others.end(), 0);
        others.erase(others.begin() + j);
        const double radius = ranking.nearest(j, others, k).back().first;
        found[s] = std::count_if(nearest[j].begin(), nearest[j].end(),
                                 [&](const Candidate& candidate) { return candidate.first <= radius; });
    });
    gather_blocks(1, std::span(found));
    const Index total = std::accumulate(found.begin(), found.end(), Index{0});
    return static_cast<double>(total) / static_cast<double>(k * static_cast<Index>(sample.size()));
}

/// Blocks of fixed size are sorted beside each other, then merged two by two.
void sort_edges(std::vector<Edge>& edges) {
    constexpr Index block = Index{1} << 15U;
    const auto size = std::ssize(edges);
    const auto at = [&](Index place) { return edges.begin() + std::min<Index>(place, size); };
    parallel_blocks(size, block, [&](Index begin, Index end) { std::sort(at(begin), at(end)); });
    for (Index width = block; width < size; width *= 2) {
        parallel_blocks(size, 2 * width, [&](Index begin, Index end) {
            std::inplace_merge(at(begin), at(begin + width), at(end));
        });
    }
}

Edge edge_between(Index i, Index j, double length) {
    return {length, std::min(i, j), std::max(i, j)};
}

NeighborEdges exact_edges(const Points& points, Index k) {
    NeighborEdges result;
    result.edges = edges_of_neighbors(exact_neighbors(points, k));
    return result;
}

NeighborEdges approximate_edges(const Points& points, NeighborSearch search, const NeighborOptions& options) {
    const Index n = points.count();
    const auto nearest = approximate_neighbors(points, search, options);
    std::vector<Index> first{0}; // edge of each cell
    for (const std::vector<Candidate>& found : nearest) {
        first.push_back(first.back() + std::ssize(found));
    }
    std::vector<Edge> edges;
    resize_on_large_pages(edges, static_cast<std::size_t>(first.back()));
    parallel_blocks(n, 1024, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            Index e = first[j];
            for (const auto& [length, i] : nearest[j]) {
                edges[e++] = edge_between(i, j, length);
            }
        }
    });
    NeighborEdges result;
    result.search = search;
    result.edges = distinct_edges(std::move(edges));
    const std::vector<Index> sample = sample_for_recall(n, options.seed);
    result.sampled = static_cast<Index>(sample.size());
    result.recall = measured_recall(points, nearest, options.neighbors, sample);
    return result;
}

} // namespace

Index SearchSettings::candidates_of(Index n, Index k, Index features) const {
    if (spare > 0 && features <= dimension) {
        return std::min(n - 1, k + spare);
    }
    const Index by_size = among > 0 ? n / among : 0;
    return std::min(n - 1, std::max({candidates, for_a_neighbor * k, by_size}));
}

NeighborSearch chosen_search(NeighborSearch asked, Index cells, bool have_coordinates) {
    if (asked != NeighborSearch::automatic) {
        return asked;
    }
    return !have_coordinates || cells <= largest_exact_search ? NeighborSearch::exact
           : cells <= largest_screened_search                 ? NeighborSearch::screened
                                                              : NeighborSearch::clustered;
}

void check_neighbors(Index k, Index cells) {
    require(k >= 1 && k < cells,
            "the number of neighbours must be at least 1 and less than the {} cells, got {}", cells, k);
}

void keep_nearest(std::vector<CellAtDistance>& candidates, Index k) {
    const auto kept = std::min(candidates.size(), static_cast<std::size_t>(k));
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept),
                      candidates.end());
    candidates.resize(kept);
}

std::vector<Index> sample_for_recall(Index cells, std::uint64_t seed) {
    constexpr Index sampled = 200;
    return sample_of_cells(cells, std::min(cells, sampled), seed);
}

std::vector<Edge> distinct_edges(std::vector<Edge> edges) {
    sort_edges(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

std::vector<Edge> edges_of_neighbors(const Neighbors& neighbors) {
    std::vector<Edge> edges;
    edges.reserve(static_cast<std::size_t>(neighbors.index.size()));
    for (Index j = 0; j < neighbors.index.cols(); ++j) {
        for (Index r = 0; r < neighbors.index.rows(); ++r) {
            edges.push_back(edge_between(j, neighbors.index(r, j), neighbors.distance(r, j)));
        }
    }
    return distinct_edges(std::move(edges));
}

NeighborEdges neighbor_edges(const Points& points, const NeighborOptions& options) {
    const Index n = points.count();
    const Index k = options.neighbors;
    check_neighbors(k, n);
    const bool have_coordinates = points.dimensions() > 0;
    const NeighborSearch search = chosen_search(options.search, n, have_coordinates);
    if (search == NeighborSearch::exact) {
        return exact_edges(points, k);
    }
    require(have_coordinates,
            "an approximate search of neighbours needs coordinates, but only distances were given");
    return approximate_edges(points, search, options);
}

} // namespace pnmf
