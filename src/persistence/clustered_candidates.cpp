#include "cells/cell_blocks.hpp"
#include "cells/shared_work.hpp"
#include "persistence/cluster_lists.hpp"
#include "persistence/neighbor_candidates.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <vector>

namespace pnmf {

void visit_clustered_candidates(const SearchSpace& space, Index count, const ClusterSettings& settings,
                                std::uint64_t seed, const CandidateVisitor& visit) {
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
    if (first == past) {
        return;
    }
    const Index first_centre = all.lists[first].centre;
    auto about = CellsAbout(sample, own(sampled), centres, n, settings.looked_at, count)
                     .among(V, own, nearest, panel, first_centre, all.lists[past - 1].centre + 1);
    const WriteCell write = [&](std::int32_t cell, Eigen::Ref<FloatVector> out) {
        out = V.col(cell);
        return space.vectors(space.dimension, cell);
    };
    parallel_for(past - first, [&](Index l) {
        const ListOrder::List& list = all.lists[first + l];
        std::vector<std::int32_t>& others = about[list.centre - first_centre];
        add_all_if_few(others, count, n);
        const ComparedCells compared(centres.col(list.centre), others, write);
        // Lists have very different lengths: threads without a list of their own help with the long ones.
        parallel_blocks(list.end - list.begin, queries_at_once, [&](Index begin, Index end) {
            const std::span cells(all.order);
            compared.visit_nearest(cells.subspan(list.begin + begin, end - begin), count, write, visit);
        });
    });
}

} // namespace pnmf
