#include "linalg/large_pages.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace pnmf {
namespace {

constexpr Index edges_for_threads = 100000; ///< below, one thread is done before others have begun

} // namespace

NeighborLists symmetric_lists(Index cells, std::vector<Edge> edges) {
    require(cells <= std::numeric_limits<std::int32_t>::max(),
            "a graph can have up to 2147483647 cells, got {}", cells);
    // In the total order of edges each list fills up nearest first: of two edges at one cell and of one
    // length, the one with the smaller other end comes first.
    if (!std::is_sorted(edges.begin(), edges.end())) {
        std::sort(edges.begin(), edges.end());
    }
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

    NeighborLists lists;
    lists.start.assign(static_cast<std::size_t>(cells) + 1, 0);
    for (const Edge& edge : edges) {
        ++lists.start[edge.i + 1];
        ++lists.start[edge.j + 1];
    }
    std::partial_sum(lists.start.begin(), lists.start.end(), lists.start.begin());
    resize_on_large_pages(lists.cell, 2 * edges.size());
    resize_on_large_pages(lists.length, 2 * edges.size());
    // Each thread goes through all edges and takes those of its cells: they stay in order.
    const Index ranges = std::ssize(edges) < edges_for_threads ? 1 : std::min<Index>(thread_count(), cells);
    parallel_for(ranges, [&](Index r) {
        const Index first = r * cells / ranges;
        const Index past = (r + 1) * cells / ranges;
        std::vector<std::int64_t> next(lists.start.begin() + first, lists.start.begin() + past);
        const auto append = [&](Index at, Index neighbor, double length) {
            if (first <= at && at < past) {
                const std::int64_t place = next[at - first]++;
                lists.cell[place] = static_cast<std::int32_t>(neighbor);
                lists.length[place] = length;
            }
        };
        for (const Edge& edge : edges) {
            append(edge.i, edge.j, edge.length);
            append(edge.j, edge.i, edge.length);
        }
    });
    return lists;
}

NeighborLists nearest_in_table(const Matrix& distances, Index count) {
    const Index n = distances.cols();
    NeighborLists lists;
    lists.start.resize(static_cast<std::size_t>(n) + 1);
    for (Index j = 0; j <= n; ++j) {
        lists.start[j] = j * count;
    }
    lists.cell.resize(static_cast<std::size_t>(n * count));
    lists.length.resize(lists.cell.size());
    parallel_blocks(n, 16, [&](Index begin, Index end) {
        std::vector<std::pair<double, std::int32_t>> others(static_cast<std::size_t>(n) - 1);
        for (Index j = begin; j < end; ++j) {
            for (Index i = 0, r = 0; i < n; ++i) {
                if (i != j) {
                    others[r++] = {distances(i, j), static_cast<std::int32_t>(i)};
                }
            }
            const auto last = others.begin() + count;
            if (last != others.end()) {
                std::nth_element(others.begin(), last, others.end());
            }
            std::sort(others.begin(), last);
            for (Index r = 0; r < count; ++r) {
                lists.length[j * count + r] = others[r].first;
                lists.cell[j * count + r] = others[r].second;
            }
        }
    });
    return lists;
}

} // namespace pnmf
