#pragma once

#include "ranks/persistence/divided_points.hpp"
#include "support/thread_ranks.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace pnmf::test {

/// Unequal parts in whole blocks of 256 cells; with more ranks than blocks some have none.
inline CellRange part_of(Index cells, int rank, int ranks) {
    constexpr Index block = 256;
    const Index blocks = (cells + block - 1) / block;
    const auto first = [&](Index r) { return std::min(cells, block * (blocks * r * r / (ranks * ranks))); };
    return {first(rank), first(rank + 1) - first(rank), cells};
}

/// `body` on each rank, with its points, for each of these numbers of ranks. X is dense or sparse.
template <class Values>
void on_ranks(const Values& X, const std::vector<int>& counts,
              const std::function<void(const DividedPoints&)>& body) {
    const Index cells = Points(X).count();
    for (const int count : counts) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            const CellRange part = part_of(cells, r, count);
            const Values mine = columns_of(X, part);
            body(DividedPoints(DataView(view_of(mine)), part, all_processes()));
        });
    }
}

} // namespace pnmf::test
