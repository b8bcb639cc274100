#include "support/clouds.hpp"

#include <pnmf/assess/assess.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>

#include <gtest/gtest.h>

#include <algorithm>

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

SplitEvidence evidence_of(const Matrix& cells) {
    return {.space = [cells](Index) { return cells; },
            .depth = [n = cells.cols()](Index) { return Matrix::Zero(1, n).eval(); }};
}

TEST(Resolutions, RecommendTheNumberOfGroupsThatThereAre) {
    for (const Index groups : {3, 5, 8}) {
        const AxisGroups data = groups_on_axes(groups, 40, 0.12, 1);
        const Resolutions found = find_resolutions(
            3, [&](Index t) { return Matrix(data.cells * (1.0 - 0.2 * static_cast<double>(t))); },
            neighbour_graph(data.cells, 8), evidence_of(data.cells));
        const Resolution& recommended = found.all[static_cast<std::size_t>(found.recommended)];
        EXPECT_EQ(recommended.clusters, groups);
        EXPECT_GT(adjusted_rand_index(recommended.labels, data.labels), 0.98);
        EXPECT_GT(recommended.stability, 0.95);
        EXPECT_LT(recommended.p_value, 0.01);
    }
}

TEST(Resolutions, AreOneClusterWhereOneScaleAloneShowsADivision) {
    // Two groups that the space shows barely, and one of twelve embeddings: its p is not enough for all.
    const Index n = 120;
    int alone = 0;
    int all = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Random random(seed);
        Matrix space(4, n);
        Matrix apart(4, n);
        Matrix mixed(4, n);
        for (Index j = 0; j < n; ++j) {
            for (Index k = 0; k < 4; ++k) {
                space(k, j) = random.normal() + (k == 0 && j % 2 == 0 ? 5.0 : 0.0);
                apart(k, j) = 5.0 + 0.1 * random.normal() + (k == 0 && j % 2 == 0 ? 5.0 : 0.0);
                mixed(k, j) = 5.0 + random.normal();
            }
        }
        const auto clusters = [&](bool at_each) {
            const auto embedding = [&](Index t) { return at_each || t == 6 ? apart : mixed; };
            const Resolutions found =
                find_resolutions(12, embedding, neighbour_graph(space, 8), evidence_of(space));
            EXPECT_LT(found.recommended, std::ssize(found.all));
            return found.all.back().clusters;
        };
        alone += clusters(false) > 1 ? 1 : 0;
        all += clusters(true) > 1 ? 1 : 0;
    }
    EXPECT_GT(all, 20);
    EXPECT_LT(alone, all);
}

TEST(Resolutions, OfOnePopulationAreOneCluster) {
    int divided = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Random random(seed);
        Matrix cells(6, 150);
        for (double& value : cells.reshaped()) {
            value = 4.0 + (seed % 2 == 0 ? random.normal() : 3.0 * random.uniform());
        }
        const Resolutions found = find_resolutions(
            2, [&](Index) { return cells; }, neighbour_graph(cells, 8), evidence_of(cells));
        if (found.all.size() == 1 && found.all.front().clusters == 1) {
            EXPECT_GE(found.all.front().p_value, 0.01);
        } else {
            ++divided;
        }
    }
    EXPECT_LE(divided, 1);
}

TEST(Resolutions, RunFromFewClustersToManyAndEachRefinesTheOneBefore) {
    // Two far groups, each of three nearer ones.
    AxisGroups data = groups_on_axes(6, 30, 0.1, 3);
    Matrix cells = Matrix::Zero(8, data.cells.cols());
    cells.topRows(6) = data.cells;
    for (Index j = 0; j < cells.cols(); ++j) {
        cells(data.labels[j] < 3 ? 6 : 7, j) = 3.0;
    }
    const Resolutions found = find_resolutions(
        2, [&](Index) { return cells; }, neighbour_graph(cells, 8), evidence_of(cells));
    ASSERT_GE(found.all.size(), 2U);
    EXPECT_TRUE(found.all.front().parent.empty());
    for (std::size_t r = 1; r < found.all.size(); ++r) {
        const Resolution& fine = found.all[r];
        EXPECT_GT(fine.clusters, found.all[r - 1].clusters);
        EXPECT_EQ(fine.scale, found.all[r - 1].scale);
        EXPECT_GE(fine.p_value, found.all[r - 1].p_value);
        ASSERT_EQ(std::ssize(fine.parent), fine.clusters);
        EXPECT_TRUE(std::is_sorted(fine.parent.begin(), fine.parent.end())) << "numbers follow the tree";
        EXPECT_EQ(fine.share, std::vector<double>(fine.share.size(), 1.0));
    }
    EXPECT_EQ(found.all.back().clusters, 6);
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
}

TEST(Resolutions, OfAGivenNumberAreThoseOfTheCoarsestScaleThatIsNearlyTheBest) {
    // One cell of the coarser scale, then many, are on the side of another group.
    const AxisGroups data = groups_on_axes(3, 40, 0.15, 8);
    const auto embedding = [&](Index t) {
        Matrix cells = data.cells;
        for (Index j = 0; j < (t == 1 ? 1 : t == 2 ? 30 : 0); ++j) {
            cells.col(j) = data.cells.col(119 - j);
        }
        return cells;
    };
    const NeighborLists graph = neighbour_graph(data.cells, 8);
    const Assessment result = assess_scales(3, embedding, {}, {}, {.clusters = 3, .graph = &graph});
    EXPECT_LT(result.scores.combined[1], 1.0);
    EXPECT_LT(result.scores.combined[2], 0.95);
    EXPECT_EQ(result.recommended, 1);
    EXPECT_EQ(assess_scales(3, embedding, {}, {}, {.clusters = 3}).recommended, 0) << "without a graph";
}

TEST(Resolutions, DoNotDependOnTheNumberOfThreads) {
    const AxisGroups data = groups_on_axes(4, 30, 0.2, 5);
    const NeighborLists graph = neighbour_graph(data.cells, 6);
    const auto embedding = [&](Index) { return data.cells; };
    const int before = thread_count();
    set_thread_count(1);
    const Resolutions one = find_resolutions(4, embedding, graph, evidence_of(data.cells));
    set_thread_count(3);
    const Resolutions three = find_resolutions(4, embedding, graph, evidence_of(data.cells));
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
    const Resolutions found =
        find_resolutions(1, [&](Index) { return data.cells; }, neighbour_graph(data.cells, 8),
                         evidence_of(data.cells), {.probed_cells = 150, .tested_cells = 300});
    const Resolution& recommended = found.all[static_cast<std::size_t>(found.recommended)];
    EXPECT_EQ(recommended.clusters, 4);
    EXPECT_EQ(std::ssize(recommended.labels), data.cells.cols());
    EXPECT_GT(adjusted_rand_index(recommended.labels, data.labels), 0.97);
}

TEST(Resolutions, OfVeryFewCellsAreOneCluster) {
    const AxisGroups data = groups_on_axes(2, 3, 0.1, 1);
    const Resolutions found = find_resolutions(
        1, [&](Index) { return data.cells; }, neighbour_graph(data.cells, 2), evidence_of(data.cells));
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
                2, [&](Index) { return H; }, complete, evidence_of(H));
            ASSERT_EQ(found.all.size(), 1U) << n;
            EXPECT_EQ(found.recommended, 0);
            EXPECT_EQ(found.all.front().clusters, 1) << n;
            EXPECT_EQ(found.all.front().labels, std::vector<Index>(static_cast<std::size_t>(n), 0));
        }
    }
}

} // namespace
} // namespace pnmf
