#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

using Labels = std::vector<Index>;

TEST(LabelFree, ProminenceIsTheLengthOfTheIntervalInWhichComponentsStay) {
    const std::vector<double> deaths{1.0, 2.0, 2.0, 6.0, 10.0};
    EXPECT_EQ(gap_prominence({0.5, 1.0, 1.5, 2.0, 3.0, 6.0, 10.0, 10.5}, deaths),
              (std::vector<double>{0.1, 0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.0}));
    EXPECT_EQ(gap_prominence({1.0}, {}), (std::vector<double>{0.0}));
    EXPECT_THROW(gap_prominence({1.0}, {2.0, 1.0}), InputError);
}

TEST(LabelFree, ProminencesOfTheCanonicalScalesSumToOne) {
    Random random(1);
    std::vector<double> deaths;
    for (int i = 0; i < 30; ++i) {
        deaths.push_back(random.uniform());
    }
    std::sort(deaths.begin(), deaths.end());
    const std::vector<double> prominence = gap_prominence(deaths, deaths);
    double sum = 0.0;
    for (const double value : prominence) {
        sum += value;
    }
    EXPECT_NEAR(sum, 1.0, 1e-14);
}

TEST(LabelFree, StabilityIsTheMeanAgreementWithTheScalesAround) {
    const std::vector<Labels> clusters{
        {0, 0, 1, 1, 2, 2}, {1, 1, 0, 0, 2, 2}, {0, 0, 0, 1, 1, 1}, {0, 1, 0, 1, 0, 1}};
    const auto ari = [&](Index a, Index b) { return adjusted_rand_index(clusters[a], clusters[b]); };
    const std::vector<double> near = neighbor_stability(clusters, 1);
    EXPECT_EQ(near[0], 1.0);
    EXPECT_DOUBLE_EQ(near[1], (1.0 + ari(1, 2)) / 2.0);
    EXPECT_DOUBLE_EQ(near[3], ari(2, 3));
    const std::vector<double> wide = neighbor_stability(clusters, 2);
    EXPECT_DOUBLE_EQ(wide[1], (ari(0, 1) + ari(1, 2) + ari(1, 3)) / 3.0);
    EXPECT_EQ(neighbor_stability({{0, 1}}, 3), (std::vector<double>{1.0}));
    EXPECT_THROW(neighbor_stability(clusters, 0), InputError);
}

TEST(LabelFree, ResamplingKeepsGroupsThatAreThereAndNotThoseThatAreNot) {
    Random random(2);
    Matrix groups(2, 90);
    Matrix noise(2, 90);
    for (Index j = 0; j < 90; ++j) {
        groups.col(j) << 10.0 * static_cast<double>(j % 3) + random.normal(), random.normal();
        noise.col(j) << random.normal(), random.normal();
    }
    const ResamplingOptions options{.clusters = 3, .seed = 1};
    EXPECT_EQ(resampling_stability(groups, options), 1.0);
    EXPECT_LT(resampling_stability(noise, options), 0.9);
    EXPECT_EQ(resampling_stability(noise, {.clusters = 3, .fraction = 1.0}), 1.0);
    EXPECT_THROW(resampling_stability(noise, {.clusters = 3, .fraction = 0.01}), InputError);
    EXPECT_THROW(resampling_stability(noise, {.clusters = 3, .fraction = 1.5}), InputError);
}

} // namespace
} // namespace pnmf
