#include "assess/cut_stability.hpp"

#include <pnmf/linalg/random.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

/// Two far groups of 60 cells; a third leaf halves the second of them at random, by the number of the cell.
struct TwoGroups {
    SplitCells cells;
    std::vector<Index> leaf;
    SplitTree tree{.cuts = {{0, 0, 0}, {0, 1, 1}, {0, 1, 2}}, .p_value = {0.0, 0.001, 0.04}};

    TwoGroups() {
        Random random(3);
        cells.space = Matrix(4, 120);
        for (Index j = 0; j < 120; ++j) {
            for (Index k = 0; k < 4; ++k) {
                cells.space(k, j) = 5.0 + (k == 0 && j >= 60 ? 8.0 : 0.0) + 0.5 * random.normal();
            }
            leaf.push_back(j < 60 ? 0 : 1 + j % 2);
        }
    }
};

TEST(CutStability, IsOneForGroupsThatAreFoundAgain) {
    const TwoGroups data;
    const std::vector<double> found = cut_stability(data.cells, data.cells.space, data.tree, data.leaf, 8, 5);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0], 1.0) << "one cluster";
    EXPECT_EQ(found[1], 1.0);
}

TEST(CutStability, IsThatOfTheCutItselfAndNotOfAnyClusteringWithAsManyClusters) {
    // Cells of the second group are dealt out by their number: nothing in the embedding says so. Of what is
    // found again, two groups, the ARI with the cut is that of whole groups with halved ones.
    const TwoGroups data;
    const std::vector<double> found = cut_stability(data.cells, data.cells.space, data.tree, data.leaf, 8, 5);
    EXPECT_GT(found[2], 0.5);
    EXPECT_LT(found[2], 0.8);
}

TEST(CutStability, IsNoughtForADivisionThatTheTestsDoNotFind) {
    TwoGroups data;
    Random random(5);
    for (double& value : data.cells.space.reshaped()) {
        value = 5.0 + random.normal();
    }
    const std::vector<double> found = cut_stability(data.cells, data.cells.space, data.tree, data.leaf, 8, 5);
    EXPECT_NEAR(found[1], 0.0, 0.05);
}

} // namespace
} // namespace pnmf
