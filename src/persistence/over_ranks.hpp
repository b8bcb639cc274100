#pragma once

#include <pnmf/communicator.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

/// Work on all cells that ranks share out: each does a run of the items, and then all know what all found.
/// What is found of an item must not depend on who looks.
namespace pnmf {

/// The first of `count` items that rank r does, r = ranks: `count`.
inline Index first_of_rank(Index count, Index r, Index ranks) {
    return count * r / ranks;
}

/// `parallel_for` over the items of this rank.
inline void over_items_of_rank(Communicator& ranks, Index count, const std::function<void(Index)>& body) {
    const Index first = first_of_rank(count, ranks.rank(), ranks.size());
    const Index past = first_of_rank(count, ranks.rank() + 1, ranks.size());
    parallel_for(past - first, [&](Index i) { body(first + i); });
}

/// `parallel_blocks` over the blocks of this rank.
inline void over_blocks_of_rank(Communicator& ranks, Index count, Index block,
                                const std::function<void(Index, Index)>& body) {
    over_items_of_rank(ranks, (count + block - 1) / block,
                       [&](Index b) { body(b * block, std::min(count, (b + 1) * block)); });
}

/// After `over_blocks_of_rank` has filled the columns of a matrix: those of the other ranks.
template <class Columns>
void gather_blocks(Communicator& ranks, Index block, Columns& columns) {
    if (ranks.size() == 1) {
        return;
    }
    const Index blocks = (columns.cols() + block - 1) / block;
    const auto first_column = [&](Index r) {
        return std::min(columns.cols(), block * first_of_rank(blocks, r, ranks.size()));
    };
    std::vector<Index> counts;
    for (int r = 0; r < ranks.size(); ++r) {
        counts.push_back(columns.rows() * (first_column(r + 1) - first_column(r)));
    }
    const std::span<const typename Columns::Scalar> mine(
        columns.data() + columns.rows() * first_column(ranks.rank()), counts[ranks.rank()]);
    const auto all = gather_to_all(ranks, mine, counts);
    std::copy(all.begin(), all.end(), columns.data());
}

} // namespace pnmf
