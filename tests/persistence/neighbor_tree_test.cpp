#include "persistence/neighbor_candidates.hpp"
#include "persistence/neighbor_tree.hpp"
#include "support/graph_clouds.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>

namespace pnmf {
namespace {

std::vector<Edge> every_pair(const Points& points) {
    std::vector<Edge> edges;
    for (Index j = 0; j < points.count(); ++j) {
        for (Index i = 0; i < j; ++i) {
            edges.push_back({points.distance(i, j), i, j});
        }
    }
    std::sort(edges.begin(), edges.end());
    return edges;
}

/// A spanning tree of canonical edges, whose deaths are those of the exact tree or later.
void expect_upper_bound(const Points& points, const SpanningTree& tree) {
    ASSERT_EQ(tree.cells, points.count());
    EXPECT_TRUE(std::is_sorted(tree.edges.begin(), tree.edges.end()));
    for (const Edge& edge : tree.edges) {
        EXPECT_LT(edge.i, edge.j);
        EXPECT_EQ(edge.length, points.distance(edge.i, edge.j));
    }
    const auto component = components(tree, std::numeric_limits<double>::infinity());
    EXPECT_EQ(std::count(component.begin(), component.end(), 0), points.count());
    const std::vector<double> exact = h0_diagram(minimum_spanning_tree(points)).deaths;
    const std::vector<double> found = h0_diagram(tree).deaths;
    ASSERT_EQ(found.size(), exact.size());
    for (std::size_t k = 0; k < exact.size(); ++k) {
        EXPECT_GE(found[k], exact[k]);
    }
    if (!tree.edges.empty()) {
        EXPECT_GE(tree.largest_distance, tree.edges.back().length);
    }
}

TEST(NeighborTree, OfAllPairsIsTheMinimumSpanningTree) {
    for (const test::Cloud& cloud : test::clouds()) {
        const Points points(cloud.X);
        const SpanningTree exact = minimum_spanning_tree(points);
        const SpanningTree tree = neighbor_tree(points, every_pair(points));
        EXPECT_EQ(tree.edges, exact.edges) << cloud.name;
        EXPECT_EQ(tree.largest_distance, exact.largest_distance) << cloud.name;
    }
}

TEST(NeighborTree, OfFewNeighboursSpansAndBoundsTheDeathsFromAbove) {
    for (const test::Cloud& cloud : test::clouds()) {
        const Points points(cloud.X);
        for (const Index k : {1, 3}) {
            if (k < points.count()) {
                const auto found = neighbor_edges(points, {.neighbors = k, .search = NeighborSearch::exact});
                SCOPED_TRACE(cloud.name);
                expect_upper_bound(points, neighbor_tree(points, found.edges));
            }
        }
        SCOPED_TRACE(cloud.name);
        expect_upper_bound(points, neighbor_tree(points, {})); // every cell a component
    }
}

TEST(NeighborTree, IsExactForGroupsOnALine) {
    // Three groups; two neighbours join the cells of each, and the nearest cells of two groups are its ends.
    Matrix X(1, 90);
    const Matrix noise = test::random_matrix(1, 90, 3);
    for (Index j = 0; j < 90; ++j) {
        X(0, j) = 100.0 * static_cast<double>(j % 3) + static_cast<double>(j / 3) + 0.2 * noise(0, j);
    }
    const Points points(X);
    const auto found = neighbor_edges(points, {.neighbors = 2, .search = NeighborSearch::exact});
    const SpanningTree tree = neighbor_tree(points, found.edges);
    const SpanningTree exact = minimum_spanning_tree(points);
    EXPECT_GT(exact.edges.back().length, 50.0);
    EXPECT_EQ(tree.edges, exact.edges);
}

TEST(NeighborTree, ComesFromAClusteredSearchAndNoOther) {
    const Points points(test::random_matrix(5, 60, 1));
    for (const auto search : {NeighborSearch::automatic, NeighborSearch::exact, NeighborSearch::screened}) {
        const TreeAndNeighbors found = tree_and_neighbors(points, 4, search, 0);
        EXPECT_TRUE(found.tree_is_exact());
        EXPECT_EQ(found.tree.edges, minimum_spanning_tree(points).edges);
    }
    const TreeAndNeighbors found = tree_and_neighbors(points, 4, NeighborSearch::clustered, 0);
    EXPECT_FALSE(found.tree_is_exact());
    EXPECT_EQ(found.tree.edges, neighbor_tree(points, found.neighbors->edges).edges);
    const TreeAndNeighbors alone = tree_and_neighbors(points, std::nullopt, NeighborSearch::clustered, 0);
    EXPECT_TRUE(alone.tree_is_exact());
    EXPECT_FALSE(alone.neighbors.has_value());
}

using CandidateSets = std::vector<std::set<std::int32_t>>;

CandidateSets clustered(const SearchSpace& space, Index count, const ClusterSettings& settings) {
    CandidateSets sets(static_cast<std::size_t>(space.vectors.cols()));
    std::mutex mutex;
    Index visits = 0;
    visit_clustered_candidates(space, count, settings, 1, [&](Index cell, auto candidates) {
        const std::lock_guard lock(mutex);
        ++visits;
        sets[cell] = {candidates.begin(), candidates.end()};
        EXPECT_EQ(sets[cell].size(), candidates.size()) << "a candidate twice";
        EXPECT_EQ(sets[cell].count(static_cast<std::int32_t>(cell)), 0U);
    });
    EXPECT_EQ(visits, space.vectors.cols());
    return sets;
}

CandidateSets screened(const SearchSpace& space, Index count) {
    CandidateSets sets(static_cast<std::size_t>(space.vectors.cols()));
    std::mutex mutex;
    visit_screened_candidates(space, count, [&](Index cell, auto candidates) {
        const std::lock_guard lock(mutex);
        sets[cell] = {candidates.begin(), candidates.end()};
    });
    return sets;
}

TEST(ClusteredCandidates, DoNotDependOnTheNumberOfThreads) {
    // Lists are longer than what one thread takes of them at a time.
    const SearchSpace space = search_space(Points(test::random_matrix(6, 2400, 5)), 200, 4096, 0);
    const ClusterSettings settings{.in_a_list = 800, .looked_at = 1500};
    const int before = thread_count();
    set_thread_count(1);
    const CandidateSets alone = clustered(space, 10, settings);
    for (const int threads : {2, 7}) {
        set_thread_count(threads);
        EXPECT_EQ(clustered(space, 10, settings), alone) << threads;
    }
    set_thread_count(before);
}

TEST(ClusteredCandidates, AreThoseOfAllPairsWhenAllCellsAreLookedAt) {
    const SearchSpace space = search_space(Points(test::random_matrix(6, 700, 5)), 200, 4096, 0);
    const CandidateSets all = screened(space, 20);
    EXPECT_EQ(clustered(space, 20, {.in_a_list = 40, .looked_at = 700}), all);
}

TEST(ClusteredCandidates, OfFewCellsHoldMostOfTheNearest) {
    const SearchSpace space = search_space(Points(test::random_matrix(3, 2000, 6)), 200, 4096, 0);
    const CandidateSets all = screened(space, 10);
    const CandidateSets sets = clustered(space, 10, {.in_a_list = 50, .looked_at = 400});
    Index found = 0;
    for (std::size_t cell = 0; cell < all.size(); ++cell) {
        EXPECT_EQ(sets[cell].size(), 10U);
        for (const std::int32_t candidate : all[cell]) {
            found += static_cast<Index>(sets[cell].count(candidate));
        }
    }
    EXPECT_GE(found, 19000); // of 20,000, after a look at a fifth of the cells
}

TEST(ClusteredCandidates, OfCellsThatAreAllTheSameAreAsMany) {
    const SearchSpace space = search_space(Points(Matrix::Ones(4, 500)), 200, 4096, 0);
    for (const auto& set : clustered(space, 10, {.in_a_list = 50, .looked_at = 100})) {
        EXPECT_GE(set.size(), 10U);
        EXPECT_LE(set.size(), 11U);
    }
}

} // namespace
} // namespace pnmf
