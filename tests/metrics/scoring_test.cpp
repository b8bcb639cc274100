#include "metrics/fixture.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/metrics/scoring.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

using Names = std::vector<std::string>;

TEST(Scoring, MeanAndDeviationAreThoseOfSingleRuns) {
    const Matrix H = test::fixture_points();
    std::vector<Index> labels;
    for (Index j = 0; j < H.cols(); ++j) {
        labels.push_back(j / 20);
    }
    const ScoringOptions options{.clusters = 5, .starts = 1, .seeds = 6, .first_seed = 3};
    const EmbeddingScores scores = score_embedding(H, labels, options);
    std::vector<double> ari;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::uint64_t seed = 3; seed < 9; ++seed) {
        const KMeansResult run = kmeans(H, {.clusters = 5, .starts = 1, .seed = seed});
        ari.push_back(adjusted_rand_index(labels, run.labels));
        smallest = std::min(smallest, run.inertia);
    }
    ASSERT_TRUE(scores.agreement.has_value());
    EXPECT_EQ(scores.agreement->ari.mean, mean_and_deviation(ari).mean);
    EXPECT_EQ(scores.agreement->ari.deviation, mean_and_deviation(ari).deviation);
    EXPECT_GT(scores.agreement->ari.deviation, 0.0);
    EXPECT_EQ(scores.inertia, smallest);
    EXPECT_LT(scores.seed_agreement, 1.0);
}

TEST(Scoring, DeviationOfKnownNumbersIsTheTextbooks) {
    EXPECT_DOUBLE_EQ(mean_and_deviation({2.0, 4.0, 6.0}).mean, 4.0);
    EXPECT_DOUBLE_EQ(mean_and_deviation({2.0, 4.0, 6.0}).deviation, 2.0);
    EXPECT_EQ(mean_and_deviation({3.0}).deviation, 0.0);
}

TEST(Scoring, TheBestScaleIsTheOneWhoseEmbeddingShowsTheLabels) {
    Random random(1);
    std::vector<Index> labels;
    std::vector<Matrix> scales(4, Matrix::Zero(2, 90));
    for (Index j = 0; j < 90; ++j) {
        labels.push_back(j % 3);
        for (std::size_t t = 0; t < scales.size(); ++t) {
            scales[t](0, j) = random.normal();
            scales[t](1, j) = (t == 2 ? 20.0 : 0.5) * static_cast<double>(j % 3) + random.normal();
        }
    }
    const auto scores = score_scales(4, [&](Index t) { return scales[t]; }, labels, {.seeds = 3});
    ASSERT_EQ(scores.size(), 4U);
    EXPECT_EQ(best_scale(scores), 2);
    EXPECT_EQ(scores[2].agreement->accuracy.mean, 1.0);
    EXPECT_GT(*scores[2].silhouette, 0.7);
    const auto alone = score_scales(2, [&](Index t) { return scales[t]; }, {}, {.clusters = 3, .seeds = 2});
    EXPECT_FALSE(alone[0].agreement.has_value());
    EXPECT_FALSE(best_scale(alone).has_value());
}

TEST(Scoring, WithoutLabelsTheNumberOfClustersMustBeGiven) {
    EXPECT_THROW(score_embedding(test::fixture_points(), {}, {}), InputError);
    EXPECT_THROW(score_embedding(test::fixture_points(), {0, 1}, {}), InputError);
}

TEST(Scoring, CellsWithoutLabelAreNoKindAndNotCounted) {
    const Matrix H = test::fixture_points();
    std::vector<Index> labels;
    for (Index j = 0; j < H.cols(); ++j) {
        labels.push_back(j % 10 == 0 ? unlabelled : j / 20);
    }
    const EmbeddingScores scores = score_embedding(H, labels, {.starts = 1, .seeds = 1});
    const KMeansResult run = kmeans(H, {.clusters = labels.back() + 1, .starts = 1, .seed = 0});
    EXPECT_EQ(scores.agreement->ari.mean, adjusted_rand_index(labels, run.labels));
}

TEST(Scoring, MergedLabelsAreNamedByTheirGroup) {
    const Names labels{"00h", "12h", "24h", "36h", "12h"};
    EXPECT_EQ(merge_labels(labels, "12h+36h"), (Names{"00h", "12h+36h", "24h", "12h+36h", "12h+36h"}));
    EXPECT_EQ(merge_labels(labels, "00h+12h,24h+36h"),
              (Names{"00h+12h", "00h+12h", "24h+36h", "24h+36h", "00h+12h"}));
    EXPECT_THROW(merge_labels(labels, "12h+37h"), InputError);
    EXPECT_THROW(merge_labels(labels, "12h+24h,24h+36h"), InputError);
}

TEST(Scoring, ALabelWithAPlusInItsNameCanBeMerged) {
    const Names labels{"CD34+", "CD8+ T", "B", "CD34+"};
    EXPECT_EQ(merge_labels(labels, "CD34++B"), (Names{"CD34++B", "CD8+ T", "CD34++B", "CD34++B"}));
    EXPECT_EQ(merge_labels(labels, "B+CD8+ T"), (Names{"CD34+", "B+CD8+ T", "B+CD8+ T", "CD34+"}));
    EXPECT_THROW(merge_labels({"a", "b", "a+b", "c"}, "a+b+c"), InputError);
}

} // namespace
} // namespace pnmf
