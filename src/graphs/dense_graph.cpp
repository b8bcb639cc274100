#include "graphs/dense_graph.hpp"
#include "graphs/scale_forms.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace pnmf {
namespace {

/// Neighbours a list holds: at fine scales nothing else is looked at.
Index list_length(Index n) {
    return std::min(n - 1, std::max<Index>(8, n / 16));
}

/// Share of the n² entries up to which lists and gathered products beat a table and dense ones
/// (measured: docs/decisions/0114-filled-data.md).
constexpr double largest_list_share = 0.25;

/// Cells closer than ε to each cell: a prefix of its list, or its whole column where the list is too short.
/// Empty when they are more than `largest`.
std::optional<NeighborLists> lists_at(const Matrix& distances, const NeighborLists& nearest,
                                      const EdgeWeight& edge_weight, Index largest) {
    const Index n = distances.cols();
    NeighborLists lists;
    lists.start.reserve(static_cast<std::size_t>(n) + 1);
    std::vector<std::uint8_t> overrun(static_cast<std::size_t>(n), 0);
    for (Index j = 0; j < n; ++j) {
        const auto begin = nearest.length.begin() + nearest.start[j];
        const auto end = nearest.length.begin() + nearest.start[j + 1];
        auto count = std::partition_point(begin, end, [&](double d) { return edge_weight.joins(d); }) - begin;
        overrun[j] = begin + count == end && count < n - 1 ? 1 : 0;
        if (overrun[j] != 0) {
            count = -1; // not the cell itself
            for (Index i = 0; i < n; ++i) {
                count += edge_weight.joins(distances(i, j)) ? 1 : 0;
            }
        }
        lists.start.push_back(lists.start.back() + count);
        if (lists.start.back() > largest) {
            return std::nullopt;
        }
    }
    lists.cell.resize(static_cast<std::size_t>(lists.start.back()));
    lists.length.resize(lists.cell.size());
    parallel_blocks(n, 256, [&](Index begin, Index end) {
        std::vector<std::int32_t> joined(static_cast<std::size_t>(n) + 1);
        for (Index j = begin; j < end; ++j) {
            const auto count = lists.start[j + 1] - lists.start[j];
            auto place = lists.start[j];
            if (overrun[j] == 0) {
                std::copy_n(nearest.cell.begin() + nearest.start[j], count, lists.cell.begin() + place);
                std::copy_n(nearest.length.begin() + nearest.start[j], count, lists.length.begin() + place);
                continue;
            }
            Index found = 0; // picked without a branch: guessing wrong costs more than writing in vain
            for (Index i = 0; i < n; ++i) {
                joined[found] = static_cast<std::int32_t>(i);
                found += edge_weight.joins(distances(i, j)) && i != j ? 1 : 0;
            }
            for (Index r = 0; r < found; ++r, ++place) {
                lists.cell[place] = joined[r];
                lists.length[place] = distances(joined[r], j);
            }
        }
    });
    return lists;
}

} // namespace

DenseMultiscaleGraph::DenseMultiscaleGraph(const Points& points, SpanningTree tree, double alpha)
    : tree_(std::move(tree)), alpha_(alpha) {
    check_alpha(alpha);
    const Index n = points.count();
    require(tree_.cells == n, "the spanning tree must have the {} cells of the points, got {}", n,
            tree_.cells);
    distances_ = points.table();
    nearest_ = nearest_in_table(distances_, list_length(n));
    tables_ = std::make_shared<TablePool>();
}

std::unique_ptr<MultiscaleGraph::Scale> DenseMultiscaleGraph::at(double epsilon) const {
    const EdgeWeight edge_weight(epsilon, alpha_);
    const Index n = cells();
    const auto largest = static_cast<Index>(largest_list_share * static_cast<double>(n * n));
    if (auto joined = lists_at(distances_, nearest_, edge_weight, largest)) {
        const auto lists = std::make_shared<const NeighborLists>(std::move(*joined));
        return std::make_unique<ListScale>(
            lists, std::make_shared<const ListWeights>(weigh_prefixes(*lists, edge_weight)));
    }
    ScaleFacts facts;
    Matrix adjacency = tables_->take(n);
    weigh_table(distances_, edge_weight, adjacency, facts);
    return std::make_unique<TableScale>(std::move(adjacency), std::move(facts), tables_);
}

} // namespace pnmf
