#include "metrics/fixture.hpp"
#include "metrics/kmeans_parts.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <set>

namespace pnmf {
namespace {

Matrix scattered_points(Index d, Index n, std::uint64_t seed) {
    Random random(seed);
    Matrix X(d, n);
    for (double& value : X.reshaped()) {
        value = random.normal();
    }
    return X;
}

TEST(KMeans, TakesTheClustersOfScikitLearnSeedBySeed) {
    const Matrix X = test::fixture_points();
    for (const auto& setting : test::scores_fixture()["kmeans"]) {
        for (const auto& run : setting["runs"]) {
            SCOPED_TRACE(setting["clusters"].dump() + " clusters, seed " + run["seed"].dump());
            const KMeansResult result = kmeans(X, {.clusters = setting["clusters"].get<Index>(),
                                                   .starts = setting["starts"].get<Index>(),
                                                   .seed = run["seed"].get<std::uint64_t>()});
            EXPECT_EQ(adjusted_rand_index(result.labels, run["labels"].get<std::vector<Index>>()), 1.0);
            EXPECT_NEAR(result.inertia, run["inertia"].get<double>(), 1e-10);
        }
    }
}

/// Of few cells, and of many, which are added up in blocks.
TEST(KMeans, EndsWhereCellsAreNearestTheirCentreAndCentresAreMeans) {
    for (const Index cells : {300, 9001}) {
        SCOPED_TRACE(cells);
        const Matrix X = scattered_points(4, cells, 1);
        const KMeansResult result = kmeans(X, {.clusters = 7, .starts = 2, .tolerance = 0.0});
        ASSERT_TRUE(result.converged);
        Matrix sums = Matrix::Zero(4, 7);
        Vector counts = Vector::Zero(7);
        double inertia = 0.0;
        for (Index j = 0; j < X.cols(); ++j) {
            const Vector squared = (result.centres.colwise() - X.col(j)).colwise().squaredNorm().transpose();
            EXPECT_LE(squared(result.labels[j]), squared.minCoeff() + 1e-12);
            inertia += squared(result.labels[j]);
            sums.col(result.labels[j]) += X.col(j);
            counts(result.labels[j]) += 1.0;
        }
        EXPECT_TRUE(
            (sums.array().rowwise() / counts.transpose().array()).matrix().isApprox(result.centres, 1e-12));
        EXPECT_NEAR(result.inertia, inertia, 1e-12 * static_cast<double>(cells) * inertia);
    }
}

TEST(KMeans, MoreStartsNeverGiveALargerInertia) {
    const Matrix X = scattered_points(3, 150, 2);
    double previous = std::numeric_limits<double>::infinity();
    for (const Index starts : {1, 2, 5, 10, 20}) {
        const double inertia = kmeans(X, {.clusters = 8, .starts = starts, .seed = 5}).inertia;
        EXPECT_LE(inertia, previous);
        previous = inertia;
    }
}

TEST(KMeans, OneClusterIsTheMeanHoweverManyStarts) {
    const Matrix X = scattered_points(3, 50, 4);
    for (const Index starts : {1, 10}) {
        const KMeansResult result = kmeans(X, {.clusters = 1, .starts = starts, .seed = 1});
        EXPECT_EQ(result.labels, std::vector<Index>(50, 0));
        EXPECT_LT((result.centres.col(0) - X.rowwise().mean()).norm(), 1e-14);
        EXPECT_NEAR(result.inertia, (X.colwise() - X.rowwise().mean()).squaredNorm(), 1e-12);
    }
}

TEST(KMeans, FindsAllGroupsThatAreFarApart) {
    Matrix X = scattered_points(2, 200, 3) * 0.01;
    std::vector<Index> truth(200);
    for (Index j = 0; j < 200; ++j) {
        truth[j] = j % 5;
        X(0, j) += static_cast<double>(j % 5);
    }
    EXPECT_EQ(adjusted_rand_index(truth, kmeans(X, {.clusters = 5}).labels), 1.0);
}

TEST(KMeans, EqualCellsAreNeverSplitAndSurplusClustersStayEmpty) {
    Matrix X(2, 12);
    for (Index j = 0; j < 12; ++j) {
        X.col(j) << static_cast<double>(j % 3), 1.0;
    }
    const KMeansResult result = kmeans(X, {.clusters = 6});
    EXPECT_EQ(result.inertia, 0.0);
    EXPECT_EQ(std::set<Index>(result.labels.begin(), result.labels.end()).size(), 3U);
    for (Index j = 3; j < 12; ++j) {
        EXPECT_EQ(result.labels[j], result.labels[j % 3]);
    }
}

TEST(KMeans, NoClusterStaysEmptyWhileCellsAreDistinct) {
    // A grid with heavy repetition: seedings that put two centres on one pile empty a cluster often.
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Random random(seed);
        Matrix X(1, 40);
        for (Index j = 0; j < 40; ++j) {
            X(0, j) = std::floor(std::pow(10.0, 3.0 * random.uniform()));
        }
        const std::set<double> distinct(X.data(), X.data() + X.size());
        const auto k = static_cast<Index>(distinct.size());
        const KMeansResult result = kmeans(X, {.clusters = k, .starts = 1, .seed = seed});
        EXPECT_EQ(std::set<Index>(result.labels.begin(), result.labels.end()).size(), distinct.size());
    }
}

TEST(KMeans, TheNumberOfThreadsChangesNothing) {
    const Matrix X = scattered_points(5, 6000, 4);
    const int before = thread_count();
    for (const Index starts : {1, 4}) {
        set_thread_count(1);
        const KMeansResult one = kmeans(X, {.clusters = 6, .starts = starts, .seed = 9});
        set_thread_count(4);
        const KMeansResult four = kmeans(X, {.clusters = 6, .starts = starts, .seed = 9});
        EXPECT_EQ(one.labels, four.labels);
        EXPECT_EQ(one.centres, four.centres);
        EXPECT_EQ(one.inertia, four.inertia);
    }
    set_thread_count(before);
}

TEST(NearestOfEach, IsTheNearestOfOneSetAfterTheOther) {
    const Matrix X = scattered_points(3, 2500, 6);
    const std::vector<Matrix> centres{X.leftCols(4), Matrix(), X.middleCols(100, 19), X.rightCols(1)};
    const auto labels = nearest_of_each(X, centres);
    ASSERT_EQ(labels.size(), centres.size());
    EXPECT_TRUE(labels[1].empty());
    for (const std::size_t i : {0, 2, 3}) {
        EXPECT_EQ(std::vector<Index>(labels[i].begin(), labels[i].end()), nearest_centres(X, centres[i]));
    }
}

TEST(KMeans, OptionsAndValuesThatCannotBeAreRejected) {
    const Matrix X = scattered_points(2, 5, 5);
    EXPECT_THROW(kmeans(X, {.clusters = 0}), InputError);
    EXPECT_THROW(kmeans(X, {.clusters = 6}), InputError);
    EXPECT_THROW(kmeans(X, {.clusters = 2, .starts = 0}), InputError);
    Matrix bad = X;
    bad(1, 3) = NAN;
    EXPECT_THROW(kmeans(bad, {.clusters = 2}), InputError);
}

/// Groups of cells around points of a grid, some of them far apart.
Matrix groups_on_a_grid(Index side, Index cells, double noise, std::uint64_t seed) {
    Matrix X = scattered_points(2, cells, seed) * noise;
    for (Index j = 0; j < cells; ++j) {
        X(0, j) += static_cast<double>(j % side);
        X(1, j) += static_cast<double>(j / side % side);
    }
    return X;
}

TEST(KMeansByExchanges, OneStartIsAsGoodAsTenWithout) {
    double one = 0.0;
    double ten = 0.0;
    double exchanged = 0.0;
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
        const Matrix X = groups_on_a_grid(5, 1000, 0.25, seed);
        one += kmeans(X, {.clusters = 25, .starts = 1, .seed = seed}).inertia;
        ten += kmeans(X, {.clusters = 25, .starts = 10, .seed = seed}).inertia;
        exchanged += kmeans(X, {.clusters = 25, .starts = 1, .seed = seed, .exchanges = true}).inertia;
    }
    EXPECT_LE(exchanged, 1.001 * ten);
    EXPECT_GT(one, 1.01 * ten);
}

