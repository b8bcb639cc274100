#include "cells/cell_blocks.hpp"

#include "support/clouds.hpp"

#include <gtest/gtest.h>

namespace pnmf {
namespace {

double tree_sum(const Vector& values, Index first, Index past, Index whole) {
    if (whole == 1) {
        return values[first];
    }
    const Index middle = first + whole / 2;
    const double left = tree_sum(values, first, std::min(past, middle), whole / 2);
    return middle < past ? left + tree_sum(values, middle, past, whole / 2) : left;
}

TEST(CellBlocks, AreOneForFewCellsAndNearlyAPowerOfTwoBeyond) {
    EXPECT_EQ(usual_blocks(1).count(), 1);
    EXPECT_EQ(usual_blocks(4096).count(), 1);
    EXPECT_EQ(usual_blocks(32768).size, 1024);
    for (const Index cells : {4097, 5000, 8192, 8193, 32768, 100000, 123457, 1000000}) {
        SCOPED_TRACE(cells);
        const CellBlocks blocks = usual_blocks(cells);
        const auto power = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(blocks.count())));
        EXPECT_LE(32 * (power - blocks.count()), power);
        EXPECT_GT(blocks.size, 512);
        EXPECT_LE(blocks.size, 1024);
        EXPECT_EQ(blocks.end(blocks.count() - 1), cells);
        EXPECT_EQ(blocks.of(cells - 1), blocks.count() - 1);
    }
}

TEST(CellBlocks, AreWholeNumbersOfPanels) {
    EXPECT_EQ(usual_blocks(100).panel(), 100);
    EXPECT_EQ(usual_blocks(4096).panel(), 256);
    EXPECT_EQ(usual_blocks(32768).panel(), 256);
    for (const Index cells : {4097, 100000, 123457}) {
        const CellBlocks blocks = usual_blocks(cells);
        EXPECT_EQ(blocks.size % blocks.panel(), 0);
        EXPECT_LE(blocks.panel(), 256);
    }
}

TEST(CellBlocks, OfRanksThatAreAPowerOfTwoAreOneNodeAndNearlyAsManyCells) {
    for (const Index cells : {20000, 100000, 123457, 1000000}) {
        for (const int ranks : {2, 4, 8, 16}) {
            const BlockShares shares = share(usual_blocks(cells), ranks);
            for (int r = 0; r < ranks; ++r) {
                EXPECT_EQ(shares.nodes_of(r).size(), 1U) << cells << " " << ranks;
                EXPECT_LE(shares.slab(r).cells(), 1.02 * static_cast<double>(cells) / ranks);
            }
        }
    }
}

TEST(CellBlocks, OfARankAreFewNodesThatCoverThem) {
    for (const Index count : {1, 2, 5, 8, 13, 64, 77}) {
        for (const Index ranks : {1, 2, 3, 4, 7, 90}) {
            const BlockShares shares = share({count, 1}, ranks);
            Index next = 0;
            for (const BlockNode& node : shares.nodes) {
                EXPECT_EQ(node.first, next);
                EXPECT_LT(node.first, node.past);
                next = node.past;
                const auto length =
                    static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(node.past - node.first)));
                EXPECT_EQ(node.first % length, 0) << count << " " << ranks;
            }
            EXPECT_EQ(next, count);
        }
    }
    EXPECT_EQ(share({64, 1}, 4).nodes.size(), 4U);
    EXPECT_EQ(share({61, 1}, 1).nodes.size(), 1U);
}

TEST(CellBlocks, AreSharedOutEvenly) {
    for (const Index count : {100, 977, 10000}) {
        for (const Index ranks : {2, 3, 4, 7, 16}) {
            const std::vector<Index> first = share_blocks(count, ranks);
            for (Index r = 0; r < ranks; ++r) {
                const double even = static_cast<double>(count) / static_cast<double>(ranks);
                EXPECT_LE(static_cast<double>(first[r + 1] - first[r]), std::max(1.07 * even, even + 1.0));
            }
        }
    }
}

TEST(BlockSum, IsTheSameTreeWhoeverAddsWhichBlocks) {
    for (const Index count : {1, 2, 3, 5, 8, 13, 37, 64, 77}) {
        const Vector values = test::uniform_cloud(1, count, 3).row(0).transpose();
        const auto whole = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(count)));
        const double expected = tree_sum(values, 0, count, whole);
        for (const Index ranks : {1, 2, 3, 4, 7}) {
            const BlockShares shares = share({count, 1}, ranks);
            BlockSum<double> total;
            for (const BlockNode& node : shares.nodes) {
                BlockSum<double> sum;
                for (Index b = node.first; b < node.past; ++b) {
                    sum.add(b, values[b]);
                }
                total.add(node.first, sum.finish());
            }
            EXPECT_EQ(total.finish(), expected) << count << " blocks, " << ranks << " ranks";
        }
    }
}

TEST(BlockSum, PassesOverBlocksWithoutAValue) {
    // Blocks 0, 2, 3 and 7 of eight: (0 + (2 + 3)) + 7.
    const double tiny = 0x1p-53;
    BlockSum<double> sum;
    sum.add(0, 1.0);
    sum.add(2, tiny);
    sum.add(3, tiny);
    sum.add(7, tiny);
    EXPECT_EQ(sum.finish(), (1.0 + (tiny + tiny)) + tiny);
    BlockSum<double> parts; // of two ranks, the first of which has blocks 0 to 2
    parts.add(0, 1.0);
    parts.add(2, tiny);
    parts.add(3, tiny);
    parts.add(4, tiny);
    EXPECT_EQ(parts.finish(), (1.0 + (tiny + tiny)) + tiny);
}

} // namespace
} // namespace pnmf
