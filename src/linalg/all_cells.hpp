#pragma once

#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <atomic>

namespace pnmf {

/// Whether `holds(cell)` for every cell, asked by all threads. Who must name the first that is wrong goes
/// through them once more.
template <class Holds>
bool all_cells(Index cells, const Holds& holds) {
    constexpr Index cells_at_once = 1024;
    std::atomic<bool> all = true;
    parallel_blocks(cells, cells_at_once, [&](Index begin, Index end) {
        for (Index j = begin; j < end && all; ++j) {
            if (!holds(j)) {
                all = false;
            }
        }
    });
    return all;
}

} // namespace pnmf
