#include "cells/graphs/local_filtration.hpp"
#include "graphs/sparse_graph.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <gtest/gtest.h>

namespace pnmf::test {
namespace {

/// Everything that a fit takes from a filtration: deaths, scales, and the graphs at three of them.
void expect_equal(const Filtration& found, const Filtration& expected) {
    EXPECT_EQ(found.tree.edges, expected.tree.edges);
    EXPECT_EQ(found.tree.largest_distance, expected.tree.largest_distance);
    EXPECT_EQ(found.tree_is_exact, expected.tree_is_exact);
    EXPECT_EQ(h0_diagram(found.tree).deaths, h0_diagram(expected.tree).deaths);
    EXPECT_EQ(found.scales.epsilon, expected.scales.epsilon);
    EXPECT_EQ(found.scales.betti0, expected.scales.betti0);
    EXPECT_EQ(found.scales.weight, expected.scales.weight);
    EXPECT_EQ(found.notices, expected.notices); // the recall of an approximate search is in them
    if (const auto* lists = dynamic_cast<const SparseMultiscaleGraph*>(expected.graph.get())) {
        const auto& same = dynamic_cast<const SparseMultiscaleGraph&>(*found.graph).lists();
        EXPECT_EQ(same.start, lists->lists().start);
        EXPECT_EQ(same.cell, lists->lists().cell);
        EXPECT_EQ(same.length, lists->lists().length);
    }
    const Index coarsest = expected.scales.size() - 1;
    for (const Index t : {Index{0}, coarsest / 2, coarsest}) {
        const double epsilon = expected.scales.epsilon[t];
        EXPECT_EQ(found.graph->at(epsilon)->degrees(), expected.graph->at(epsilon)->degrees());
    }
}

/// Whole blocks of 256 cells; some ranks may have none.
CellRange part_of(Index cells, int rank, int ranks) {
    const auto first = [&](int r) { return r == ranks ? cells : cells * r / ranks / 256 * 256; };
    return {first(rank), first(rank + 1) - first(rank), cells};
}

/// With all points on every rank, and with its own on each.
template <class Values>
void expect_that_of_one_process(const Values& X, const FiltrationOptions& options) {
    const Points points(X, options.metric);
    const Filtration expected = make_filtration(points, options, 3);
    for (const int count : {1, 2, 3, 4, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            expect_equal(make_filtration(points, options, 3), expected);
            const CellRange part = part_of(points.count(), r, count);
            const Values mine = columns_of(X, part);
            expect_equal(local_filtration(DataView(view_of(mine)), part, options, 3), expected);
        });
    }
}

/// Groups far from each other: the tree of neighbours found must join them.
Matrix far_groups(Index features, Index cells) {
    Matrix X = uniform_cloud(features, cells, 11);
    for (Index j = 0; j < cells; ++j) {
        X(j % 5, j) += 20.0;
    }
    return X;
}

TEST(FiltrationOverRanks, OfAllPairsIsThatOfOneProcess) {
    expect_that_of_one_process(lattice_cloud(5, 700, 4, 2), {});
}

TEST(FiltrationOverRanks, OfExactNeighboursIsThatOfOneProcess) {
    expect_that_of_one_process(lattice_cloud(6, 1300, 4, 2), {.neighbors = 6});
}

TEST(FiltrationOverRanks, OfScalesThatAreDrawnIsThatOfOneProcess) {
    for (const auto strategy : {ScaleStrategy::sufficient, ScaleStrategy::random}) {
        expect_that_of_one_process(far_groups(6, 600), {.scales = {.strategy = strategy}, .neighbors = 6});
    }
}

TEST(FiltrationOverRanks, OfTheCosineMetricIsThatOfOneProcess) {
    expect_that_of_one_process(far_groups(6, 600), {.metric = Metric::cosine, .neighbors = 6});
}

TEST(FiltrationOverRanks, OfTinyCoordinatesIsThatOfOneProcess) {
    Matrix X = far_groups(6, 600);
    X.col(300).setConstant(1e-170); // alone they would be refused
    expect_that_of_one_process(X, {.neighbors = 6});
    X = Matrix::Ones(2, 600);
    X.row(1).setZero();
    X(1, 0) = 1e-170; // at distance 0 from the others, but not the same point
    expect_that_of_one_process(X, {.neighbors = 6});
    expect_that_of_one_process(to_sparse(X), {.neighbors = 6});
}

TEST(FiltrationOverRanks, OfScreenedNeighboursIsThatOfOneProcess) {
    // More features than the search looks at: cells are projected.
    expect_that_of_one_process(far_groups(210, 600), {.neighbors = 4, .search = NeighborSearch::screened});
}

TEST(FiltrationOverRanks, OfClusteredNeighboursIsThatOfOneProcess) {
    expect_that_of_one_process(far_groups(30, 2500), {.neighbors = 4, .search = NeighborSearch::clustered});
}

TEST(FiltrationOverRanks, OfSparsePointsIsThatOfOneProcess) {
    SparseMatrix<double> X = sparse_cloud(30, 1300, 0.2, 4);
    for (const auto search : {NeighborSearch::exact, NeighborSearch::screened, NeighborSearch::clustered}) {
        expect_that_of_one_process(X, {.neighbors = 5, .search = search});
    }
    expect_that_of_one_process(sparse_cloud(30, 500, 0.2, 4), {}); // of all pairs
    expect_that_of_one_process(to_sparse(far_groups(6, 600)), {.metric = Metric::cosine, .neighbors = 5});
    X.value[0] = 1e-170;
    expect_that_of_one_process(X, {.neighbors = 5});
}

TEST(FiltrationOverRanks, OfBatchesIsThatOfOneProcess) {
    FiltrationOptions options{.neighbors = 6};
    for (Index j = 0; j < 700; ++j) {
        options.batch.push_back(j % 3 == 0 ? 1 : 0);
    }
    expect_that_of_one_process(far_groups(8, 700), options);
}

} // namespace
} // namespace pnmf::test
