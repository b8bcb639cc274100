#include "assess/modularity.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

NeighborLists graph_of(Index cells, const std::vector<std::pair<Index, Index>>& pairs) {
    std::vector<Edge> edges;
    for (const auto& [i, j] : pairs) {
        edges.push_back({.length = 1.0, .i = i, .j = j});
    }
    return symmetric_lists(cells, edges);
}

/// The slow twin: Σ over all ordered pairs of (A_ij − d_i d_j / 2m) / 2m where both have the same cluster.
double by_definition(const NeighborLists& graph, const std::vector<Index>& clusters) {
    const Index n = graph.cells();
    Matrix A = Matrix::Zero(n, n);
    for (Index j = 0; j < n; ++j) {
        for (auto e = graph.start[j]; e < graph.start[j + 1]; ++e) {
            A(graph.cell[e], j) = 1.0;
        }
    }
    const Vector degree = A.colwise().sum();
    const double ends = degree.sum();
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
            if (clusters[i] == clusters[j]) {
                sum += A(i, j) - degree[i] * degree[j] / ends;
            }
        }
    }
    return sum / ends;
}

TEST(Modularity, OfTwoTrianglesJoinedByAnEdge) {
    const NeighborLists graph = graph_of(6, {{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}, {2, 3}});
    // 6 of 7 edges are inside, each half has 7 of 14 ends.
    EXPECT_NEAR(modularity(graph, {0, 0, 0, 1, 1, 1}), 6.0 / 7.0 - 0.5, 1e-15);
    EXPECT_NEAR(modularity(graph, {0, 0, 0, 0, 0, 0}), 0.0, 1e-15);
}

TEST(Modularity, IsTheSumOverPairsThatDefinesIt) {
    Random random(4);
    for (int round = 0; round < 20; ++round) {
        const Index n = 2 + random.below(30);
        std::vector<std::pair<Index, Index>> pairs;
        for (Index i = 0; i < n; ++i) {
            for (Index j = i + 1; j < n; ++j) {
                if (random.uniform() < 0.2) {
                    pairs.emplace_back(i, j);
                }
            }
        }
        if (pairs.empty()) {
            continue;
        }
        std::vector<Index> clusters;
        for (Index i = 0; i < n; ++i) {
            clusters.push_back(random.below(4));
        }
        const NeighborLists graph = graph_of(n, pairs);
        EXPECT_NEAR(modularity(graph, clusters), by_definition(graph, clusters), 1e-12);
    }
}

TEST(Modularity, OfARingCutIntoRunsOfCells) {
    constexpr Index cells = 24000;
    constexpr Index runs = 5;
    std::vector<std::pair<Index, Index>> pairs;
    std::vector<Index> clusters;
    for (Index j = 0; j < cells; ++j) {
        pairs.emplace_back(j, (j + 1) % cells);
        clusters.push_back(j / (cells / runs));
    }
    // All but 5 of as many edges as cells are inside, each run has a fifth of the ends.
    EXPECT_NEAR(modularity(graph_of(cells, pairs), clusters),
                1.0 - static_cast<double>(runs) / static_cast<double>(cells) - 1.0 / runs, 1e-14);
}

TEST(Modularity, OfAGraphWithoutEdgesIsZero) {
    EXPECT_EQ(modularity(graph_of(3, {}), {0, 1, 2}), 0.0);
}

TEST(Modularity, NeedsAClusterForEachCell) {
    EXPECT_THROW(modularity(graph_of(3, {{0, 1}}), {0, 1}), InputError);
}

} // namespace
} // namespace pnmf
