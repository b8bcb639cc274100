#include "graphs/dense_graph.hpp"
#include "graphs/sparse_graph.hpp"
#include "persistence/balanced_edges.hpp"
#include "persistence/neighbor_tree.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pnmf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

void expect_same_graphs(const MultiscaleGraph& a, const MultiscaleGraph& b,
                        const std::vector<double>& epsilon) {
    for (const double e : epsilon) {
        EXPECT_EQ(a.at(e)->adjacency(), b.at(e)->adjacency());
    }
}

TEST(Filtration, IsItsPartsPutTogether) {
    const Points points(test::uniform_cloud(3, 40, 5));
    for (const ScaleStrategy strategy : {ScaleStrategy::canonical, ScaleStrategy::random}) {
        const FiltrationOptions options{.alpha = 1.7, .scales = {.strategy = strategy, .max_scales = 9}};
        const Filtration filtration = make_filtration(points, options, 3);
        const SpanningTree tree = minimum_spanning_tree(points);
        EXPECT_EQ(filtration.tree.edges, tree.edges);
        EXPECT_EQ(filtration.scales.epsilon, choose_scales(points, tree, options.scales, 3).epsilon);
        EXPECT_TRUE(filtration.tree_is_exact);
        EXPECT_TRUE(filtration.notices.empty());
        expect_same_graphs(*filtration.graph, DenseMultiscaleGraph(points, tree, 1.7),
                           filtration.scales.epsilon);
    }
}

TEST(Filtration, OfNeighboursHasTheirEdgesAndTheTreeAndSaysSo) {
    const Points points(test::uniform_cloud(3, 60, 5));
    const FiltrationOptions options{.neighbors = 1, .search = NeighborSearch::screened};
    const Filtration filtration = make_filtration(points, options, 7);
    const TreeAndNeighbors found = tree_and_neighbors(points, 1, NeighborSearch::screened, 7);
    EXPECT_EQ(filtration.neighbors->edges, found.neighbors->edges);
    EXPECT_THAT(filtration.notices, ElementsAre(HasSubstr("1 nearest"), HasSubstr("approximately")));
    expect_same_graphs(*filtration.graph, SparseMultiscaleGraph(found.tree, found.neighbors->edges, 1.5),
                       filtration.scales.epsilon);
    // One neighbour each joins few cells: most components are joined by edges of the tree alone.
    const SortedEdges sorted = edges_of(points, filtration);
    for (const double epsilon : filtration.scales.epsilon) {
        EXPECT_EQ(sorted.edges_below(epsilon), filtration.graph->at(epsilon)->edges());
    }
}

TEST(Filtration, OfAClusteredSearchHasTheTreeOfWhatWasFound) {
    const Points points(test::uniform_cloud(3, 60, 6));
    const Filtration filtration =
        make_filtration(points, {.neighbors = 3, .search = NeighborSearch::clustered}, 1);
    EXPECT_FALSE(filtration.tree_is_exact);
    EXPECT_EQ(filtration.notices.size(), 3U);
}

TEST(Filtration, BeforeItsGraphIsTheSame) {
    const Points points(test::lattice_cloud(2, 40, 5, 2));
    for (const std::optional<Index> neighbors : {std::optional<Index>(), std::optional<Index>(3)}) {
        const FiltrationOptions options{.neighbors = neighbors};
        const Filtration whole = make_filtration(points, options);
        const Filtration part = tree_and_scales(points, options);
        EXPECT_EQ(part.graph, nullptr);
        EXPECT_EQ(part.tree.edges, whole.tree.edges);
        EXPECT_EQ(part.scales.epsilon, whole.scales.epsilon);
        EXPECT_EQ(edges_of(points, part).edges, edges_of(points, whole).edges);
    }
}

// 0 -1- 1 -2- 2 and 0 -2.5- 2; cell 3 hangs on 0 by an edge of length 4.
SortedEdges small_graph() {
    return sorted_edges(4, {{4.0, 0, 3}, {2.0, 1, 2}, {1.0, 0, 1}, {2.5, 0, 2}, {2.0, 1, 2}});
}

