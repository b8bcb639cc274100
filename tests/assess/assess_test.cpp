#include <pnmf/assess/assess.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

/// n cells in three groups; `noise[t]` is how blurred they are at scale t.
struct Groups {
    std::vector<Matrix> H;
    std::vector<Index> labels;

    std::function<Matrix(Index)> embedding() const {
        return [this](Index t) { return H[static_cast<std::size_t>(t)]; };
    }
    Assessment assess(const AssessOptions& options = {}) const {
        return assess_scales(std::ssize(H), embedding(), {}, {}, options);
    }
};

Groups groups(Index n, const std::vector<double>& noise) {
    Groups result;
    Random random(1);
    for (const double blur : noise) {
        Matrix H(3, n);
        for (Index j = 0; j < n; ++j) {
            for (Index k = 0; k < 3; ++k) {
                H(k, j) = (j % 3 == k ? 5.0 : 0.0) + blur * random.normal();
            }
        }
        result.H.push_back(H);
    }
    for (Index j = 0; j < n; ++j) {
        result.labels.push_back(j % 3);
    }
    return result;
}

TEST(Assess, FindsThreeClearGroupsAndAScaleThatShowsThem) {
    const Groups data = groups(90, {0.3, 0.3, 0.3, 0.3, 0.3, 9.0, 9.0});
    const Assessment result = data.assess();
    EXPECT_EQ(result.cluster_count, 3);
    EXPECT_EQ(result.recommended, 4);
    EXPECT_EQ(adjusted_rand_index(data.labels, result.clusters[result.recommended]), 1.0);
    EXPECT_FALSE(result.notices.empty());
}

TEST(Assess, RecommendsTheCoarsestOfTheScalesWhoseClustersFitTheFinestEmbeddingBest) {
    // The groups are clear up to scale 3; later embeddings are clearer still, but show other groups.
    Groups data = groups(60, {0.5, 0.5, 0.5, 0.5, 0.1, 0.1});
    for (const std::size_t t : {std::size_t{4}, std::size_t{5}}) {
        const Matrix H = data.H[t];
        for (Index j = 0; j < 60; ++j) {
            data.H[t].col(j) = H.col(j / 20);
        }
    }
    const Assessment result = data.assess({.clusters = 3});
    EXPECT_EQ(result.recommended, 3);
    EXPECT_EQ(result.scores.combined[3], 1.0);
    EXPECT_LT(result.scores.combined[5], 0.5);
    EXPECT_GT(result.scores.silhouette[5], result.scores.silhouette[3]);
    EXPECT_TRUE(result.notices.empty());
}

TEST(Assess, FitToTheFinestEmbeddingDoesNotDependOnHowLongCellsAre) {
    Groups data = groups(60, {0.5, 0.5});
    for (Index j = 0; j < 60; ++j) {
        data.H[0].col(j) *= j % 2 == 0 ? 0.1 : 10.0; // k-means sees short and long cells first
    }
    const Assessment result = data.assess({.clusters = 3});
    EXPECT_LT(adjusted_rand_index(data.labels, result.clusters[0]), 0.9);
    EXPECT_EQ(adjusted_rand_index(data.labels, result.clusters[1]), 1.0);
    EXPECT_EQ(result.recommended, 1);
}

TEST(Assess, NeverRecommendsAScaleThatHasCollapsedToALine) {
    Groups data = groups(60, {0.3, 0.3});
    Matrix line = 0.01 * data.H[1]; // the same groups, hardly off a common direction
    line.colwise() += Vector::Constant(3, 5.0);
    data.H.push_back(line);
    const Assessment result = data.assess({.clusters = 3});
    EXPECT_EQ(adjusted_rand_index(data.labels, result.clusters[2]), 1.0);
    EXPECT_EQ(result.scores.combined[2], 0.0);
    EXPECT_EQ(result.recommended, 1);
}

TEST(Assess, OfOneClusterRecommendsTheCoarsestScaleThatHasNotCollapsed) {
    Groups data = groups(60, {0.3, 0.3, 0.3});
    data.H.push_back(Matrix::Ones(3, 60));
    data.H.push_back(Matrix::Ones(3, 60));
    const Assessment result = data.assess({.clusters = 1});
    EXPECT_EQ(result.recommended, 2);
    EXPECT_EQ(data.assess({.clusters = 1, .probed_scales = 3}).recommended, 2);
    EXPECT_EQ(result.clusters[2], std::vector<Index>(60, 0));
}

