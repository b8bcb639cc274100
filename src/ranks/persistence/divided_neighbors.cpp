#include "persistence/neighbors_of.hpp"
#include "ranks/persistence/divided_search.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace pnmf {

namespace {

using Candidate = std::pair<double, Index>; // distance, cell

/// Brings the nearest out of a block to those found before: by distance, then by the number among all cells.
void merge_nearest(const Neighbors& block, const std::vector<Index>& names, Index k,
                   std::vector<std::vector<Candidate>>& nearest) {
    parallel_for(block.index.cols(), [&](Index j) {
        std::vector<Candidate>& list = nearest[j];
        const auto middle = std::ssize(list);
        for (Index r = 0; r < block.index.rows(); ++r) {
            list.emplace_back(block.distance(r, j), names[block.index(r, j)]);
        }
        std::inplace_merge(list.begin(), list.begin() + middle, list.end());
        list.resize(std::min(list.size(), static_cast<std::size_t>(k)));
    });
}

} // namespace

std::vector<Edge> divided_exact_edges(const DividedPoints& points, Index k) {
    Meeting meeting(points);
    const Index own = meeting.own();
    std::vector<std::vector<Candidate>> nearest(static_cast<std::size_t>(own));
    for (Index step = 0; step < points.processes().count(); ++step) {
        meeting.meet(step);
        std::vector<Index> all(static_cast<std::size_t>(meeting.count()));
        std::iota(all.begin(), all.end(), Index{0});
        const std::span<const Index> cells = std::span<const Index>(all).first(own);
        const std::span<const Index> among = step == 0 ? cells : std::span<const Index>(all).subspan(own);
        const Index found = std::min<Index>(k, std::ssize(among) - (step == 0 ? 1 : 0));
        if (own == 0 || found < 1) {
            continue;
        }
        Neighbors block;
        block.index.resize(found, own);
        block.distance.resize(found, own);
        const Points here = meeting.points();
        exact_neighbors_of(PairBounds(here), cells, among, block);
        merge_nearest(block, meeting.names(), k, nearest);
    }
    std::vector<Edge> edges;
    edges.reserve(static_cast<std::size_t>(k * own));
    for (Index j = 0; j < own; ++j) {
        for (const auto& [length, other] : nearest[j]) {
            const Index cell = points.local().first + j;
            edges.push_back({length, std::min(cell, other), std::max(cell, other)});
        }
        nearest[j] = {};
    }
    return distinct_edges(std::move(edges));
}

} // namespace pnmf
