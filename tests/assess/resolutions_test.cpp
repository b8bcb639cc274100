#include "assess/silhouette_table.hpp"
#include "support/clouds.hpp"

#include <pnmf/assess/assess.hpp>
#include <pnmf/assess/resolutions.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/silhouette.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

/// Groups on the axes of a space, `groups` of `size` cells each, about 1 along their axis.
struct AxisGroups {
    Matrix cells;
    std::vector<Index> labels;
};

AxisGroups groups_on_axes(Index groups, Index size, double spread, std::uint64_t seed) {
    Random random(seed);
    AxisGroups result;
    result.cells = Matrix::Zero(groups, groups * size);
    for (Index g = 0; g < groups; ++g) {
        for (Index i = 0; i < size; ++i) {
            for (Index k = 0; k < groups; ++k) {
                result.cells(k, g * size + i) = std::abs((k == g ? 1.0 : 0.0) + spread * random.normal());
            }
            result.labels.push_back(g);
        }
    }
    return result;
}

NeighborLists neighbour_graph(const Matrix& cells, Index k) {
    return symmetric_lists(cells.cols(), neighbor_edges(Points(cells), {.neighbors = k}).edges);
}

TEST(Resolutions, RecommendTheNumberOfGroupsThatThereAre) {
    for (const Index groups : {3, 5, 8}) {
        const AxisGroups data = groups_on_axes(groups, 40, 0.12, 1);
        const Resolutions found = find_resolutions(
            3, [&](Index t) { return Matrix(data.cells * (1.0 - 0.2 * static_cast<double>(t))); },
            neighbour_graph(data.cells, 8));
        const Resolution& recommended = found.all[static_cast<std::size_t>(found.recommended)];
        EXPECT_EQ(recommended.clusters, groups);
        EXPECT_GT(adjusted_rand_index(recommended.labels, data.labels), 0.98);
        EXPECT_GT(recommended.stability, 0.95);
    }
}

TEST(Resolutions, RunFromFewClustersToManyAndSayHowTheyNest) {
    // Two far groups, each of three nearer ones.
    AxisGroups data = groups_on_axes(6, 30, 0.1, 3);
    Matrix cells = Matrix::Zero(8, data.cells.cols());
    cells.topRows(6) = data.cells;
    for (Index j = 0; j < cells.cols(); ++j) {
        cells(data.labels[j] < 3 ? 6 : 7, j) = 3.0;
    }
    const Resolutions found = find_resolutions(
        2, [&](Index) { return cells; }, neighbour_graph(cells, 8));
    ASSERT_GE(found.all.size(), 2U);
    for (std::size_t r = 1; r < found.all.size(); ++r) {
        const Resolution& fine = found.all[r];
        EXPECT_GT(fine.clusters, found.all[r - 1].clusters);
        ASSERT_EQ(std::ssize(fine.parent), fine.clusters);
        for (Index c = 0; c < fine.clusters; ++c) {
            EXPECT_GE(fine.parent[c], 0);
            EXPECT_LT(fine.parent[c], found.all[r - 1].clusters);
            EXPECT_GT(fine.share[c], 0.0);
            EXPECT_LE(fine.share[c], 1.0);
        }
    }
    EXPECT_EQ(found.all.front().clusters, 2) << "two far groups are the most stable division";
    EXPECT_TRUE(found.all.front().parent.empty());
}

TEST(Resolutions, AreNotTakenFromScalesThatShowSingleCells) {
    // Three groups that overlap, and two cells that are unlike all others. The coarse scale shows only these.
    Random random(4);
    const Index n = 122;
    Matrix fine(3, n);
    Matrix coarse(3, n);
    std::vector<Index> labels;
    for (Index j = 0; j < n; ++j) {
        for (Index k = 0; k < 3; ++k) {
            fine(k, j) = std::abs(1.0 + (j % 3 == k ? 0.6 : 0.0) + 0.25 * random.normal());
            coarse(k, j) = 1.0 + 0.01 * random.uniform();
        }
        labels.push_back(j % 3);
    }
    for (const Index j : {0, 1}) {
        fine.col(j) = Vector::Unit(3, j);
        coarse.col(j) = 10.0 * Vector::Unit(3, j);
    }
    const auto embedding = [&](Index t) { return t == 0 ? fine : coarse; };
    EXPECT_EQ(assess_scales(2, embedding, {}, {}, {.clusters = 3}).recommended, 1) << "without a graph";
    const NeighborLists graph = neighbour_graph(fine, 8);
    const Assessment result = assess_scales(2, embedding, {}, {}, {.clusters = 3, .graph = &graph});
    EXPECT_EQ(result.recommended, 0);
    EXPECT_EQ(result.scores.combined[0], 1.0) << "scales left out do not count";
    EXPECT_EQ(result.scores.combined[1], 0.0);
    EXPECT_GT(adjusted_rand_index(result.clusters[0], labels), 0.3);
    for (const Resolution& found : find_resolutions(2, embedding, graph).all) {
        EXPECT_EQ(found.scale, 0) << found.clusters << " clusters";
    }
}

