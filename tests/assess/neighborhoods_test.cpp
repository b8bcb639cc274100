#include "support/clouds.hpp"

#include <pnmf/assess/neighborhoods.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Batches by turns; types by the first coordinate.
struct Cells {
    Matrix X;
    std::vector<Index> batch;
    std::vector<Index> type;
};

Cells cells_of(Index n, double between_batches, double between_types) {
    Cells cells{.X = test::uniform_cloud(3, n, 9), .batch = {}, .type = {}};
    for (Index j = 0; j < n; ++j) {
        cells.batch.push_back(j % 2);
        cells.type.push_back(j / 2 % 2);
        cells.X(0, j) += between_batches * static_cast<double>(j % 2);
        cells.X(1, j) += between_types * static_cast<double>(j / 2 % 2);
    }
    return cells;
}

TEST(NeighborhoodScores, AreThoseOfTheirDefinition) {
    const Cells cells = cells_of(40, 0.4, 0.7);
    const Points points(cells.X);
    const Matrix D = points.table();
    double batches = 0.0;
    double alike = 0.0;
    constexpr Index k = 7;
    for (Index i = 0; i < 40; ++i) {
        std::vector<std::pair<double, Index>> others;
        for (Index j = 0; j < 40; ++j) {
            if (j != i) {
                others.emplace_back(D(i, j), j);
            }
        }
        std::sort(others.begin(), others.end());
        double first = 0.0;
        for (Index r = 0; r < k; ++r) {
            const auto j = static_cast<std::size_t>(others[static_cast<std::size_t>(r)].second);
            first += cells.batch[j] == 0 ? 1.0 / k : 0.0;
            alike += cells.type[j] == cells.type[static_cast<std::size_t>(i)] ? 1.0 / k : 0.0;
        }
        batches += 1.0 / (first * first + (1.0 - first) * (1.0 - first));
    }
    const NeighborhoodScores scores = neighborhood_scores(points, cells.batch, cells.type, {.neighbors = k});
    EXPECT_NEAR(scores.mixing, batches / 40.0 - 1.0, 1e-12) << "two batches of one size: 1 / sum pi^2 is 2";
    EXPECT_NEAR(scores.purity, alike / 40.0, 1e-12);
}

TEST(NeighborhoodScores, AreZeroForBatchesApartAndAboutOneForBatchesTogether) {
    const Cells apart = cells_of(200, 50.0, 50.0);
    const NeighborhoodScores split = neighborhood_scores(Points(apart.X), apart.batch, apart.type);
    EXPECT_EQ(split.mixing, 0.0);
    EXPECT_EQ(split.purity, 1.0);
    const Cells together = cells_of(200, 0.0, 50.0);
    EXPECT_GT(neighborhood_scores(Points(together.X), together.batch, together.type).mixing, 0.85);
}

TEST(NeighborhoodScores, CellsWithoutLabelDoNotCount) {
    Matrix X(1, 6);
    X << 0.0, 1.0, 1.5, 10.0, 11.0, 11.5;
    const std::vector<Index> labels{0, unlabelled, 0, 1, 0, unlabelled};
    const auto scores = neighborhood_scores(Points(X), {}, labels, {.neighbors = 2});
    EXPECT_DOUBLE_EQ(scores.purity, (1.0 + 1.0 + 0.0 + 0.0) / 4.0);
    EXPECT_TRUE(std::isnan(
        neighborhood_scores(Points(X), {}, std::vector<Index>(6, unlabelled), {.neighbors = 2}).purity));
}

TEST(NeighborhoodScores, LackWhatIsNotGiven) {
    const Cells cells = cells_of(20, 0.0, 0.0);
    EXPECT_TRUE(std::isnan(neighborhood_scores(Points(cells.X), cells.batch).purity));
    EXPECT_TRUE(std::isnan(neighborhood_scores(Points(cells.X), {}, cells.type).mixing));
}

TEST(NeighborhoodScores, RefuseWhatDoesNotFit) {
    const Cells cells = cells_of(20, 0.0, 0.0);
    const Points points(cells.X);
    EXPECT_THAT(
        [&] {
            neighborhood_scores(points, {0, 1});
        },
        ThrowsMessage<InputError>(HasSubstr("20 cells")));
    EXPECT_THAT([&] { neighborhood_scores(points, std::vector<Index>(20, 0)); },
                ThrowsMessage<InputError>(HasSubstr("one batch")));
    EXPECT_THAT([&] { neighborhood_scores(points, cells.batch, {}, {.neighbors = 0}); },
                ThrowsMessage<InputError>(HasSubstr("at least 1")));
}

} // namespace
} // namespace pnmf
