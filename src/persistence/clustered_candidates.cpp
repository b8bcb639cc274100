#include "cells/cell_blocks.hpp"
#include "cells/shared_work.hpp"
#include "persistence/cluster_lists.hpp"
#include "persistence/neighbor_candidates.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <vector>

namespace pnmf {
namespace {

/// All cells in the order of their lists, and what is compared of them.
struct Lists : ListOrder {
    Floats vectors;  ///< q × n, in this order
    FloatVector own; ///< ‖Qᵀb‖² + ‖r_b‖², in this order
};

Lists make_lists(ConstBlock<float> V, const FloatVector& own, const Floats& centres,
                 const std::vector<std::int32_t>& central) {
    const Index n = V.cols();
    Lists result;
    static_cast<ListOrder&>(result) =
        order_lists(nearest_centres(V, centres, usual_blocks(V.cols()).panel()), centres.cols(), central);
    result.vectors.resize(V.rows(), n);
    result.own.resize(n);
    parallel_blocks(n, usual_blocks(n).size, [&](Index begin, Index end) {
        for (Index place = begin; place < end; ++place) {
            result.vectors.col(place) = V.col(result.order[place]);
            result.own[place] = own[result.order[place]];
        }
    });
    return result;
}

} // namespace

void visit_clustered_candidates(const SearchSpace& space, Index count, const ClusterSettings& settings,
                                std::uint64_t seed, const CandidateVisitor& visit) {
    const Index n = space.vectors.cols();
    const auto V = space.vectors.topRows(space.dimension);
    const FloatVector own = (V.colwise().squaredNorm() + space.vectors.bottomRows<1>()).transpose();
    const Index number = number_of_centres(n, settings);
    const Floats sample = V(Eigen::all, sample_for_centres(n, number, seed));
    const Floats centres = find_centres(sample, number);

    const std::vector<std::int32_t> central = central_cells(own, std::min(n, settings.central));
    const Floats central_vectors = V(Eigen::all, central);
    const FloatVector central_own = own(central);
    const Lists all = make_lists(V, own, centres, central);

    // Numbers of others: places in the order of the lists, then the central cells from n on.
    const auto cell_of = [&](std::int32_t number_of_other) {
        return number_of_other < n ? all.order[number_of_other] : central[number_of_other - n];
    };
    const FloatVector centre_own = centres.colwise().squaredNorm().transpose();
    over_shared_items(static_cast<Index>(all.lists.size()), [&](Index l) {
        const List& mine = all.lists[l];
        const std::vector<Index> nearest =
            lists_to_look_at(all.lists, l, centres, centre_own, settings.looked_at);
        // Lists have very different lengths: threads without a list of their own help with the long ones.
        parallel_blocks(mine.end - mine.begin, queries_at_once, [&](Index from, Index to) {
            const Index begin = mine.begin + from;
            const Index end = mine.begin + to;
            std::vector<std::int32_t> candidates;
            Comparison comparison(all.vectors.middleCols(begin, end - begin), count + 1);
            comparison.with(n, central_vectors, central_own, 0, central_vectors.cols());
            for (const Index other : nearest) {
                const List& list = all.lists[other];
                comparison.with(list.begin, all.vectors, all.own, list.begin, list.central);
            }
            for (Index place = begin; place < end; ++place) {
                const std::int32_t cell = all.order[place];
                comparison.found(place - begin).copy_to(candidates, -1);
                for (std::int32_t& number_of_other : candidates) {
                    number_of_other = cell_of(number_of_other);
                }
                std::erase(candidates, cell);
                visit(cell, candidates);
            }
        });
    });
}

} // namespace pnmf
