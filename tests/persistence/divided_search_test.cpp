#include "persistence/divided_search.hpp"

#include "persistence/join_components.hpp"
#include "persistence/neighbors_of.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/linalg/cell_range.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/persistence/neighbor_tree.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <span>

/// Neighbours and tree of points that are divided over ranks are those of one process.
namespace pnmf::test {
namespace {

/// Many equal distances and equal cells, on one rank and on several.
Matrix lattice(Index cells) {
    return (uniform_cloud(3, cells, 9).array() * 6.0).round();
}

/// Unequal parts in whole blocks of 256 cells; with more ranks than blocks some have none.
CellRange part_of(Index cells, int rank, int ranks) {
    constexpr Index block = 256;
    const Index blocks = (cells + block - 1) / block;
    const auto first = [&](Index r) { return std::min(cells, block * (blocks * r * r / (ranks * ranks))); };
    return {first(rank), first(rank + 1) - first(rank), cells};
}

/// `body` on each rank, with its points.
void on_ranks(const Matrix& X, const std::vector<int>& counts,
              const std::function<void(const DividedColumns&)>& body) {
    for (const int count : counts) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            const CellRange part = part_of(X.cols(), r, count);
            const Matrix mine = X.middleCols(part.first, part.count);
            body(DividedColumns(mine, part, communicator()));
        });
    }
}

TEST(DividedSearch, IsPossibleWithTheSharesOfRanks) {
    for (const Index cells : {1300, 5200, 60001, 100000}) {
        const Matrix X = uniform_cloud(2, cells, 2);
        for (const int count : {2, 3, 4, 7, 16}) {
            SCOPED_TRACE(std::to_string(cells) + " cells, " + std::to_string(count) + " ranks");
            ThreadRanks ranks(count);
            ranks.run([&](int) {
                const CellRange share = share_of_rank(cells, communicator());
                const Matrix mine = X.middleCols(share.first, share.count);
                const DividedColumns points(mine, share, communicator());
                EXPECT_TRUE(can_search_divided(points, NeighborSearch::clustered));
            });
        }
    }
}

TEST(DividedSearch, WithTheSharesOfRanksFindsTheClusteredEdgesOfOneProcess) {
    const Matrix X = uniform_cloud(7, 5200, 4);
    const NeighborOptions options{.neighbors = 6, .search = NeighborSearch::clustered, .seed = 3};
    const std::vector<Edge> expected = neighbor_edges(Points(X), options).edges;
    for (const int count : {2, 3, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int) {
            const CellRange share = share_of_rank(X.cols(), communicator());
            const Matrix mine = X.middleCols(share.first, share.count);
            EXPECT_EQ(divided_clustered_edges(DividedColumns(mine, share, communicator()), 6, 3).edges,
                      expected);
        });
    }
}

TEST(DividedColumns, AreFetchedMovedAndGathered) {
    const Matrix X = uniform_cloud(3, 1500, 2);
    on_ranks(X, {1, 2, 3, 7}, [&](const DividedColumns& columns) {
        const Index rank = columns.ranks().rank();
        std::vector<Index> some;
        for (Index a = 0; a < 40 * rank; ++a) { // the first rank wants none
            some.push_back((a * 977 + rank) % 1500);
        }
        EXPECT_EQ(columns.fetch(some), X(Eigen::all, some));
        std::sort(some.begin(), some.end());
        EXPECT_EQ(columns.fetch(some), X(Eigen::all, some));
        const Matrix all = columns.gathered(columns.ranks().size() - 1);
        EXPECT_EQ(all.cols(), rank + 1 == columns.ranks().size() ? 1500 : 0);
        EXPECT_EQ(columns.gathered(), X);
    });
}

TEST(DividedColumns, SumsOfRowsHaveTheBitsOfOneMatrix) {
    for (const Index rows : {1, 2, 5, 7, 30}) {
        const Matrix X = uniform_cloud(rows, 1501, 2);
        const Vector mean = view_of(X).rowwise().mean();
        const Vector squares = X.rowwise().squaredNorm();
        on_ranks(X, {1, 3, 4}, [&](const DividedColumns& columns) {
            EXPECT_EQ(columns.of_rows([](const Matrix& some) { return Vector(some.rowwise().mean()); }),
                      mean);
            EXPECT_EQ(
                columns.of_rows([](const Matrix& some) { return Vector(some.rowwise().squaredNorm()); }),
                squares);
        });
    }
}

void expect_exact(const Matrix& X, Index k, const std::vector<int>& counts) {
    const Points points(X);
    const SpanningTree tree = minimum_spanning_tree(points);
    const std::vector<Edge> edges = neighbor_edges(points, {.neighbors = k}).edges;
    on_ranks(X, counts, [&](const DividedColumns& columns) {
        const SpanningTree found = divided_spanning_tree(columns);
        EXPECT_EQ(found.edges, tree.edges);
        EXPECT_EQ(found.largest_distance, tree.largest_distance);
        const auto mine = divided_exact_edges(columns, k);
        EXPECT_EQ(distinct_edges(gather_any(columns.ranks(), mine)), edges);
    });
}

