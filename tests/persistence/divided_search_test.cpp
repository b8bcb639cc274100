#include "divided_points.hpp"
#include "persistence/candidate_ranking.hpp"
#include "persistence/join_components.hpp"
#include "persistence/neighbor_tree.hpp"
#include "persistence/neighbors_of.hpp"
#include "ranks/persistence/divided_search.hpp"
#include "ranks/persistence/divided_search_space.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <span>

/// Neighbours and tree of points that are divided over ranks are those of one process.
namespace pnmf::test {
namespace {

/// Many equal distances and equal cells, on one rank and on several.
Matrix lattice(Index cells) {
    return (uniform_cloud(3, cells, 9).array() * 6.0).round();
}

/// Values of which most are not stored, and sums of which are rounded. Some cells have no entries at all, and
/// some the same.
SparseMatrix<double> sparse_points(Index features, Index cells, double density) {
    Matrix X = to_dense(sparse_cloud(features, cells, density, 5));
    for (Index j = 0; j < cells; ++j) {
        X.col(j) /= 1.0 + 0.37 * static_cast<double>(j % 7);
        if (j % 50 == 0) {
            X.col(j).setZero();
        } else if (j % 11 == 0) {
            X.col(j) = X.col(j / 2);
        }
    }
    return to_sparse(X);
}

template <class Values>
void expect_to_be_possible_with_shares(const Values& X) {
    const Index cells = Points(X).count();
    for (const int count : {2, 3, 4, 7, 16}) {
        SCOPED_TRACE(std::to_string(cells) + " cells, " + std::to_string(count) + " ranks");
        ThreadRanks ranks(count);
        ranks.run([&](int) {
            const CellRange share = local_range(cells, all_processes());
            const Values mine = columns_of(X, share);
            const DividedPoints points(DataView(view_of(mine)), share, all_processes());
            EXPECT_TRUE(can_search_divided(points, NeighborSearch::clustered));
            EXPECT_TRUE(can_search_divided(points, NeighborSearch::exact));
            EXPECT_FALSE(can_search_divided(points, NeighborSearch::screened));
        });
    }
}

TEST(DividedSearch, IsPossibleWithTheSharesOfRanks) {
    for (const Index cells : {1300, 5200, 60001, 100000}) {
        expect_to_be_possible_with_shares(uniform_cloud(2, cells, 2));
    }
    expect_to_be_possible_with_shares(uniform_cloud(201, 1300, 2));
    expect_to_be_possible_with_shares(sparse_points(201, 5200, 0.02));
}

template <class Values>
void expect_the_clustered_edges_with_shares(const Values& X) {
    const Index cells = Points(X).count();
    const NeighborOptions options{.neighbors = 6, .search = NeighborSearch::clustered, .seed = 3};
    const NeighborEdges expected = neighbor_edges(Points(X), options);
    for (const int count : {2, 3, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int) {
            const CellRange share = local_range(cells, all_processes());
            const Values mine = columns_of(X, share);
            const NeighborEdges found = divided_clustered_edges(
                DividedPoints(DataView(view_of(mine)), share, all_processes()), 6, 3, 500);
            EXPECT_EQ(found.edges, expected.edges);
            EXPECT_EQ(found.recall, expected.recall);
        });
    }
}

TEST(DividedSearch, WithTheSharesOfRanksFindsTheClusteredEdgesOfOneProcess) {
    expect_the_clustered_edges_with_shares(uniform_cloud(7, 5200, 4));
}

/// More features than the search looks at: cells are projected.
TEST(DividedSearch, WithTheSharesOfRanksProjectsCellsAsOneProcessDoes) {
    expect_the_clustered_edges_with_shares(uniform_cloud(230, 5200, 4));
    expect_the_clustered_edges_with_shares(sparse_points(230, 5200, 0.05));
}

/// The vectors of all cells, with the bits of one process.
template <class Values>
void expect_the_search_space_of_one_process(const Values& X) {
    const Points points(X);
    const SearchSpace expected = search_space(points, clustered_search.dimension, basis_sample, 3);
    on_ranks(X, {1, 2, 3, 7}, [&](const DividedPoints& divided) {
        const DividedSearchSpace found(divided, clustered_search.dimension, basis_sample, 3);
        const CellRange& held = divided.local();
        EXPECT_EQ(found.dimension(), expected.dimension);
        EXPECT_EQ(found.mine(), expected.vectors.middleCols(held.first, held.count));
    });
}

TEST(DividedSearch, HasTheSearchSpaceOfOneProcess) {
    expect_the_search_space_of_one_process(uniform_cloud(230, 1900, 4));
    expect_the_search_space_of_one_process(sparse_points(230, 1900, 0.05));
    // Near their mean, so that a last bit of it counts.
    const Matrix near = 1e-12 * uniform_cloud(7, 1900, 4).array() + 0.7;
    expect_the_search_space_of_one_process(near);
    expect_the_search_space_of_one_process(to_sparse(near));
}

template <class Values>
void expect_exact(const Values& X, Index k, const std::vector<int>& counts) {
    const Points points(X);
    const SpanningTree tree = minimum_spanning_tree(points);
    const std::vector<Edge> edges = neighbor_edges(points, {.neighbors = k}).edges;
    on_ranks(X, counts, [&](const DividedPoints& divided) {
        const SpanningTree found = divided_spanning_tree(divided);
        EXPECT_EQ(found.edges, tree.edges);
        EXPECT_EQ(found.largest_distance, tree.largest_distance);
        const auto mine = divided_exact_edges(divided, k);
        EXPECT_EQ(distinct_edges(gather_any(divided.processes(), mine)), edges);
    });
}

TEST(DividedSearch, FindsTheExactTreeAndNeighboursOfOneProcess) {
    expect_exact(uniform_cloud(30, 1900, 4), 15, {1, 2, 3, 4, 7});
}

TEST(DividedSearch, TiesAndEqualCellsAreDecidedAsInOneProcess) {
    expect_exact(lattice(1900), 5, {1, 2, 3, 4, 7});
}

TEST(DividedSearch, OfSparsePointsFindsTheExactTreeAndNeighboursOfOneProcess) {
    expect_exact(sparse_points(60, 1900, 0.1), 15, {1, 2, 3, 4, 7});
    expect_exact(to_sparse(lattice(1900)), 5, {1, 2, 3, 4, 7});
}

TEST(DividedSearch, ZerosThatAreStoredDecideNothing) {
    SparseMatrix<double> X = to_sparse(lattice(1300));
    for (std::size_t e = 0; e < X.value.size(); e += 5) {
        X.value[e] = 0.0;
    }
    expect_exact(X, 5, {2, 7});
    EXPECT_EQ(minimum_spanning_tree(Points(X)).edges, minimum_spanning_tree(Points(to_dense(X))).edges);
}

TEST(DividedSearch, MoreNeighboursThanARankHasCells) {
    expect_exact(to_sparse(uniform_cloud(4, 300, 4)), 280, {2, 7});
    expect_exact(to_sparse(Matrix::Zero(2, 600)), 4, {3});
    expect_exact(uniform_cloud(4, 300, 4), 280, {2, 7});
    expect_exact(Matrix(Matrix::Ones(2, 600)), 4, {3});
}

/// Groups far apart, each larger than a number of neighbours: neighbours alone do not join them.
Matrix far_groups(Index cells) {
    Matrix X = uniform_cloud(5, cells, 3);
    for (Index j = 0; j < cells; ++j) {
        X(j % 3, j) += 50.0 * static_cast<double>(j % 40);
    }
    return X;
}

constexpr Index all_at_once = 65536;

template <class Values>
void expect_clustered(const Values& X, const std::vector<int>& counts, Index fetched) {
    const NeighborOptions options{.neighbors = 5, .search = NeighborSearch::clustered, .seed = 3};
    const Points points(X);
    const NeighborEdges expected = neighbor_edges(points, options);
    const SpanningTree tree = neighbor_tree(points, expected.edges);
    on_ranks(X, counts, [&](const DividedPoints& divided) {
        const NeighborEdges found = divided_clustered_edges(divided, 5, 3, fetched);
        EXPECT_EQ(found.edges, expected.edges);
        EXPECT_EQ(found.recall, expected.recall);
        EXPECT_EQ(found.sampled, expected.sampled);
        EXPECT_EQ(found.search, NeighborSearch::clustered);
        const SpanningTree found_tree = divided_neighbor_tree(divided, found.edges);
        EXPECT_EQ(found_tree.edges, tree.edges);
        EXPECT_EQ(found_tree.largest_distance, tree.largest_distance);
    });
}

TEST(DividedSearch, FetchesTheCellsThatHundredMegabytesHold) {
    const auto expect_fetched = [](const auto& X, Index cells) {
        on_ranks(X, {1, 3}, [&](const DividedPoints& divided) { EXPECT_EQ(usual_fetched(divided), cells); });
    };
    expect_fetched(Matrix(Matrix::Ones(30, 50)), 65536);
    expect_fetched(Matrix(Matrix::Ones(2000, 50)), 6250);
    expect_fetched(Matrix(Matrix::Ones(20000, 5)), 1024);
    expect_fetched(to_sparse(Matrix::Ones(1000, 50)), 8333);
}

TEST(DividedSearch, ClusteredFindsTheEdgesAndTreeOfOneProcess) {
    expect_clustered(uniform_cloud(30, 3000, 4), {1, 2, 3, 4, 7}, all_at_once);
}

TEST(DividedSearch, ClusteredOfSparsePointsFindsTheEdgesAndTreeOfOneProcess) {
    expect_clustered(sparse_points(40, 3000, 0.2), {1, 2, 3, 4, 7}, all_at_once);
    expect_clustered(sparse_points(300, 3000, 0.05), {1, 2, 3, 4, 7}, 500);
}

TEST(DividedSearch, ClusteredOfSparsePointsThatProductsCannotTellApartDecidesAsOneProcess) {
    expect_clustered(to_sparse(1e-9 * uniform_cloud(7, 2000, 4).array() + 0.7), {1, 3, 7}, all_at_once);
}

TEST(DividedSearch, ClusteredInManyCoordinatesFindsTheEdgesAndTreeOfOneProcess) {
    expect_clustered(uniform_cloud(210, 2500, 4), {1, 2, 7}, 500);
}

TEST(DividedSearch, ClusteredJoinsTheComponentsOfOneProcess) {
    const Matrix X = far_groups(3000);
    expect_clustered(X, {2, 7}, all_at_once);
    expect_clustered(to_sparse(X), {3}, all_at_once);
    const auto edges = neighbor_edges(Points(X), {.neighbors = 5, .search = NeighborSearch::clustered}).edges;
    EXPECT_GT(cells_of_components(3000, edges).size(), 10); // there was something to join
}

/// The edges to the k nearest among some cells, by sorting, as a slow twin of the search has them.
class SlowSearch {
  public:
    SlowSearch(const Points& points, Index k) : ranking_(points), k_(k), nearest_(points.count()) {}

