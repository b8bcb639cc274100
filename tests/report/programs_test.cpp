#include "report/programs.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace pnmf::report {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

Matrix basis(Index t) {
    std::mt19937 random(static_cast<unsigned>(100 + t));
    std::uniform_real_distribution<double> share;
    return Matrix::NullaryExpr(50, 4, [&] { return share(random); });
}

Matrix scores(Index t) {
    return basis(1000 + t);
}

TEST(Evenly, KeepsTheEndsAndTheScaleThatMatters) {
    const std::vector<Index> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    EXPECT_EQ(evenly(all, 10, 3), all);
    EXPECT_EQ(evenly(all, 20, 3), all);
    EXPECT_THAT(evenly(all, 1, 7), ElementsAre(7));
    for (Index count = 3; count < 10; ++count) {
        for (const Index kept : all) {
            const std::vector<Index> chosen = evenly(all, count, kept);
            EXPECT_EQ(std::ssize(chosen), count);
            EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
            EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end());
            EXPECT_EQ(chosen.front(), 0);
            EXPECT_EQ(chosen.back(), 9);
            EXPECT_THAT(chosen, Contains(kept));
        }
    }
}

TEST(GenePrograms, ListTheLargestScoresWeightsAndLeads) {
    const Programs programs = gene_programs(basis, scores, {0, 1, 2}, 1, 1'000'000);
    ASSERT_EQ(programs.top, 12);
    EXPECT_THAT(programs.scales, ElementsAre(0, 1, 2));
    for (Index i = 0; i < 3; ++i) {
        const Matrix W = basis(i);
        for (Index k = 0; k < 4; ++k) {
            std::vector<double> leads;
            for (Index g = 0; g < 50; ++g) {
                double other = 0.0;
                for (Index c = 0; c < 4; ++c) {
                    other = c == k ? other : std::max(other, W(g, c));
                }
                leads.push_back(W(g, k) - other);
            }
            std::vector<double> weights(W.col(k).begin(), W.col(k).end());
            const Matrix S = scores(i);
            std::vector<double> scored(S.col(k).begin(), S.col(k).end());
            for (Index place = 0; place < 12; ++place) {
                const auto at = static_cast<std::size_t>((i * 4 + k) * 12 + place);
                const auto listed = [&](const std::vector<std::int32_t>& list) {
                    return static_cast<std::size_t>(programs.genes[static_cast<std::size_t>(list[at])]);
                };
                const auto larger = [&](const std::vector<double>& scores, std::size_t gene) {
                    return std::count_if(scores.begin(), scores.end(),
                                         [&](double score) { return score > scores[gene]; });
                };
                EXPECT_EQ(larger(scored, listed(programs.by_score)), place);
                EXPECT_EQ(larger(weights, listed(programs.by_weight)), place);
                EXPECT_EQ(larger(leads, listed(programs.by_lead)), place);
            }
        }
    }
}

TEST(GenePrograms, KeepWeightsAsSharesOfTheLargest) {
    const Programs programs = gene_programs(basis, {}, {0, 1}, 0, 1'000'000);
    const std::size_t genes = programs.genes.size();
    EXPECT_TRUE(programs.by_score.empty());
    for (Index row = 0; row < 8; ++row) {
        const Matrix W = basis(row / 4);
        const auto largest = static_cast<double>(programs.largest[static_cast<std::size_t>(row)]);
        EXPECT_FLOAT_EQ(static_cast<float>(largest), static_cast<float>(W.col(row % 4).maxCoeff()));
        for (std::size_t g = 0; g < genes; ++g) {
            const double weight =
                programs.weight[static_cast<std::size_t>(row) * genes + g] / 255.0 * largest;
            EXPECT_NEAR(weight, W(programs.genes[g], row % 4), 0.51 * largest / 255.0);
        }
    }
}

TEST(GenePrograms, LeaveOutScalesUntilTheyFit) {
    const std::vector<Index> scales{0, 1, 2, 3, 4, 5, 6, 7};
    const Programs all = gene_programs(basis, {}, scales, 5, 1'000'000);
    const Programs fewer = gene_programs(basis, {}, scales, 5, 500);
    EXPECT_EQ(all.scales, scales);
    EXPECT_LT(fewer.scales.size(), all.scales.size());
    EXPECT_THAT(fewer.scales, Contains(5));
    const Programs one = gene_programs(basis, {}, scales, 5, 0);
    EXPECT_THAT(one.scales, ElementsAre(5));
    EXPECT_EQ(one.weight.size(), 4 * one.genes.size());
}

} // namespace
} // namespace pnmf::report