TEST(Assess, GivesCostlyScoresToTheProbedScalesOnly) {
    const Groups data = groups(60, std::vector<double>(9, 1.0));
    const Assessment result = assess_scales(9, data.embedding(), {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 5, 9},
                                            {.clusters = 3, .probed_scales = 3});
    for (Index t = 0; t < 9; ++t) {
        const bool probed = t % 4 == 0;
        EXPECT_EQ(std::isnan(result.scores.silhouette[t]), !probed) << t;
        EXPECT_EQ(std::isnan(result.scores.resampling[t]), !probed) << t;
        EXPECT_EQ(std::isnan(result.scores.combined[t]), !probed) << t;
        EXPECT_FALSE(std::isnan(result.scores.stability[t])) << t;
        EXPECT_FALSE(std::isnan(result.scores.gap_prominence[t])) << t;
        EXPECT_EQ(result.clusters[t].size(), 60U);
    }
    EXPECT_EQ(result.recommended % 4, 0);
}

TEST(Assess, IsTheSameForAnyNumberOfThreads) {
    const Groups data = groups(50, {2.0, 1.0, 0.5});
    const int before = thread_count();
    set_thread_count(1);
    const Assessment one = data.assess();
    set_thread_count(4);
    const Assessment four = data.assess();
    set_thread_count(before);
    EXPECT_EQ(one.clusters, four.clusters);
    EXPECT_EQ(one.scores.combined, four.scores.combined);
    EXPECT_EQ(one.recommended, four.recommended);
}

TEST(Assess, WorksOnManyScalesAtOnceAsOnEachAlone) {
    std::vector<double> noise(113);
    for (std::size_t t = 0; t < noise.size(); ++t) {
        noise[t] = 0.2 + 0.02 * static_cast<double>(t);
    }
    const Groups data = groups(40, noise);
    const AssessOptions options{.clusters = 3, .probed_scales = 8};
    const Assessment together = data.assess(options);
    ASSERT_EQ(together.clusters.size(), noise.size());
    for (std::size_t t = 0; t < noise.size(); ++t) {
        EXPECT_EQ(together.clusters[t],
                  kmeans(data.H[t], {.clusters = 3, .starts = 1, .exchanges = true}).labels)
            << t;
        if (!std::isnan(together.scores.silhouette[t])) {
            EXPECT_EQ(together.scores.silhouette[t], mean_silhouette(data.H[t], together.clusters[t])) << t;
        }
    }
    EXPECT_EQ(std::count_if(together.scores.silhouette.begin(), together.scores.silhouette.end(),
                            [](double value) { return !std::isnan(value); }),
              8);
}

TEST(Assess, GivesTheClustersOfExchangesWithinItsBuffer) {
    Groups data = groups(20001, {3.0, 2.5, 2.0});
    const std::uint64_t seed = 4;
    const auto clusters_with = [&](bool exchanges) {
        return kmeans(data.H[0], {.clusters = 9, .starts = 3, .seed = seed, .exchanges = exchanges}).labels;
    };
    ASSERT_NE(clusters_with(true), clusters_with(false)); // noise in nine parts
    for (const double buffer : {2e9, 0.0}) {              // all scales at once, and one after the other
        const Assessment result =
            data.assess({.clusters = 9, .probed_cells = 100, .seed = seed, .memory = buffer});
        EXPECT_EQ(result.clusters[0], clusters_with(true));
        EXPECT_EQ(result.clusters.size(), 3U);
    }
}

TEST(Assess, HasADefinedAnswerForFewCellsAndASingleScale) {
    for (const Index n : {1, 2, 3, 4, 5}) {
        const Assessment result = groups(n, {1.0}).assess();
        EXPECT_EQ(result.recommended, 0) << n;
        EXPECT_GE(result.cluster_count, 1) << n;
        EXPECT_TRUE(std::isnan(result.scores.stability[0])) << n;
        EXPECT_TRUE(std::isnan(result.scores.gap_prominence[0])) << n;
    }
    Groups equal = groups(20, {1.0, 1.0});
    equal.H.assign(2, Matrix::Ones(3, 20));
    EXPECT_EQ(equal.assess().clusters.size(), 2U);
}

TEST(Assess, RejectsWhatCannotBe) {
    const Groups data = groups(10, {1.0, 1.0});
    EXPECT_THROW(data.assess({.clusters = 11}), InputError);
    EXPECT_THROW(data.assess({.clusters = 0}), InputError);
    EXPECT_THROW(data.assess({.most_clusters = 1}), InputError);
    EXPECT_THROW(data.assess({.probed_scales = 1}), InputError);
    EXPECT_THROW(assess_scales(2, data.embedding(), {1.0}, {}), InputError);
}

} // namespace
} // namespace pnmf
