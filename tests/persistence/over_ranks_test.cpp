#include "persistence/neighbors.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

/// Cells with ties and duplicates, in more panels than there are ranks.
Points some_points(Index cells) {
    Matrix X = test::uniform_cloud(6, cells, 9);
    X = (X.array() * 4.0).round(); // many equal distances
    return Points(X);
}

TEST(OverRanks, TheTreeIsThatOfOneProcess) {
    const Points points = some_points(1500);
    const SpanningTree expected = minimum_spanning_tree(points);
    for (const int count : {2, 3, 7}) {
        test::ThreadRanks ranks(count);
        ranks.run([&](int) {
            const SpanningTree found = minimum_spanning_tree(points);
            EXPECT_EQ(found.edges, expected.edges) << count;
            EXPECT_EQ(found.largest_distance, expected.largest_distance) << count;
        });
    }
}

TEST(OverRanks, NeighboursAreThoseOfOneProcess) {
    const Points points(test::uniform_cloud(40, 1300, 4));
    for (const auto search : {NeighborSearch::exact, NeighborSearch::screened, NeighborSearch::clustered}) {
        const NeighborOptions options{.neighbors = 5, .search = search, .seed = 3};
        const NeighborEdges expected = neighbor_edges(points, options);
        for (const int count : {2, 3, 7}) {
            test::ThreadRanks ranks(count);
            ranks.run([&](int r) {
                const NeighborEdges found = neighbor_edges(points, options);
                EXPECT_EQ(found.edges, expected.edges) << r << " of " << count;
                EXPECT_EQ(found.recall, expected.recall);
            });
            EXPECT_GT(ranks[0].bytes_sent() + ranks[1].bytes_sent(), 0);
        }
    }
}

} // namespace
} // namespace pnmf