TEST(KMeansByExchanges, IsNeverWorseThanItsStarts) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
        const Matrix X = scattered_points(5, 400, seed);
        for (const Index k : {2, 7, 19}) {
            KMeansOptions options{.clusters = k, .starts = 1, .seed = seed};
            const double plain = kmeans(X, options).inertia;
            options.exchanges = true;
            EXPECT_LE(kmeans(X, options).inertia, plain * (1.0 + 1e-12)) << k << " clusters";
        }
    }
}

TEST(KMeansByExchanges, StaysTheSameWhenCellsMoveALittle) {
    Index changed = 0;
    for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const Matrix X = groups_on_a_grid(3, 900, 0.3, seed);
        const Matrix moved = X + 0.003 * scattered_points(2, 900, seed + 100);
        KMeansOptions options{.clusters = 9, .starts = 1, .seed = seed};
        changed += adjusted_rand_index(kmeans(X, options).labels, kmeans(moved, options).labels) < 0.9;
        options.exchanges = true;
        EXPECT_GT(adjusted_rand_index(kmeans(X, options).labels, kmeans(moved, options).labels), 0.9) << seed;
    }
    EXPECT_GT(changed, 0); // without exchanges
}

TEST(KMeansByExchanges, OfManyCellsEndsWhereEachIsNearestItsCentre) {
    const Matrix X = groups_on_a_grid(4, 10500, 0.2, 9); // more than starts and exchanges look at
    const KMeansResult found =
        kmeans(X, {.clusters = 16, .starts = 2, .tolerance = 0.0, .seed = 3, .exchanges = true});
    ASSERT_TRUE(found.converged);
    EXPECT_EQ(found.labels, nearest_centres(X, found.centres));
    Matrix sums = Matrix::Zero(2, 16);
    Vector counts = Vector::Zero(16);
    for (Index j = 0; j < X.cols(); ++j) {
        sums.col(found.labels[j]) += X.col(j);
        counts[found.labels[j]] += 1.0;
    }
    EXPECT_TRUE(
        (sums.array().rowwise() / counts.transpose().array()).matrix().isApprox(found.centres, 1e-12));
}

