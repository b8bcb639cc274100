#include "graphs/sparse_graph.hpp"
#include "graphs/tree_order.hpp"
#include "support/clouds.hpp"

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf::test {
namespace {

/// Of so many edges that threads share the cells out.
TEST(SymmetricLists, HoldEachEdgeAtBothEndsNearestFirstForAnyNumberOfThreads) {
    constexpr Index cells = 3001;
    Random random(5);
    std::vector<Edge> edges;
    std::vector<std::vector<std::pair<double, std::int32_t>>> expected(static_cast<std::size_t>(cells));
    for (Index i = 0; i < cells; ++i) {
        for (Index step = 1; step <= 40 && i + step < cells; ++step) {
            const double length = std::floor(8.0 * random.uniform()); // many are equal
            edges.push_back({.length = length, .i = i, .j = i + step});
            expected[i].emplace_back(length, static_cast<std::int32_t>(i + step));
            expected[i + step].emplace_back(length, static_cast<std::int32_t>(i));
        }
    }
    ASSERT_GT(edges.size(), 100000U);
    const int before = thread_count();
    for (const int threads : {1, 3}) {
        set_thread_count(threads);
        const NeighborLists lists = symmetric_lists(cells, edges);
        ASSERT_EQ(lists.cells(), cells);
        for (Index j = 0; j < cells; ++j) {
            std::sort(expected[j].begin(), expected[j].end());
            std::vector<std::pair<double, std::int32_t>> found;
            for (auto e = lists.start[j]; e < lists.start[j + 1]; ++e) {
                found.emplace_back(lists.length[e], lists.cell[e]);
            }
            EXPECT_EQ(found, expected[j]) << j;
        }
    }
    set_thread_count(before);
}

TEST(TreeOrder, WalksABranchToItsEndBeforeTheNextAndSmallOnesFirst) {
    // 0 is at the longest edge; at 1 hang 2 alone and 3, 4, 5 in a row.
    const SpanningTree tree{6, {{0.1, 1, 2}, {0.2, 4, 5}, {0.3, 1, 3}, {0.4, 3, 4}, {0.5, 0, 1}}, 1.0};
    EXPECT_THAT(tree_order(tree).cell, testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(TreeOrder, HasEveryCellOnceWhateverTheTree) {
    EXPECT_THAT(tree_order({1, {}, 0.0}).cell, testing::ElementsAre(0));
    EXPECT_THAT(tree_order({4, {{0.5, 1, 3}}, 0.5}).cell, testing::ElementsAre(1, 3, 0, 2)); // a forest
    const SpanningTree tree = minimum_spanning_tree(Points(uniform_cloud(3, 700, 4)));
    std::vector<std::int32_t> cells = tree_order(tree).cell;
    std::sort(cells.begin(), cells.end());
    std::vector<std::int32_t> all(700);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(cells, all);
}

TEST(TreeOrder, BringsNeighboursAndComponentsTogether) {
    const Filtration filtration =
        make_filtration(Points(uniform_cloud(2, 4000, 9)), {.scales = {.max_scales = 8}, .neighbors = 8});
    const auto& graph = dynamic_cast<const SparseMultiscaleGraph&>(*filtration.graph);
    const SparseMultiscaleGraph ordered(graph, tree_order(graph.tree()));
    const auto median_distance = [](const NeighborLists& lists) {
        std::vector<Index> distances;
        for (Index j = 0; j < lists.cells(); ++j) {
            for (auto e = lists.start[j]; e < lists.start[j + 1]; ++e) {
                distances.push_back(std::abs(lists.cell[e] - j));
            }
        }
        const auto middle = distances.begin() + std::ssize(distances) / 2;
        std::nth_element(distances.begin(), middle, distances.end());
        return *middle;
    };
    EXPECT_GT(median_distance(graph.lists()), 800);
    EXPECT_LT(median_distance(ordered.lists()), 40);
    // Components that lie in several of 16 parts of the cells.
    const auto wide = [&](const SpanningTree& tree) {
        Index count = 0;
        for (const double epsilon : filtration.scales.epsilon) {
            const std::vector<Index> of = components(tree, epsilon);
            std::vector<std::vector<Index>> parts(static_cast<std::size_t>(component_count(of)));
            for (std::size_t j = 0; j < of.size(); ++j) {
                parts[of[j]].push_back(static_cast<Index>(j) / 250);
            }
            count += std::count_if(parts.begin(), parts.end(), [](const std::vector<Index>& part) {
                return *std::max_element(part.begin(), part.end()) >
                       *std::min_element(part.begin(), part.end());
            });
        }
        return count;
    };
    EXPECT_LT(10 * wide(ordered.tree()), wide(graph.tree()));
}

TEST(TreeOrder, ARenumberedGraphIsTheSameGraph) {
    // Equal lengths too: points on a grid.
    Matrix grid(2, 400);
    for (Index j = 0; j < 400; ++j) {
        grid.col(j) << static_cast<double>(j * 7 % 20), static_cast<double>(j * 7 / 20 % 20);
    }
    const Filtration filtration =
        make_filtration(Points(grid), {.scales = {.max_scales = 4}, .neighbors = 6});
    const auto& graph = dynamic_cast<const SparseMultiscaleGraph&>(*filtration.graph);
    const FitOrder order = tree_order(graph.tree());
    const SparseMultiscaleGraph ordered(graph, order);
    for (const double epsilon : filtration.scales.epsilon) {
        const Matrix before = Matrix(graph.at(epsilon)->adjacency());
        const Matrix after = Matrix(ordered.at(epsilon)->adjacency());
        for (Index i = 0; i < 400; ++i) {
            for (Index j = 0; j < 400; ++j) {
                ASSERT_EQ(after(i, j), before(order.cell[i], order.cell[j])) << i << ' ' << j;
            }
        }
    }
    EXPECT_TRUE(std::is_sorted(ordered.tree().edges.begin(), ordered.tree().edges.end()));
    EXPECT_EQ(h0_diagram(ordered.tree()).deaths, h0_diagram(graph.tree()).deaths);
    const NeighborLists back = renumbered(ordered.lists(), inverse(order));
    EXPECT_EQ(back.start, graph.lists().start);
    EXPECT_EQ(back.cell, graph.lists().cell);
    EXPECT_EQ(back.length, graph.lists().length);
}

} // namespace
} // namespace pnmf::test