TEST(Filtration, OfAGraphOfOnesOwnIsTheOneMadeByHand) {
    const Filtration filtration = make_filtration(small_graph(), {.alpha = 2.0});
    EXPECT_THAT(filtration.tree.edges, ElementsAre(Edge{1.0, 0, 1}, Edge{2.0, 1, 2}, Edge{4.0, 0, 3}));
    EXPECT_THAT(filtration.scales.epsilon, ElementsAre(1.0, 2.0, 4.0, 4.0 + 1e-9));
    EXPECT_THAT(filtration.scales.betti0, ElementsAre(4, 3, 2, 1));
    Matrix A = Matrix::Zero(4, 4); // at ε = 4 the edge of length 4 is not there yet
    A(0, 1) = A(1, 0) = std::exp(-1.0 / 16.0);
    A(1, 2) = A(2, 1) = std::exp(-4.0 / 16.0);
    A(0, 2) = A(2, 0) = std::exp(-6.25 / 16.0);
    EXPECT_LT((filtration.graph->at(4.0)->adjacency() - A).norm(), 1e-15);
    EXPECT_EQ(filtration.graph->at(5.0)->edges(), 4);
    const Filtration uniform =
        make_filtration(small_graph(), {.scales = {.strategy = ScaleStrategy::uniform}});
    // Δ* of the graph is 1, 2, 2.5, 4 and the complete scale; four of the five.
    EXPECT_THAT(uniform.scales.epsilon, ElementsAre(1.0, 2.0, 4.0, 4.0 + 1e-9));
}

TEST(Filtration, OfTheNeighboursFoundIsThatOfThePoints) {
    const Points points(test::uniform_cloud(3, 50, 8));
    const Filtration searched = make_filtration(points, {.neighbors = 5});
    const Filtration given = make_filtration(edges_of(points, searched));
    EXPECT_EQ(given.tree.edges, searched.tree.edges);
    EXPECT_THAT(given.scales.betti0, testing::ContainerEq(searched.scales.betti0));
    expect_same_graphs(*given.graph, *searched.graph, searched.scales.epsilon);
}

TEST(Filtration, RefusesWhatCannotBe) {
    const auto refused = [](const std::function<void()>& make, const char* words) {
        EXPECT_THAT(make, ThrowsMessage<InputError>(HasSubstr(words)));
    };
    refused([] { make_filtration(sorted_edges(4, {{1.0, 0, 1}, {1.0, 2, 3}})); }, "2 components");
    refused([] { make_filtration(small_graph(), {.neighbors = 2}); }, "2 nearest neighbours");
    refused([] { make_filtration(small_graph(), {.alpha = 0.0}); }, "alpha");
    refused([] { sorted_edges(3, {{1.0, 1, 1}}); }, "the smaller one first");
    refused([] { sorted_edges(3, {{1.0, 2, 1}}); }, "the smaller one first");
    refused([] { sorted_edges(3, {{1.0, 0, 3}}); }, "two of the 3 cells");
    refused([] { sorted_edges(3, {{-1.0, 0, 1}}); }, "at least 0, got -1");
    refused([] { sorted_edges(3, {{1.0, 0, 1}, {2.0, 0, 1}}); }, "got lengths 1 and 2 between cells 0 and 1");
    refused([] { all_pairs(Points(Matrix::Zero(1, largest_set_of_pairs + 1))); }, "do not fit");
}

TEST(Filtration, OfBatchesHasTheEdgesAndTheTreeOfBalancedNeighbours) {
    const Points points(test::uniform_cloud(3, 60, 8));
    FiltrationOptions options{.alpha = 2.0, .neighbors = 6};
    for (Index j = 0; j < 60; ++j) {
        options.batch.push_back(j % 3);
    }
    const Filtration filtration = make_filtration(points, options);
    const BalancedEdges balanced = balanced_edges(points, options.batch, 6);
    EXPECT_EQ(edges_of(points, filtration).edges, balanced.edges.edges);
    EXPECT_EQ(filtration.tree.edges, minimum_spanning_tree(balanced.edges).edges);
    EXPECT_EQ(filtration.scales.epsilon, canonical_scales(filtration.tree).epsilon);
    EXPECT_THAT(filtration.notices,
                ElementsAre(HasSubstr("3 nearest neighbours of each cell in each of 3 batches"),
                            HasSubstr("not corrected")));
    for (const double epsilon : filtration.scales.epsilon) {
        EXPECT_EQ(balanced.edges.edges_below(epsilon), filtration.graph->at(epsilon)->edges());
    }
}

TEST(Filtration, OfBatchesNeedsNeighboursAndAnExactSearch) {
    const auto refused = [](const std::function<void()>& make, const char* words) {
        EXPECT_THAT(make, ThrowsMessage<InputError>(HasSubstr(words)));
    };
    const Points points(test::uniform_cloud(3, 8, 8));
    const std::vector<Index> batch{0, 0, 0, 0, 1, 1, 1, 1};
    refused([&] { make_filtration(points, {.batch = batch}); }, "give their number");
    refused(
        [&] {
            make_filtration(points, {.neighbors = 2, .search = NeighborSearch::clustered, .batch = batch});
        },
        "clustered");
    refused([&] { make_filtration(small_graph(), {.batch = batch}); }, "a neighbour graph was given");
}

} // namespace
} // namespace pnmf
