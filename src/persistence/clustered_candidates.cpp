#include "cells/cell_blocks.hpp"
#include "cells/shared_work.hpp"
#include "persistence/cluster_lists.hpp"
#include "persistence/neighbor_candidates.hpp"
#include "persistence/pair_searcher.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <vector>

namespace pnmf {
namespace {

constexpr Index lists_on_device = 64; // whose others are in memory at a time: a device looks at many more
constexpr Index ranked_at_once = 32;  // so that all threads have some of the cells of one list

void visit_by_device(PairSearcher& searcher, std::span<const std::int32_t> cells,
                     std::span<const std::int32_t> others, Index count, const CandidateVisitor& visit) {
    const SearchedLists found =
        searcher.search({.cells = cells, .among = others, .count = std::min(count, searcher.most())});
    parallel_blocks(std::ssize(cells), ranked_at_once, [&](Index begin, Index end) {
        for (Index q = begin; q < end; ++q) {
            const auto named = std::span(found.cell).subspan(q * found.count, found.count);
            visit(cells[q], named.first(std::find(named.begin(), named.end(), -1) - named.begin()));
        }
    });
}

} // namespace

void visit_clustered_candidates(const SearchSpace& space, Index count, const ClusterSettings& settings,
                                std::uint64_t seed, const CandidateVisitor& visit, PairSearcher* searcher) {
    const Index n = space.vectors.cols();
    const Index panel = usual_blocks(n).panel();
    const auto V = space.vectors.topRows(space.dimension);
    const FloatVector own = (V.colwise().squaredNorm() + space.vectors.bottomRows<1>()).transpose();
    const Index number = number_of_centres(n, settings);
    const std::vector<Index> sampled = sample_for_centres(n, number, seed);
    const Floats sample = V(Eigen::all, sampled);
    const Floats centres = find_centres(sample, number);
    const std::vector<std::int32_t> nearest = nearest_centres(V, centres, panel);
    const ListOrder all = order_lists(nearest, number);

    const Processes& processes = all_processes();
    const Index lists = std::ssize(all.lists);
    const Index first = first_of_process(lists, processes.place(), processes.count());
    const Index past = first_of_process(lists, processes.place() + 1, processes.count());
    const CellsAbout cells_about(sample, own(sampled), centres, n, settings.looked_at, count);
    const WriteCell write = [&](std::int32_t cell, Eigen::Ref<FloatVector> out) {
        out = V.col(cell);
        return space.vectors(space.dimension, cell);
    };
    const auto compare = [&](const ListOrder::List& list, std::vector<std::int32_t>& others) {
        add_all_if_few(others, count, n);
        const auto cells = std::span(all.order).subspan(list.begin, list.end - list.begin);
        if (searcher != nullptr) {
            visit_by_device(*searcher, cells, others, count, visit);
            return;
        }
        const ComparedCells compared(centres.col(list.centre), others, write);
        // Lists have very different lengths: threads without a list of their own help with the long ones.
        parallel_blocks(std::ssize(cells), queries_at_once, [&](Index begin, Index end) {
            compared.visit_nearest(cells.subspan(begin, end - begin), count, write, visit);
        });
    };
    const Index at_once = searcher != nullptr ? lists_on_device : std::max<Index>(1, past - first);
    for (Index from = first; from < past; from += at_once) {
        const Index end = std::min(past, from + at_once);
        const Index first_centre = all.lists[from].centre;
        auto about = cells_about.among(V, own, nearest, panel, first_centre, all.lists[end - 1].centre + 1);
        const auto compare_list = [&](Index l) {
            const ListOrder::List& list = all.lists[from + l];
            compare(list, about[list.centre - first_centre]);
        };
        if (searcher != nullptr) { // one list after the other
            for (Index l = 0; l < end - from; ++l) {
                compare_list(l);
            }
        } else {
            parallel_for(end - from, compare_list);
        }
    }
}

} // namespace pnmf
