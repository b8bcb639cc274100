#include "graphs/tree_order.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

/// The edges of a tree at both of their ends, shortest first.
struct TreeLists {
    std::vector<std::int64_t> start;
    std::vector<std::int32_t> cell;

    explicit TreeLists(const SpanningTree& tree)
        : start(static_cast<std::size_t>(tree.cells) + 1, 0), cell(2 * tree.edges.size()) {
        for (const Edge& edge : tree.edges) {
            ++start[edge.i + 1];
            ++start[edge.j + 1];
        }
        std::partial_sum(start.begin(), start.end(), start.begin());
        std::vector<std::int64_t> next(start.begin(), start.end() - 1);
        for (const Edge& edge : tree.edges) {
            cell[next[edge.i]++] = static_cast<std::int32_t>(edge.j);
            cell[next[edge.j]++] = static_cast<std::int32_t>(edge.i);
        }
    }
};

/// Appends the cells that hang together with `root`, those nearer to it first, and notes their parents.
void append_by_steps(const TreeLists& lists, std::int32_t root, std::vector<std::int32_t>& cells,
                     std::vector<std::int32_t>& parent) {
    std::size_t next = cells.size();
    cells.push_back(root);
    parent[root] = root;
    while (next < cells.size()) {
        const std::int32_t at = cells[next++];
        for (auto e = lists.start[at]; e < lists.start[at + 1]; ++e) {
            if (lists.cell[e] != parent[at]) {
                parent[lists.cell[e]] = at;
                cells.push_back(lists.cell[e]);
            }
        }
    }
}

} // namespace

FitOrder tree_order(const SpanningTree& tree) {
    const Index n = tree.cells;
    require(n <= std::numeric_limits<std::int32_t>::max(), "a graph can have up to 2147483647 cells, got {}",
            n);
    TreeLists lists(tree);
    std::vector<std::int32_t> parent(static_cast<std::size_t>(n), -1);
    std::vector<std::int32_t> by_steps;
    std::vector<std::int32_t> roots;
    by_steps.reserve(static_cast<std::size_t>(n));
    const auto add_root = [&](Index cell) {
        if (parent[cell] < 0) {
            roots.push_back(static_cast<std::int32_t>(cell));
            append_by_steps(lists, roots.back(), by_steps, parent);
        }
    };
    if (!tree.edges.empty()) {
        add_root(tree.edges.back().i);
    }
    for (Index j = 0; j < n; ++j) { // a tree has one root; what hangs together with nothing has its own
        add_root(j);
    }
    std::vector<std::int32_t> branch(static_cast<std::size_t>(n), 1); // cells of each
    for (auto cell = by_steps.rbegin(); cell != by_steps.rend(); ++cell) {
        if (parent[*cell] != *cell) {
            branch[parent[*cell]] += branch[*cell];
        }
    }
    FitOrder order;
    order.cell.reserve(static_cast<std::size_t>(n));
    std::vector<std::int32_t>& waiting = by_steps; // its memory is free now
    waiting.clear();
    for (const std::int32_t root : roots) {
        waiting.push_back(root);
        while (!waiting.empty()) {
            const std::int32_t at = waiting.back();
            waiting.pop_back();
            order.cell.push_back(at);
            const std::ptrdiff_t first = std::ssize(waiting);
            for (auto e = lists.start[at]; e < lists.start[at + 1]; ++e) {
                if (lists.cell[e] != parent[at]) {
                    waiting.push_back(lists.cell[e]);
                }
            }
            // The last one that waits is walked first: of equal ones that at the shortest edge.
            std::reverse(waiting.begin() + first, waiting.end());
            std::stable_sort(waiting.begin() + first, waiting.end(),
                             [&](std::int32_t a, std::int32_t b) { return branch[a] > branch[b]; });
        }
    }
    return order;
}

SpanningTree renumbered(const SpanningTree& tree, const FitOrder& order) {
    const FitOrder place = inverse(order);
    SpanningTree result = tree;
    parallel_blocks(std::ssize(result.edges), 4096, [&](Index begin, Index end) {
        for (Index e = begin; e < end; ++e) {
            Edge& edge = result.edges[e];
            const auto [i, j] = std::minmax({place.cell[edge.i], place.cell[edge.j]});
            edge.i = i;
            edge.j = j;
        }
    });
    std::sort(result.edges.begin(), result.edges.end());
    return result;
}

NeighborLists renumbered(const NeighborLists& lists, const FitOrder& order) {
    const FitOrder place = inverse(order);
    const Index n = lists.cells();
    NeighborLists result;
    result.start.resize(static_cast<std::size_t>(n) + 1);
    for (Index i = 0; i < n; ++i) {
        const Index j = order.cell[i];
        result.start[i + 1] = result.start[i] + lists.start[j + 1] - lists.start[j];
    }
    result.cell.resize(lists.cell.size());
    result.length.resize(lists.length.size());
    parallel_blocks(n, 1024, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            const auto first = lists.start[order.cell[i]];
            const auto to = result.start[i];
            const auto past = result.start[i + 1];
            for (auto e = to; e < past; ++e) {
                result.cell[e] = place.cell[lists.cell[first + e - to]];
                result.length[e] = lists.length[first + e - to];
            }
            for (auto e = to; e < past;) { // of equal lengths the smaller cell comes first
                auto other = e + 1;
                while (other < past && result.length[other] == result.length[e]) {
                    ++other;
                }
                std::sort(result.cell.begin() + e, result.cell.begin() + other);
                e = other;
            }
        }
    });
    return result;
}

} // namespace pnmf