TEST(KMeansByExchanges, TakesEqualCellsAndOneCluster) {
    Matrix X(2, 30);
    for (Index j = 0; j < 30; ++j) {
        X(0, j) = static_cast<double>(j % 3);
        X(1, j) = 1.0;
    }
    for (const Index k : {1, 2, 3, 5, 30}) {
        KMeansOptions options{.clusters = k, .starts = 2};
        const KMeansResult plain = kmeans(X, options);
        options.exchanges = true;
        EXPECT_NEAR(kmeans(X, options).inertia, plain.inertia, 1e-12) << k;
    }
    const Matrix same = Matrix::Ones(3, 12);
    EXPECT_EQ(kmeans(same, {.clusters = 4, .starts = 2, .exchanges = true}).inertia, 0.0);
}

TEST(KMeansByExchanges, DoesNotDependOnTheNumberOfThreads) {
    const Matrix X = groups_on_a_grid(3, 5000, 0.3, 4);
    const KMeansOptions options{.clusters = 7, .starts = 3, .seed = 2, .exchanges = true};
    const int before = thread_count();
    set_thread_count(1);
    const KMeansResult one = kmeans(X, options);
    set_thread_count(4);
    const KMeansResult four = kmeans(X, options);
    set_thread_count(before);
    EXPECT_EQ(one.labels, four.labels);
    EXPECT_EQ(one.centres, four.centres);
}

} // namespace
} // namespace pnmf
