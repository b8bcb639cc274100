#include "metrics/fixture.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace pnmf {
namespace {

using Labels = std::vector<Index>;

Labels random_labels(Index cells, Index kinds, Random& random) {
    Labels labels(static_cast<std::size_t>(cells));
    for (Index& label : labels) {
        label = random.below(kinds);
    }
    return labels;
}

TEST(ClusteringScores, AgreeWithScikitLearnOnRandomAndDegenerateTables) {
    for (const auto& table : test::scores_fixture()["tables"]) {
        SCOPED_TRACE(table["name"].get<std::string>());
        const auto labels = table["labels"].get<Labels>();
        const auto clusters = table["clusters"].get<Labels>();
        EXPECT_NEAR(adjusted_rand_index(labels, clusters), table["ari"].get<double>(), 1e-12);
        EXPECT_NEAR(normalized_mutual_information(labels, clusters), table["nmi"].get<double>(), 1e-12);
        EXPECT_NEAR(adjusted_mutual_information(labels, clusters), table["ami"].get<double>(), 1e-12);
        EXPECT_NEAR(purity(labels, clusters), table["purity"].get<double>(), 1e-12);
        EXPECT_NEAR(accuracy(labels, clusters), table["accuracy"].get<double>(), 1e-12);
    }
}

TEST(ClusteringScores, DoNotChangeWhenClustersAreRenamed) {
    Random random(1);
    for (int round = 0; round < 20; ++round) {
        const Labels labels = random_labels(80, 6, random);
        const Labels clusters = random_labels(80, 5, random);
        const Labels names{-7, 400, 3, 12, 0};
        Labels renamed = clusters;
        std::transform(clusters.begin(), clusters.end(), renamed.begin(), [&](Index c) { return names[c]; });
        // Clusters are numbered by appearance, so not even the rounding differs.
        EXPECT_EQ(adjusted_rand_index(labels, renamed), adjusted_rand_index(labels, clusters));
        EXPECT_EQ(normalized_mutual_information(labels, renamed),
                  normalized_mutual_information(labels, clusters));
        EXPECT_EQ(adjusted_mutual_information(labels, renamed),
                  adjusted_mutual_information(labels, clusters));
        EXPECT_EQ(purity(labels, renamed), purity(labels, clusters));
        EXPECT_EQ(accuracy(labels, renamed), accuracy(labels, clusters));
    }
}

TEST(ClusteringScores, SymmetricScoresDoNotDependOnWhichIsTheTruth) {
    Random random(2);
    const Labels a = random_labels(60, 3, random);
    const Labels b = random_labels(60, 7, random);
    EXPECT_NEAR(adjusted_rand_index(a, b), adjusted_rand_index(b, a), 1e-15);
    EXPECT_NEAR(normalized_mutual_information(a, b), normalized_mutual_information(b, a), 1e-15);
    EXPECT_NEAR(adjusted_mutual_information(a, b), adjusted_mutual_information(b, a), 1e-15);
    EXPECT_EQ(accuracy(a, b), accuracy(b, a));
}

TEST(ClusteringScores, ScoresAdjustedForChanceAverageToZeroOnRandomLabels) {
    Random random(3);
    double rand_sum = 0.0;
    double information_sum = 0.0;
    constexpr int rounds = 2000;
    for (int round = 0; round < rounds; ++round) {
        const Labels a = random_labels(50, 4, random);
        const Labels b = random_labels(50, 4, random);
        rand_sum += adjusted_rand_index(a, b);
        information_sum += adjusted_mutual_information(a, b);
    }
    EXPECT_NEAR(rand_sum / rounds, 0.0, 0.005); // one score has a deviation of about 0.03
    EXPECT_NEAR(information_sum / rounds, 0.0, 0.005);
}

TEST(ClusteringScores, AnAssignmentIsTheBestOfAllPermutations) {
    Random random(4);
    for (int round = 0; round < 50; ++round) {
        const Index rows = 1 + random.below(4);
        const Index cols = rows + random.below(3);
        Matrix cost(rows, cols);
        for (double& value : cost.reshaped()) {
            value = static_cast<double>(random.below(10)) - 5.0; // small integers: many ties
        }
        std::vector<Index> columns(static_cast<std::size_t>(cols));
        std::iota(columns.begin(), columns.end(), Index{0});
        double best = 1e9;
        do {
            double sum = 0.0;
            for (Index i = 0; i < rows; ++i) {
                sum += cost(i, columns[i]);
            }
            best = std::min(best, sum);
        } while (std::next_permutation(columns.begin(), columns.end()));
        const std::vector<Index> match = optimal_assignment(cost);
        std::vector<bool> used(static_cast<std::size_t>(cols), false);
        double sum = 0.0;
        for (Index i = 0; i < rows; ++i) {
            EXPECT_FALSE(used[match[i]]);
            used[match[i]] = true;
            sum += cost(i, match[i]);
        }
        EXPECT_EQ(sum, best);
    }
}

TEST(ClusteringScores, NamesAreNumberedByAppearance) {
    EXPECT_EQ(relabel(std::vector<std::string>{"b", "a", "b", "c", "a"}), (Labels{0, 1, 0, 2, 1}));
    EXPECT_EQ(relabel(Labels{9, -1, 9}), (Labels{0, 1, 0}));
}

TEST(ClusteringScores, NamesThatSayNothingAreNoLabel) {
    EXPECT_EQ(relabel(std::vector<std::string>{"", "a", "NA", "nan", "b", "None"}),
              (Labels{-1, 0, -1, -1, 1, -1}));
}

TEST(ClusteringScores, CellsWithoutLabelAreLeftOut) {
    const Labels labels{0, unlabelled, 1, 0, 2, unlabelled, 1, 2};
    const Labels clusters{0, 0, 1, 1, 2, 2, 1, 0};
    const Labels known_labels{0, 1, 0, 2, 1, 2};
    const Labels known_clusters{0, 1, 1, 2, 1, 0};
    for (const auto score : {adjusted_rand_index, normalized_mutual_information, adjusted_mutual_information,
                             purity, accuracy}) {
        EXPECT_EQ(score(labels, clusters), score(known_labels, known_clusters));
    }
    EXPECT_EQ(adjusted_rand_index(clusters, labels), adjusted_rand_index(known_clusters, known_labels));
    EXPECT_THROW(purity({unlabelled, unlabelled}, {0, 1}), InputError);
}

TEST(ClusteringScores, LabellingsOfDifferentLengthAreRejected) {
    EXPECT_THROW(adjusted_rand_index({0, 1}, {0}), InputError);
    EXPECT_THROW(purity({}, {}), InputError);
}

} // namespace
} // namespace pnmf
