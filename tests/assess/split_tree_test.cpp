#include "assess/split_tree.hpp"

#include <pnmf/linalg/random.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

TEST(SplitTree, IsNotHeldUpByGroupsThatAreTooSmallToPass) {
    // Two far groups of 60 cells, and eight leaves of four cells of the first that the embedding puts far
    // away: these come first in the tree, and with what else comes before they are more than are tried.
    constexpr Index lone = 8;
    constexpr Index n = 120 + 4 * lone;
    Random random(3);
    SplitCells cells{.space = Matrix(5, n), .depth = {}};
    std::vector<Index> leaf;
    Matrix centres = Matrix::Zero(2 + lone, 2 + lone);
    std::vector<double> size(2, 60.0);
    for (Index j = 0; j < n; ++j) {
        for (Index k = 0; k < 5; ++k) {
            cells.space(k, j) = random.normal() + (k == 0 && j >= 60 && j < 120 ? 9.0 : 0.0);
        }
        leaf.push_back(j < 60 ? 0 : j < 120 ? 1 : 2 + (j - 120) / 4);
    }
    centres(0, 1) = 1.0;
    for (Index l = 2; l < 2 + lone; ++l) {
        centres(l, l) = 100.0;
        size.push_back(4.0);
    }
    const SplitTree tree = grow_splits(cells, leaf, centres, size);
    ASSERT_EQ(tree.cuts.size(), 2U);
    for (Index l = 0; l < 2 + lone; ++l) {
        EXPECT_EQ(tree.cuts[1][l] == tree.cuts[1][1], l == 1) << "leaf " << l;
    }
    EXPECT_LT(tree.p_value[1], 1e-6);
}

TEST(SplitTree, HasRareGroupsInItsLastCuts) {
    // Two halves, and 40 cells beside one of them that only the test for rare groups tells from it.
    constexpr Index n = 1240;
    Random random(7);
    SplitCells cells{.space = Matrix(5, n), .depth = {}};
    std::vector<Index> leaf;
    for (Index j = 0; j < n; ++j) {
        leaf.push_back(j < 600 ? 0 : j < 1200 ? 1 : 2);
        for (Index k = 0; k < 5; ++k) {
            cells.space(k, j) = random.normal() + (k == 0 && leaf.back() > 0 ? 9.0 : 0.0) +
                                (k == 1 && leaf.back() == 2 ? 5.0 : 0.0);
        }
    }
    Matrix centres = Matrix::Zero(2, 3);
    centres << 0, 9, 9, 0, 0, 5;
    const SplitTree tree = grow_splits(cells, leaf, centres, {600.0, 600.0, 40.0});
    ASSERT_EQ(tree.cuts.size(), 3U);
    EXPECT_EQ(tree.without_rare, 2);
    EXPECT_EQ(tree.cuts[1][1], tree.cuts[1][2]);
    EXPECT_NE(tree.cuts[2][1], tree.cuts[2][2]);
}

} // namespace
} // namespace pnmf
