#pragma once

#include "cells/cell_blocks.hpp"
#include "cells/node_sums.hpp"
#include "cells/processes.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

/// Sums over cells along the tree of blocks (cells/cell_blocks.hpp): on threads, and over processes.
namespace pnmf {

/// A node as subtrees of about equal size, ascending: about as many as `pieces`, a power of two or just below
/// one.
inline std::vector<BlockNode> subtrees(const BlockNode& node, Index pieces) {
    const auto ceil = [](Index count) {
        return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(std::max<Index>(count, 1))));
    };
    const Index length = std::max<Index>(1, ceil(node.past - node.first) / ceil(pieces));
    std::vector<BlockNode> result;
    for (Index first = node.first; first < node.past; first += length) {
        result.push_back({first, std::min(node.past, first + length)});
    }
    return result;
}

/// The sum of part(block) over the blocks of a node, along the tree. `pieces` subtrees of about equal size
/// are summed by threads of their own; no result depends on how many. Each holds a few parts at a time.
template <class Value, class Part>
Value sum_of_node(const BlockNode& node, Index pieces, const Part& part) {
    const std::vector<BlockNode> nodes = subtrees(node, pieces);
    std::vector<Value> sums(nodes.size());
    parallel_for(std::ssize(sums), [&](Index i) {
        BlockSum<Value> sum;
        for (Index b = nodes[i].first; b < nodes[i].past; ++b) {
            sum.add(b, part(b));
        }
        sums[i] = sum.finish();
    });
    BlockSum<Value> sum;
    for (Index i = 0; i < std::ssize(sums); ++i) {
        sum.add(nodes[i].first, std::move(sums[i]));
    }
    return sum.finish();
}

/// Subtrees for `sum_of_node` where there are `tasks` such sums at once: enough to keep all threads busy.
inline Index pieces_for_threads(Index tasks) {
    const Index threads = thread_count();
    return threads == 1 ? 1 : std::max<Index>(1, 4 * threads / std::max<Index>(1, tasks));
}

/// The sum of part(begin, end) over the usual blocks of all cells, along the tree; at least one cell.
template <class Value, class Part>
Value sum_of_blocks(Index cells, const Part& part) {
    static_assert(std::is_same_v<decltype(part(cells, cells)), Value>, "not an expression of what has gone");
    const CellBlocks blocks = usual_blocks(cells);
    return sum_of_node<Value>({0, blocks.count()}, pieces_for_threads(1),
                              [&](Index b) { return part(blocks.begin(b), blocks.end(b)); });
}

/// The sum of the columns.
inline Vector sum_of_cells(const Matrix& columns) {
    return sum_of_blocks<Vector>(columns.cols(), [&](Index begin, Index end) -> Vector {
        return columns.middleCols(begin, end - begin).rowwise().sum();
    });
}

/// M·Mᵀ in double precision.
template <class Real>
Matrix product_over_cells(const DenseMatrix<Real>& columns) {
    return sum_of_blocks<Matrix>(columns.cols(), [&](Index begin, Index end) -> Matrix {
        const Matrix cells = columns.middleCols(begin, end - begin).template cast<double>();
        return cells * cells.transpose();
    });
}

/// A matrix of sums over the cells of all processes, each of which has its share (`local_range`):
/// of_node(slab, node) is that of one of the nodes of this process. All processes must ask, and get the sums.
///
/// Each process adds up a part of the numbers. It sends (m + 1)·(N − 1)/N times the matrix, with N processes
/// and m nodes of its own.
template <class Number, class OfNode>
DenseMatrix<Number> sum_over_cells(Processes& processes, Index cells, Index rows, Index cols,
                                   const OfNode& of_node) {
    const BlockShares shares = share(usual_blocks(cells), processes.count());
    const BlockSlab slab = shares.slab(processes.place());
    const std::span<const BlockNode> nodes = shares.nodes_of(processes.place());
    if (processes.count() == 1) {
        return nodes.empty() ? DenseMatrix<Number>::Zero(rows, cols).eval() : of_node(slab, nodes.front());
    }
    const Index size = rows * cols;
    const Index width = (size + processes.count() - 1) / processes.count();
    const auto begin = [&](Index r) { return std::min(size, r * width); };
    NodeSums<Number> sums(shares, processes, 0, processes.count(), width,
                          [](Index part) { return static_cast<int>(part); });
    for (Index i = 0; i < std::ssize(nodes); ++i) {
        const DenseMatrix<Number> values = of_node(slab, nodes[i]);
        for (Index r = 0; r < processes.count(); ++r) {
            std::copy(values.data() + begin(r), values.data() + begin(r + 1), sums.mine(r, i));
        }
    }
    sums.exchange();
    std::vector<Index> counts;
    for (Index r = 0; r < processes.count(); ++r) {
        counts.push_back(begin(r + 1) - begin(r));
    }
    const std::span<const Number> mine(sums.total(processes.place()),
                                       static_cast<std::size_t>(counts[processes.place()]));
    const std::vector<Number> all = gather_to_all(processes, mine, counts);
    return Eigen::Map<const DenseMatrix<Number>>(all.data(), rows, cols);
}

} // namespace pnmf
