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

} // namespace
} // namespace pnmf
