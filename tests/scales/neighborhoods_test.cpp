#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Filtration tissue(const Matrix& places) {
    return make_filtration(Points(places), {.alpha = 2.0,
                                            .scales = {.strategy = ScaleStrategy::neighborhoods},
                                            .neighbors = std::min<Index>(64, places.cols() - 1)});
}

Index edges_at(const Filtration& found, Index t) {
    return found.graph->at(found.scales.epsilon[static_cast<std::size_t>(t)])->edges();
}

TEST(Neighborhoods, DoubleFromNoNeighbourOnInTwoAndThreeDimensions) {
    for (const Index dimensions : {2, 3}) {
        const Filtration found = tissue(test::uniform_cloud(dimensions, 900, 1));
        ASSERT_EQ(found.scales.size(), 7);
        EXPECT_EQ(edges_at(found, 0), 0);
        for (Index t = 2; t < 7; ++t) {
            const double ratio =
                static_cast<double>(edges_at(found, t)) / static_cast<double>(edges_at(found, t - 1));
            EXPECT_NEAR(ratio, 2.0, 0.25) << dimensions << " dimensions, scale " << t;
        }
    }
}

TEST(Neighborhoods, TakeWholeRingsOfAGridWhateverItsRounding) {
    constexpr Index side = 30;
    for (const double jitter : {0.0, 0.01}) {
        Matrix places = jitter * test::uniform_cloud(2, side * side, 3);
        for (Index j = 0; j < side * side; ++j) {
            places(0, j) += static_cast<double>(j / side);
            places(1, j) += static_cast<double>(j % side);
        }
        const Filtration found = tissue(places);
        ASSERT_GE(found.scales.size(), 4) << "ties leave scales";
        EXPECT_EQ(edges_at(found, 1), 2 * side * (side - 1)) << "the four beside it";
        EXPECT_EQ(edges_at(found, 2), 2 * side * (side - 1) + 2 * (side - 1) * (side - 1)) << "and four more";
    }
}

TEST(Neighborhoods, EndWhereOtherSlicesBegin) {
    Matrix places(2, 40);
    const Matrix slice = test::uniform_cloud(2, 20, 5);
    places << slice, (slice.array() + 20.0).matrix();
    const Filtration found = tissue(places);
    EXPECT_LT(found.scales.epsilon.back(), 5.0);
    EXPECT_EQ(found.scales.betti0.back() >= 2, true);
}

TEST(Neighborhoods, AreTheCanonicalScalesWhereAllCellsAreAtOnePlace) {
    EXPECT_EQ(tissue(Matrix::Ones(2, 9)).scales.size(), 1);
}

TEST(Neighborhoods, NeedNeighbours) {
    EXPECT_THAT(
        [] {
            make_filtration(Points(test::uniform_cloud(2, 9, 1)),
                            {.scales = {.strategy = ScaleStrategy::neighborhoods}});
        },
        ThrowsMessage<InputError>(HasSubstr("need a graph of nearest neighbours")));
}

} // namespace
} // namespace pnmf
