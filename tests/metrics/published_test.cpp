#include "metrics/fixture.hpp"

#include <pnmf/io/dataset.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/metrics/scoring.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

constexpr const char* folder_name = "published_Dendritic_batch1";

/// Seeds 0 to 9, k = 4, best of 10 starts, on an embedding that was published with the method.
class PublishedEmbedding : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        const auto folder = test::shared_data(folder_name);
        if (!folder) {
            GTEST_SKIP() << test::missing_data(folder_name);
        }
        const Dataset data =
            read_dataset(*folder / (std::string(GetParam()) + ".mat"), {.cells = CellAxis::columns});
        H = std::get<Matrix>(data.X);
        labels = relabel(read_labels((*folder / "labels.csv").string() + ":x", data));
        expected = test::scores_fixture()["published"][GetParam()];
    }

    Matrix H;
    std::vector<Index> labels;
    nlohmann::json expected;
};

TEST_P(PublishedEmbedding, HasTheInertiaOfScikitLearnForEachSeed) {
    const auto inertia = expected["inertia"].get<std::vector<double>>();
    for (std::size_t seed = 0; seed < inertia.size(); ++seed) {
        EXPECT_NEAR(kmeans(H, {.clusters = 4, .seed = seed}).inertia / inertia[seed], 1.0, 1e-9)
            << "seed " << seed;
    }
}

TEST_P(PublishedEmbedding, HasTheMeanScoresOfScikitLearn) {
    const Agreement scores = *score_embedding(H, labels).agreement;
    EXPECT_NEAR(scores.ari.mean, expected["ari"].get<double>(), 1e-9);
    EXPECT_NEAR(scores.nmi.mean, expected["nmi"].get<double>(), 1e-9);
    EXPECT_NEAR(scores.purity.mean, expected["purity"].get<double>(), 1e-9);
    EXPECT_NEAR(scores.accuracy.mean, expected["accuracy"].get<double>(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Dendritic, PublishedEmbedding, testing::Values("NMF", "GNMF", "TNMF", "kTNMF"),
                         [](const auto& test) { return std::string(test.param); });

} // namespace
} // namespace pnmf
