#include "cells/cell_blocks.hpp"
#include "cells/processes.hpp"

#include <pnmf/types.hpp>

#include <algorithm>

namespace pnmf {

CellBlocks usual_blocks(Index cells) {
    constexpr Index most_in_one = 4096; // small sets are summed at once
    constexpr Index largest = 4 * CellBlocks::largest_panel;
    constexpr Index unit = 4; // panels of a block
    if (cells <= most_in_one) {
        return {cells, std::max<Index>(cells, 1)};
    }
    const auto count =
        static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>((cells + largest - 1) / largest)));
    return {cells, (cells + unit * count - 1) / (unit * count) * unit};
}

std::vector<BlockNode> block_nodes(Index begin, Index end, Index count) {
    std::vector<BlockNode> nodes;
    // Past the last block the tree is empty: whoever has the last one has all of that.
    const auto whole =
        static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(std::max<Index>(count, 1))));
    const Index past = end == count ? whole : end;
    for (Index first = begin; first < end;) {
        Index length = first == 0 ? whole : first & -first; // the largest node that begins here
        while (first + length > past) {
            length /= 2;
        }
        nodes.push_back({first, std::min(first + length, end)});
        first += length;
    }
    return nodes;
}

std::vector<Index> share_blocks(Index count, Index processes) {
    std::vector<Index> begin;
    const auto whole =
        static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(std::max<Index>(count, 1))));
    if (std::has_single_bit(static_cast<std::uint64_t>(processes)) && processes <= whole &&
        32 * (whole - count) <= whole) {
        for (Index r = 0; r <= processes; ++r) { // one node each, the last one not quite full
            begin.push_back(std::min(count, whole / processes * r));
        }
        return begin;
    }
    constexpr Index pieces = 16; // of each process, at least: they differ by a sixteenth at most
    Index step = 1;
    while (2 * step * pieces * processes <= count) {
        step *= 2;
    }
    for (Index r = 0; r < processes; ++r) {
        begin.push_back(std::min(count, (count * r / processes + step / 2) / step * step));
    }
    begin.push_back(count);
    return begin;
}

BlockShares share(const CellBlocks& blocks, Index processes) {
    BlockShares shares{blocks, share_blocks(blocks.count(), processes), {}, {0}, {}};
    for (int r = 0; r < processes; ++r) {
        for (const BlockNode& node : block_nodes(shares.first[r], shares.first[r + 1], blocks.count())) {
            shares.nodes.push_back(node);
            shares.process_of_node.push_back(r);
        }
        shares.first_node.push_back(std::ssize(shares.nodes));
    }
    return shares;
}

CellRange local_range(Index cells, const Processes& processes) {
    const BlockSlab slab = share(usual_blocks(cells), processes.count()).slab(processes.place());
    return {slab.first_cell(), slab.cells(), cells};
}

} // namespace pnmf
