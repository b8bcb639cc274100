#include "cells/cell_blocks.hpp"
#include "persistence/cluster_lists.hpp"
#include "persistence/searched_pairs.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <vector>

namespace pnmf {
namespace {

/// What the cells of one list are compared with: the central cells, then the lists nearest to it.
std::vector<std::int32_t> others_of(const ListOrder& all, const std::vector<Index>& looked_at,
                                    const std::vector<std::int32_t>& central) {
    std::vector<std::int32_t> others = central;
    for (const Index l : looked_at) {
        const List& list = all.lists[l];
        others.insert(others.end(), all.order.begin() + list.begin, all.order.begin() + list.central);
    }
    return others;
}

} // namespace

void visit_clustered_candidates(const SearchSpace& space, Index count, const ClusterSettings& settings,
                                std::uint64_t seed, PairSearcher& searcher, const CandidateVisitor& visit) {
    const Index n = space.vectors.cols();
    const auto V = space.vectors.topRows(space.dimension);
    const FloatVector own = (V.colwise().squaredNorm() + space.vectors.bottomRows<1>()).transpose();
    const Index number = number_of_centres(n, settings);
    const Floats sample = V(Eigen::all, sample_for_centres(n, number, seed));
    const Floats centres = find_centres(sample, number);
    const std::vector<std::int32_t> central = central_cells(own, std::min(n, settings.central));
    const ListOrder all = order_lists(nearest_centres(V, centres, usual_blocks(n).panel()), number, central);
    const FloatVector centre_own = centres.colwise().squaredNorm().transpose();
    const auto lists = std::ssize(all.lists);
    constexpr Index at_once = 64; // lists whose others are named while the device waits
    for (Index first = 0; first < lists; first += at_once) {
        const Index here = std::min(at_once, lists - first);
        std::vector<std::vector<std::int32_t>> others(static_cast<std::size_t>(here));
        parallel_for(here, [&](Index l) {
            others[l] = others_of(
                all, lists_to_look_at(all.lists, first + l, centres, centre_own, settings.looked_at),
                central);
        });
        for (Index l = 0; l < here; ++l) {
            const List& mine = all.lists[first + l];
            const auto cells = std::span(all.order).subspan(mine.begin, mine.end - mine.begin);
            const SearchedLists found = searcher.search(
                {.cells = cells, .among = others[l], .count = std::min(count, searcher.most())});
            parallel_blocks(std::ssize(cells), queries_at_once, [&](Index begin, Index end) {
                for (Index q = begin; q < end; ++q) {
                    const auto named = std::span(found.cell).subspan(q * found.count, found.count);
                    const auto past = std::find(named.begin(), named.end(), -1);
                    visit(cells[q], named.first(past - named.begin()));
                }
            });
        }
    }
}

} // namespace pnmf
