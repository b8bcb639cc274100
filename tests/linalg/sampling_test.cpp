#include <pnmf/linalg/random.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace pnmf {
namespace {

using testing::ElementsAre;

TEST(EvenlySpaced, IsTheFormulaWithBothEnds) {
    for (Index size = 1; size < 40; ++size) {
        for (Index count = 2; count <= size; ++count) {
            for (const Rounding rounding : {Rounding::nearest, Rounding::down}) {
                const std::vector<Index> positions = evenly_spaced(count, size, rounding);
                ASSERT_EQ(static_cast<Index>(positions.size()), count);
                EXPECT_EQ(positions.front(), 0);
                EXPECT_EQ(positions.back(), size - 1);
                for (Index k = 0; k < count; ++k) {
                    const double half = rounding == Rounding::nearest ? 0.5 : 0.0;
                    const double place = static_cast<double>(k * (size - 1)) / static_cast<double>(count - 1);
                    EXPECT_EQ(positions[k], static_cast<Index>(std::floor(place + half + 1e-9)));
                }
            }
        }
    }
}

TEST(EvenlySpaced, IsEverythingWhenThereIsBufferAndTheFirstWhenThereIsBufferForOne) {
    EXPECT_THAT(evenly_spaced(9, 4), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(evenly_spaced(9, 4, Rounding::down), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(evenly_spaced(1, 4), ElementsAre(0));
    EXPECT_THAT(evenly_spaced(3, 1), ElementsAre(0));
    EXPECT_THAT(evenly_spaced(2, 0), ElementsAre());
}

TEST(RandomSample, HasDifferentNumbersAndTheSubsetIsTheSameInOrder) {
    for (const Index n : {1, 7, 50}) {
        for (Index count = 0; count <= n; count += std::max<Index>(1, n / 3)) {
            std::vector<Index> drawn = random_sample(n, count, Random(3));
            EXPECT_EQ(std::set<Index>(drawn.begin(), drawn.end()).size(), drawn.size());
            EXPECT_EQ(static_cast<Index>(drawn.size()), count);
            for (const Index number : drawn) {
                EXPECT_TRUE(number >= 0 && number < n);
            }
            std::sort(drawn.begin(), drawn.end());
            EXPECT_EQ(drawn, random_subset(n, count, Random(3)));
        }
    }
}

TEST(RandomSample, ReachesEveryNumberAndDependsOnTheSeed) {
    std::set<Index> first;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        first.insert(random_sample(10, 1, Random(seed)).front());
    }
    EXPECT_EQ(first.size(), 10U);
    EXPECT_NE(random_sample(100, 20, Random(1)), random_sample(100, 20, Random(2)));
}

TEST(Shuffle, KeepsTheValuesAndReachesEveryOrder) {
    std::set<std::vector<Index>> orders;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        std::vector<Index> values{4, 5, 6};
        shuffle(values, Random(seed));
        orders.insert(values);
        std::sort(values.begin(), values.end());
        EXPECT_THAT(values, ElementsAre(4, 5, 6));
    }
    EXPECT_EQ(orders.size(), 6U);
}

} // namespace
} // namespace pnmf
