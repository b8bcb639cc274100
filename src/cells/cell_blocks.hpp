#pragma once

#include <pnmf/types.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pnmf {

/// Sums over cells are taken over blocks of cells whose size depends on the number of cells alone, and the
/// sums of the blocks are added along a binary tree: two neighbouring blocks, two neighbouring pairs, and so
/// on. Threads and processes take whole blocks, so that neither changes a bit, and a process hands on no more
/// than the few nodes of the tree that its blocks fill (docs/decisions/0150-mpi.md).
struct CellBlocks {
    Index cells = 0;
    Index size = 1; ///< cells of a block; the last one may have fewer

    static constexpr Index largest_panel = 256;

    Index count() const { return (cells + size - 1) / size; }
    /// Cells whose products of matrices are made together, since results may depend on how many: a whole
    /// number of panels are a block, so that processes have those of one process.
    Index panel() const {
        if (size <= largest_panel) {
            return size;
        }
        return count() == 1 ? largest_panel : size / 4;
    }
    Index of(Index cell) const { return cell / size; }
    Index begin(Index block) const { return std::min(cells, block * size); }
    Index end(Index block) const { return begin(block + 1); }
};

/// One block up to 4,096 cells. Beyond, blocks of more than 512 and at most 1,024 cells whose number is a
/// power of two, or just below one. So 2, 4, 8 or 16 processes have nearly the same number of cells, and one
/// node of the tree each, unless there are fewer blocks than processes.
CellBlocks usual_blocks(Index cells);

/// A node of the tree: blocks [first, past).
struct BlockNode {
    Index first = 0;
    Index past = 0;
};

/// Consecutive blocks: those of one process. Matrices of a slab hold its cells alone; blocks and nodes keep
/// the numbers they have among all.
struct BlockSlab {
    CellBlocks blocks; ///< all of them
    Index first = 0;
    Index past = 0;

    Index first_cell() const { return blocks.begin(first); }
    Index cells() const { return blocks.begin(past) - first_cell(); }
    /// Where a block of the slab begins and ends in its matrices.
    Index begin(Index block) const { return blocks.begin(block) - first_cell(); }
    Index end(Index block) const { return blocks.end(block) - first_cell(); }
};

/// Blocks [begin, end) of `count` as few nodes of the tree as possible, ascending.
std::vector<BlockNode> block_nodes(Index begin, Index end, Index count);

/// Where the blocks of each process begin, and `count` at the end: runs of about equal length, cut where the
/// nodes of the tree are large.
std::vector<Index> share_blocks(Index count, Index processes);

/// How the blocks of all cells are shared out over processes.
struct BlockShares {
    CellBlocks blocks;
    std::vector<Index> first;      ///< block of each process, and the number of blocks at the end
    std::vector<BlockNode> nodes;  ///< of all processes, ascending
    std::vector<Index> first_node; ///< of each process among these, and their number at the end
    std::vector<int> process_of_node;

    Index processes() const { return std::ssize(first) - 1; }
    BlockSlab slab(int rank) const { return {blocks, first[rank], first[rank + 1]}; }
    std::span<const BlockNode> nodes_of(int rank) const {
        return std::span(nodes).subspan(first_node[rank], first_node[rank + 1] - first_node[rank]);
    }
};

BlockShares share(const CellBlocks& blocks, Index processes);

/// Adds values along the tree of blocks. A value belongs to a block or a node and is added with the position
/// of its first block; positions ascend. Blocks without a value are passed over.
template <class Value>
class BlockSum {
  public:
    void add(Index position, Value value) {
        if (!parts_.empty()) {
            const int joined = height(parts_.back().position, position);
            while (parts_.size() > 1 &&
                   height(parts_[parts_.size() - 2].position, parts_.back().position) < joined) {
                join_last();
            }
        }
        parts_.push_back({position, std::move(value)});
    }

    bool empty() const { return parts_.empty(); }

    /// The sum; begins anew afterwards. At least one value must have been added.
    Value finish() {
        while (parts_.size() > 1) {
            join_last();
        }
        Value result = std::move(parts_.back().value);
        parts_.clear();
        return result;
    }

  private:
    struct Part {
        Index position;
        Value value;
    };

    /// Of the smallest node that holds both blocks.
    static int height(Index a, Index b) {
        return std::bit_width(static_cast<std::uint64_t>(a) ^ static_cast<std::uint64_t>(b));
    }

    void join_last() {
        parts_[parts_.size() - 2].value += parts_.back().value;
        parts_.pop_back();
    }

    std::vector<Part> parts_;
};

} // namespace pnmf
