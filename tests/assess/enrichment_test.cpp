#include <pnmf/assess/programs.hpp>

#include <pnmf/error.hpp>

#include <gmock/gmock.h>

#include <bit>
#include <cmath>

namespace pnmf {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

/// The slow twin: all ways to draw, counted. `all` up to 20.
double tail_by_counting(Index found, Index all, Index marked, Index drawn) {
    double ways = 0.0;
    double hits = 0.0;
    for (unsigned set = 0; set < (1U << static_cast<unsigned>(all)); ++set) {
        if (std::popcount(set) == drawn) {
            ways += 1.0;
            hits += std::popcount(set & ((1U << static_cast<unsigned>(marked)) - 1U)) >= found ? 1.0 : 0.0;
        }
    }
    return hits / ways;
}

TEST(HypergeometricTail, IsTheShareOfAllWaysToDraw) {
    for (const Index marked : {0, 1, 4, 9, 12}) {
        for (const Index drawn : {0, 1, 5, 10, 12}) {
            for (Index found = 0; found <= 12; ++found) {
                EXPECT_NEAR(hypergeometric_tail(found, 12, marked, drawn),
                            tail_by_counting(found, 12, marked, drawn), 1e-12)
                    << found << " of " << marked << " in " << drawn;
            }
        }
    }
    EXPECT_THROW(hypergeometric_tail(1, 10, 11, 3), InputError);
}

TEST(AdjustedPValues, FollowTheDefinitionAndKeepTheOrder) {
    // In ascending order 0.01·5/1, 0.03·5/2, 0.04·5/3, 0.5·5/4, 0.9·5/5, each at most those behind it.
    EXPECT_THAT(adjusted_p_values({0.01, 0.04, 0.03, 0.9, 0.5}),
                Pointwise(DoubleNear(1e-12), {0.05, 0.2 / 3.0, 0.2 / 3.0, 0.9, 0.625}));
    EXPECT_TRUE(adjusted_p_values({}).empty());
}

TEST(EnrichedSets, FindTheSetThatWasPutIn) {
    // Program 0 is led by genes 0 … 9, program 1 by genes 50 … 59; scores below are not positive.
    DenseMatrix<float> scores = DenseMatrix<float>::Constant(100, 2, -1.0F);
    for (Index i = 0; i < 10; ++i) {
        scores(i, 0) = static_cast<float>(20 - i);
        scores(50 + i, 1) = static_cast<float>(20 - i);
    }
    const std::vector<std::vector<Index>> sets{
        {6, 0, 3, 4, 5, 2}, {10, 20, 30, 40, 50, 60}, {0, 1}, {90, 91, 92, 93, 94}};
    const std::vector<Enrichment> found = enriched_sets(scores, sets, {.best = 30, .smallest_set = 5});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].program, 0);
    EXPECT_EQ(found[0].set, 0);
    EXPECT_THAT(found[0].genes, ElementsAre(0, 2, 3, 4, 5, 6));
    EXPECT_DOUBLE_EQ(found[0].p_value, hypergeometric_tail(6, 100, 6, 10)); // 10 are positive
    EXPECT_NEAR(found[0].adjusted, 6.0 * found[0].p_value, 1e-15);          // 3 sets, 2 programs
    EXPECT_EQ(found[1].program, 1);
    EXPECT_EQ(found[1].set, 1);
    EXPECT_DOUBLE_EQ(found[1].p_value, hypergeometric_tail(1, 100, 6, 10));
}

} // namespace
} // namespace pnmf
