#include "linalg/effective_rank.hpp"

#include <pnmf/linalg/random.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

TEST(EffectiveRank, IsOneOfALineAndDOfEqualOrthogonalRows) {
    const Vector direction = Vector::LinSpaced(3, 1.0, 2.0);
    const Vector length = Vector::LinSpaced(7, 0.5, 4.0);
    EXPECT_NEAR(effective_rank(Matrix(direction * length.transpose())), 1.0, 1e-9);
    Matrix apart = Matrix::Zero(3, 9);
    apart.block(0, 0, 1, 3).setConstant(2.0);
    apart.block(1, 3, 1, 3).setConstant(2.0);
    apart.block(2, 6, 1, 3).setConstant(2.0);
    EXPECT_NEAR(effective_rank(apart), 3.0, 1e-12);
    EXPECT_NEAR(effective_rank(Matrix(apart.transpose())), 3.0, 1e-12);
    EXPECT_NEAR(effective_rank(DenseMatrix<float>(apart.cast<float>())), 3.0, 1e-6);
}

TEST(EffectiveRank, OfManyCellsIsThatOfOneProduct) {
    Random random(3);
    Matrix H(6, 9001);
    for (double& value : H.reshaped()) {
        value = random.uniform();
    }
    // The transpose is not taken in blocks.
    EXPECT_NEAR(effective_rank(H), effective_rank(Matrix(H.transpose())), 1e-12);
    EXPECT_NEAR(effective_rank(DenseMatrix<float>(H.cast<float>())), effective_rank(H), 1e-6);
}

TEST(EffectiveRank, OfNothingIsZero) {
    EXPECT_EQ(effective_rank(Matrix(Matrix::Zero(3, 5))), 0.0);
    EXPECT_EQ(effective_rank(Matrix(3, 0)), 0.0);
}

} // namespace
} // namespace pnmf