    void look(Index cell, std::span<const std::int32_t> others) {
        nearest_[cell] = ranking_.nearest(cell, others, k_);
    }

    /// Each cell sees the neighbours of its neighbours of the round before.
    void two_steps() {
        const auto before = nearest_;
        for (std::size_t cell = 0; cell < before.size(); ++cell) {
            std::set<std::int32_t> others;
            for (const auto& [d, neighbor] : before[cell]) {
                others.insert(static_cast<std::int32_t>(neighbor));
                for (const auto& [e, next] : before[neighbor]) {
                    others.insert(static_cast<std::int32_t>(next));
                }
            }
            others.erase(static_cast<std::int32_t>(cell));
            look(static_cast<Index>(cell), std::vector<std::int32_t>(others.begin(), others.end()));
        }
    }

    std::vector<Edge> edges() const {
        std::set<Edge> edges;
        for (std::size_t j = 0; j < nearest_.size(); ++j) {
            const auto cell = static_cast<Index>(j);
            for (const auto& [d, other] : nearest_[j]) {
                edges.insert({d, std::min(cell, other), std::max(cell, other)});
            }
        }
        return {edges.begin(), edges.end()};
    }

  private:
    CandidateRanking ranking_;
    Index k_;
    std::vector<std::vector<CellAtDistance>> nearest_;
};

/// Few cells in a list, and few looked at: most points are asked for, some at a time.
template <class Values>
void expect_the_lists_of_one_process(const Values& X, Index looked_at = 700) {
    constexpr Index k = 5;
    const ClusterSettings settings{.in_a_list = 60, .looked_at = looked_at};
    const Points points(X);
    const Index candidates = clustered_search.candidates_of(points.count(), k, points.dimensions());
    std::mutex mutex;
    SlowSearch slow(points, k);
    visit_clustered_candidates(search_space(points, clustered_search.dimension, basis_sample, 3), candidates,
                               settings, 3, [&](Index cell, std::span<const std::int32_t> others) {
                                   const std::lock_guard lock(mutex);
                                   slow.look(cell, others);
                               });
    for (int round = 0; round < clustered_rounds; ++round) {
        slow.two_steps();
    }
    const std::vector<Edge> expected = slow.edges();
    on_ranks(X, {1, 2, 3, 4, 7}, [&](const DividedPoints& divided) {
        EXPECT_EQ(divided_clustered_edges(divided, k, 3, 100, settings).edges, expected);
    });
}

TEST(DividedSearch, ClusteredComparesTheListsOfOneProcess) {
    expect_the_lists_of_one_process(uniform_cloud(7, 2900, 4));
    expect_the_lists_of_one_process(sparse_points(50, 2900, 0.15));
    expect_the_lists_of_one_process(sparse_points(230, 2900, 0.05));
}

TEST(DividedSearch, ClusteredKeepsTheSameOfEqualKeys) {
    expect_the_lists_of_one_process(lattice(2900));
    expect_the_lists_of_one_process(to_sparse(lattice(2900)));
    // Two points with so many cells each that not all of them can be candidates: which are is decided by the
    // order in which they were seen.
    expect_the_lists_of_one_process(Matrix(uniform_cloud(1, 2900, 9).array().round()), 2000);
}

} // namespace
} // namespace pnmf::test
