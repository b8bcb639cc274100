#include "support/clouds.hpp"

#include <pnmf/assess/group_tree.hpp>
#include <pnmf/assess/paths.hpp>
#include <pnmf/error.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include <Eigen/LU>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pnmf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

template <class Call>
void refused(Call call, const char* reason) {
    EXPECT_THAT(call, ThrowsMessage<InputError>(HasSubstr(reason)));
}

/// Edges with these lengths; the weight of an edge is 1 / (1 + length).
PathGraph graph_of(Index cells, const std::vector<Edge>& edges) {
    PathGraph graph{.lists = symmetric_lists(cells, edges), .weight = {}, .length = {}};
    graph.length = graph.lists.length;
    for (const double length : graph.length) {
        graph.weight.push_back(1.0 / (1.0 + length));
    }
    return graph;
}

/// Neighbours and tree of random points.
PathGraph random_graph(Index cells, std::uint64_t seed) {
    const Points points(test::uniform_cloud(2, cells, seed));
    std::vector<Edge> edges = neighbor_edges(points, {.neighbors = 3}).edges;
    const SpanningTree tree = minimum_spanning_tree(points);
    edges.insert(edges.end(), tree.edges.begin(), tree.edges.end());
    return graph_of(cells, edges);
}

TEST(PathTimes, AreTheShortestPathsOfAllPairs) {
    const PathGraph graph = random_graph(40, 3);
    Matrix D = Matrix::Constant(40, 40, std::numeric_limits<double>::infinity()); // Floyd and Warshall
    D.diagonal().setZero();
    for (Index i = 0; i < 40; ++i) {
        for (auto e = graph.lists.start[i]; e < graph.lists.start[i + 1]; ++e) {
            D(i, graph.lists.cell[e]) = graph.length[e];
        }
    }
    for (Index k = 0; k < 40; ++k) {
        for (Index i = 0; i < 40; ++i) {
            for (Index j = 0; j < 40; ++j) {
                D(i, j) = std::min(D(i, j), D(i, k) + D(k, j));
            }
        }
    }
    for (const Index root : {Index{0}, Index{17}}) {
        const Vector times = path_times(graph, root);
        EXPECT_EQ(times[root], 0.0);
        EXPECT_EQ(times.maxCoeff(), 1.0);
        EXPECT_LT((times - D.col(root) / D.col(root).maxCoeff()).cwiseAbs().maxCoeff(), 1e-12);
    }
}

TEST(Fates, AreThoseOfADenseSolve) {
    const Index n = 60;
    const PathGraph graph = random_graph(n, 5);
    const Vector times = path_times(graph, 0);
    const std::vector<std::vector<Index>> ends{{7, 8}, {20}, {41}};
    for (const double direction : {0.0, 10.0}) {
        Matrix P = Matrix::Zero(n, n);
        for (Index i = 0; i < n; ++i) {
            for (auto e = graph.lists.start[i]; e < graph.lists.start[i + 1]; ++e) {
                const Index j = graph.lists.cell[e];
                P(i, j) = graph.weight[e] *
                          std::min(1.0, 2.0 / (1.0 + std::exp(direction * (times[i] - times[j]))));
            }
            P.row(i) /= P.row(i).sum();
        }
        Matrix absorbed = Matrix::Zero(n, 3);
        for (Index k = 0; k < 3; ++k) {
            for (const Index cell : ends[static_cast<std::size_t>(k)]) {
                P.row(cell).setZero();
                absorbed(cell, k) = 1.0;
            }
        }
        const Matrix twin = (Matrix::Identity(n, n) - P).partialPivLu().solve(absorbed).transpose();
        const Fates found = fates(graph, times, ends, {.direction = direction, .tolerance = 1e-12});
        EXPECT_TRUE(found.converged);
        EXPECT_LT((found.probability - twin).cwiseAbs().maxCoeff(), 1e-7) << "direction " << direction;
        EXPECT_LT((found.probability.colwise().sum().array() - 1.0).abs().maxCoeff(), 1e-7);
    }
}

TEST(Fates, AreTheSameForAnyNumberOfThreads) {
    const PathGraph graph = random_graph(200, 6);
    const Vector times = path_times(graph, 0);
    const Matrix one = fates(graph, times, {{10}, {90}}).probability;
    const int threads = thread_count();
    set_thread_count(3);
    EXPECT_EQ(fates(graph, times, {{10}, {90}}).probability, one);
    set_thread_count(threads);
}

TEST(Fates, OfAForkAreDecidedOnItsArms) {
    // 0 - 1 - 2, then 2 - 3 - 4 and 2 - 5 - 6
    const PathGraph graph =
        graph_of(7, {{1.0, 0, 1}, {1.0, 1, 2}, {1.0, 2, 3}, {1.0, 3, 4}, {1.0, 2, 5}, {1.0, 5, 6}});
    const Vector times = path_times(graph, 0);
    const Fates found = fates(graph, times, {{4}, {6}});
    EXPECT_NEAR(found.probability(0, 0), 0.5, 1e-6);
    EXPECT_GT(found.probability(0, 3), 0.9);
    EXPECT_LT(found.probability(0, 5), 0.1);
    const std::vector<Index> arms{0, 0, 0, 1, 1, 2, 2};
    EXPECT_THAT(end_clusters(graph, arms, 0), ElementsAre(1, 2));
    EXPECT_THAT(end_clusters(graph, arms, 4), ElementsAre(2)) << "the trunk lies between";
    EXPECT_THAT(end_clusters(graph, std::vector<Index>(7, 0), 0), ElementsAre(0)) << "one cluster alone";
    EXPECT_THAT(late_cells(times, arms, 1), ElementsAre(4));
}