TEST(DividedSearch, FindsTheExactTreeAndNeighboursOfOneProcess) {
    expect_exact(uniform_cloud(30, 1900, 4), 15, {1, 2, 3, 4, 7});
}

TEST(DividedSearch, TiesAndEqualCellsAreDecidedAsInOneProcess) {
    expect_exact(lattice(1900), 5, {1, 2, 3, 4, 7});
}

TEST(DividedSearch, MoreNeighboursThanARankHasCells) {
    expect_exact(uniform_cloud(4, 300, 4), 280, {2, 7});
    expect_exact(Matrix::Ones(2, 600), 4, {3});
}

/// Groups far apart, each larger than a number of neighbours: neighbours alone do not join them.
Matrix far_groups(Index cells) {
    Matrix X = uniform_cloud(5, cells, 3);
    for (Index j = 0; j < cells; ++j) {
        X(j % 3, j) += 50.0 * static_cast<double>(j % 40);
    }
    return X;
}

void expect_clustered(const Matrix& X, const std::vector<int>& counts, Index fetched) {
    const NeighborOptions options{.neighbors = 5, .search = NeighborSearch::clustered, .seed = 3};
    const Points points(X);
    const NeighborEdges expected = neighbor_edges(points, options);
    const SpanningTree tree = neighbor_tree(points, expected.edges);
    on_ranks(X, counts, [&](const DividedColumns& columns) {
        const NeighborEdges found = divided_clustered_edges(columns, 5, 3, fetched);
        EXPECT_EQ(found.edges, expected.edges);
        EXPECT_EQ(found.recall, expected.recall);
        EXPECT_EQ(found.sampled, expected.sampled);
        EXPECT_EQ(found.search, NeighborSearch::clustered);
        const SpanningTree found_tree = divided_neighbor_tree(columns, found.edges);
        EXPECT_EQ(found_tree.edges, tree.edges);
        EXPECT_EQ(found_tree.largest_distance, tree.largest_distance);
    });
}

TEST(DividedSearch, ClusteredFindsTheEdgesAndTreeOfOneProcess) {
    expect_clustered(uniform_cloud(30, 3000, 4), {1, 2, 3, 4, 7}, fewest_fetched);
}

TEST(DividedSearch, ClusteredJoinsTheComponentsOfOneProcess) {
    const Matrix X = far_groups(3000);
    expect_clustered(X, {2, 7}, fewest_fetched);
    const auto edges = neighbor_edges(Points(X), {.neighbors = 5, .search = NeighborSearch::clustered}).edges;
    EXPECT_GT(cells_of_components(3000, edges).size(), 10); // there was something to join
}

/// Few cells in a list, few lists looked at and few central cells: most points are asked for, some at a time.
void expect_the_lists_of_one_process(const Matrix& X, Index looked_at = 700) {
    constexpr Index k = 5;
    const ClusterSettings settings{.in_a_list = 60, .looked_at = looked_at, .central = 150};
    const Points points(X);
    const Index candidates = clustered_search.candidates_of(X.cols(), k);
    std::mutex mutex;
    std::vector<Edge> expected;
    visit_clustered_candidates(search_space(points, 200, 4096, 3), candidates, settings, 3,
                               [&](Index cell, std::span<const std::int32_t> others) {
                                   std::vector<CellAtDistance> nearest;
                                   for (const Index other : others) {
                                       nearest.emplace_back(points.distance(cell, other), other);
                                   }
                                   keep_nearest(nearest, k);
                                   const std::lock_guard lock(mutex);
                                   for (const auto& [d, other] : nearest) {
                                       expected.push_back({d, std::min(cell, other), std::max(cell, other)});
                                   }
                               });
    expected = distinct_edges(std::move(expected));
    on_ranks(X, {1, 2, 3, 4, 7}, [&](const DividedColumns& columns) {
        EXPECT_EQ(divided_clustered_edges(columns, k, 3, 100, settings).edges, expected);
    });
}

TEST(DividedSearch, ClusteredComparesTheListsOfOneProcess) {
    expect_the_lists_of_one_process(uniform_cloud(7, 2900, 4));
}

TEST(DividedSearch, ClusteredKeepsTheSameOfEqualKeys) {
    expect_the_lists_of_one_process(lattice(2900));
    // Two points with so many cells each that not all of them can be candidates: which are is decided by the
    // order in which they were seen.
    expect_the_lists_of_one_process(uniform_cloud(1, 2900, 9).array().round(), 2000);
}

} // namespace
} // namespace pnmf::test
