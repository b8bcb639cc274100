#include "solvers/device.hpp"
#include "support/clouds.hpp"

#include <pnmf/metrics/clustering_scores.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

class KMeansOnCuda : public ::testing::Test {
  public:
    void SetUp() override {
        const DeviceFacts facts = facts_of(Device::cuda);
        if (!facts.found) {
            GTEST_SKIP() << (facts.built ? facts.reason : "this build has no code for CUDA devices");
        }
    }
};

Matrix clouds_around(Index centres, Index cells) {
    Matrix X = test::uniform_cloud(7, cells, 3);
    const Matrix centre = 4.0 * test::uniform_cloud(7, centres, 4);
    for (Index j = 0; j < cells; ++j) {
        X.col(j) += centre.col(j % centres);
    }
    return X;
}

TEST_F(KMeansOnCuda, FindsTheClustersOfTheCpu) {
    const Matrix X = clouds_around(6, 9001);
    for (const Index k : {1, 2, 6, 11}) {
        const KMeansOptions options{.clusters = k, .starts = 3, .seed = 5};
        const KMeansResult found = device_row(Device::cuda).kmeans(X, options);
        const KMeansResult expected = kmeans(X, options);
        EXPECT_EQ(found.labels, expected.labels) << k << " clusters";
        EXPECT_EQ(found.iterations, expected.iterations) << k << " clusters";
        EXPECT_EQ(found.converged, expected.converged);
        EXPECT_NEAR(found.inertia, expected.inertia, 1e-10 * expected.inertia);
        EXPECT_LE((found.centres - expected.centres).norm(), 1e-9 * expected.centres.norm());
        const KMeansResult again = device_row(Device::cuda).kmeans(X, options);
        EXPECT_EQ(found.labels, again.labels);
        EXPECT_EQ(found.centres, again.centres);
    }
}

TEST_F(KMeansOnCuda, FindsTheClustersOfTheCpuByExchanges) {
    const Matrix X = clouds_around(6, 21001);
    for (const Index k : {1, 4, 6, 11}) {
        const KMeansOptions options{.clusters = k, .starts = 3, .seed = 5, .exchanges = true};
        const KMeansResult found = device_row(Device::cuda).kmeans(X, options);
        const KMeansResult expected = kmeans(X, options);
        EXPECT_EQ(found.labels, expected.labels) << k << " clusters";
        EXPECT_NEAR(found.inertia, expected.inertia, 1e-10 * expected.inertia);
    }
}

TEST_F(KMeansOnCuda, LeavesSurplusClustersEmpty) {
    Matrix X(2, 30);
    for (Index j = 0; j < 30; ++j) {
        X(0, j) = static_cast<double>(j % 3);
        X(1, j) = 1.0;
    }
    const KMeansOptions options{.clusters = 5, .starts = 4};
    EXPECT_EQ(
        adjusted_rand_index(device_row(Device::cuda).kmeans(X, options).labels, kmeans(X, options).labels),
        1.0);
}

TEST_F(KMeansOnCuda, GoesToTheCpuForVeryManyClusters) {
    const Matrix X = test::uniform_cloud(60, 700, 8);
    const KMeansOptions options{.clusters = 400, .starts = 1};
    EXPECT_EQ(device_row(Device::cuda).kmeans(X, options).labels, kmeans(X, options).labels);
}

} // namespace
} // namespace pnmf