TEST(Paths, RefuseWhatCannotBe) {
    const PathGraph apart = graph_of(5, {{1.0, 0, 1}, {1.0, 2, 3}, {1.0, 3, 4}});
    refused([&] { path_times(apart, 0); }, "3 of 5 cells cannot be reached");
    refused([&] { path_times(apart, 5); }, "one of the 5 cells, got 5");
    refused([&] { path_times(apart, -1); }, "one of the 5 cells, got -1");
    const PathGraph graph = graph_of(3, {{1.0, 0, 1}, {1.0, 1, 2}});
    const Vector times = path_times(graph, 0);
    refused([&] { fates(graph, times, {}); }, "at least 1 end");
    refused([&] { fates(graph, times, {{}}); }, "end 1 has no cells");
    refused([&] { fates(graph, times, {{3}}); }, "got 3");
    refused([&] { fates(graph, times, {{1}, {1}}); }, "cell 1 is in two ends");
    refused([&] { fates(graph, times, {{1}}, {.direction = -1.0}); }, "direction");
    refused([&] { fates(graph, Vector::Zero(2), {{1}}); }, "each of the 3 cells, got 2");
    refused([&] { end_clusters(graph, {0, 1}, 0); }, "each of the 3 cells, got 2");
    refused([&] { late_cells(times, {0, 0, 0}, 1); }, "cluster 2 has no cells");
}

TEST(PathGraph, SumsWeightsAndLengthsOverScales) {
    const Index n = 30;
    const Points points(test::uniform_cloud(3, n, 2));
    std::vector<Edge> edges = neighbor_edges(points, {.neighbors = 4}).edges;
    const NeighborLists lists = symmetric_lists(n, edges);
    const std::vector<Matrix> H{test::uniform_cloud(4, n, 7), test::uniform_cloud(4, n, 8)};
    const PathScales scales{.epsilon = {0.3, 2.0}, .weight = {3.0, 1.0}, .alpha = 2.0};
    const auto embedding = [&](Index t) { return H[static_cast<std::size_t>(t)]; };
    const PathGraph graph = path_graph(lists, scales, embedding);
    ASSERT_EQ(graph.weight.size(), lists.cell.size()) << "the coarse scale has every edge";
    for (Index i = 0; i < n; ++i) {
        for (auto e = lists.start[i]; e < lists.start[i + 1]; ++e) {
            const Index j = lists.cell[e];
            double square = 0.0;
            for (std::size_t t = 0; t < 2; ++t) {
                square += scales.weight[t] / 4.0 *
                          (H[t].col(i).normalized() - H[t].col(j).normalized()).squaredNorm();
            }
            const double d = lists.length[e];
            EXPECT_NEAR(graph.weight[e], 0.75 * EdgeWeight(0.3, 2.0)(d) + 0.25 * EdgeWeight(2.0, 2.0)(d),
                        1e-14);
            EXPECT_NEAR(graph.length[e], std::sqrt(square), 1e-12);
        }
    }
    const PathGraph fine = path_graph(lists, {.epsilon = {0.1}, .weight = {}, .alpha = 2.0}, embedding);
    EXPECT_LT(fine.weight.size(), graph.weight.size()) << "edges that no scale has are left out";
}

TEST(GroupTree, JoinsGroupsByTheirMeansOverAllScales) {
    // Groups 0 and 1 point the same way at the coarse scale, which stands for most scales.
    Matrix fine(3, 6);
    fine << 1, 1, 0, 0, 0, 0, /**/ 0, 0, 1, 1, 0, 0, /**/ 0, 0, 0, 0, 1, 1;
    Matrix coarse(3, 6);
    coarse << 1, 1, 1, 1, 0, 0, /**/ 0, 0, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 5, 5;
    const std::vector<Matrix> H{fine, coarse};
    const GroupTree tree = group_tree(2, [&](Index t) { return H[static_cast<std::size_t>(t)]; },
                                      {0, 0, 1, 1, 2, 2}, {1.0, 3.0});
    const Matrix& merges = tree.hierarchy.merges;
    ASSERT_EQ(merges.rows(), 2);
    EXPECT_EQ(std::min(merges(0, 0), merges(0, 1)), 0.0);
    EXPECT_EQ(std::max(merges(0, 0), merges(0, 1)), 1.0);
    EXPECT_NEAR(merges(0, 2), std::sqrt(0.25 * 2.0), 1e-12);
    EXPECT_NEAR(merges(1, 2), std::sqrt(2.0), 1e-12);
    refused(
        [&] {
            group_tree(2, [&](Index t) { return H[static_cast<std::size_t>(t)]; }, {0, 0, 0, 0, 0, 0});
        },
        "at least 2 groups");
}

} // namespace
} // namespace pnmf