TEST(Resolutions, DoNotDependOnTheNumberOfThreads) {
    const AxisGroups data = groups_on_axes(4, 30, 0.2, 5);
    const NeighborLists graph = neighbour_graph(data.cells, 6);
    const auto embedding = [&](Index) { return data.cells; };
    const int before = thread_count();
    set_thread_count(1);
    const Resolutions one = find_resolutions(4, embedding, graph);
    set_thread_count(3);
    const Resolutions three = find_resolutions(4, embedding, graph);
    set_thread_count(before);
    ASSERT_EQ(one.all.size(), three.all.size());
    EXPECT_EQ(one.recommended, three.recommended);
    for (std::size_t r = 0; r < one.all.size(); ++r) {
        EXPECT_EQ(one.all[r].labels, three.all[r].labels);
        EXPECT_EQ(one.all[r].stability, three.all[r].stability);
        EXPECT_EQ(one.all[r].agreement, three.all[r].agreement);
    }
}

TEST(Resolutions, OfManyCellsAreFoundFromSomeOfThem) {
    const AxisGroups data = groups_on_axes(4, 200, 0.12, 7);
    const Resolutions found = find_resolutions(1, [&](Index) { return data.cells; },
                                               neighbour_graph(data.cells, 8), {.probed_cells = 150});
    const Resolution& recommended = found.all[static_cast<std::size_t>(found.recommended)];
    EXPECT_EQ(recommended.clusters, 4);
    EXPECT_EQ(std::ssize(recommended.labels), data.cells.cols());
    EXPECT_GT(adjusted_rand_index(recommended.labels, data.labels), 0.97);
}

TEST(Resolutions, OfVeryFewCellsAreOneCluster) {
    const AxisGroups data = groups_on_axes(2, 3, 0.1, 1);
    const Resolutions found = find_resolutions(
        1, [&](Index) { return data.cells; }, neighbour_graph(data.cells, 2));
    ASSERT_EQ(found.all.size(), 1U);
    EXPECT_EQ(found.all.front().clusters, 1);
}

TEST(Resolutions, AreOneClusterWhereNoDivisionOfTheGraphIsBetterThanNone) {
    for (const Index n : {8, 9, 13, 20, 33, 37, 60}) {
        const Matrix cells = test::uniform_cloud(4, n, 11);
        const Matrix equal = Matrix::Ones(4, n);
        const NeighborLists complete = neighbour_graph(cells, n - 1);
        for (const Matrix& H : {cells, equal}) {
            const Resolutions found = find_resolutions(
                2, [&](Index) { return H; }, complete);
            ASSERT_EQ(found.all.size(), 1U) << n;
            EXPECT_EQ(found.recommended, 0);
            EXPECT_EQ(found.all.front().clusters, 1) << n;
            EXPECT_EQ(found.all.front().labels, std::vector<Index>(static_cast<std::size_t>(n), 0));
        }
    }
}

TEST(SilhouetteTable, HasTheMeanSilhouette) {
    const AxisGroups data = groups_on_axes(3, 25, 0.4, 2);
    Random random(9);
    for (int round = 0; round < 5; ++round) {
        std::vector<Index> clusters;
        for (Index j = 0; j < data.cells.cols(); ++j) {
            clusters.push_back(random.below(2 + round));
        }
        EXPECT_NEAR(SilhouetteTable(data.cells).mean(clusters), mean_silhouette(data.cells, clusters), 1e-10);
    }
    EXPECT_EQ(SilhouetteTable(data.cells).mean(std::vector<Index>(75, 0)), -1.0);
}

} // namespace
} // namespace pnmf
