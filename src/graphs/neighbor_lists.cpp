#include <pnmf/error.hpp>
#include <pnmf/graphs/neighbor_lists.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace pnmf {

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
    lists.cell.resize(2 * edges.size());
    lists.length.resize(2 * edges.size());
    std::vector<std::int64_t> next(lists.start.begin(), lists.start.end() - 1);
    const auto append = [&](Index at, Index neighbor, double length) {
        const std::int64_t place = next[at]++;
        lists.cell[place] = static_cast<std::int32_t>(neighbor);
        lists.length[place] = length;
    };
    for (const Edge& edge : edges) {
        append(edge.i, edge.j, edge.length);
        append(edge.j, edge.i, edge.length);
    }
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
