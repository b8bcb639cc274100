#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/solvers/fit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Cells on circles of these radii, one beside the other.
Matrix rings(const std::vector<double>& radii, Index cells_of_each, std::uint64_t seed = 1) {
    Random random(seed);
    Matrix X(2, cells_of_each * std::ssize(radii));
    double left = 0.0;
    for (std::size_t r = 0; r < radii.size(); ++r) {
        left += 1.5 * radii[r];
        for (Index j = 0; j < cells_of_each; ++j) {
            const double angle = 2.0 * std::numbers::pi * random.uniform();
            const double radius = radii[r] * (1.0 + 0.1 * random.normal());
            X.col(static_cast<Index>(r) * cells_of_each + j) << 100.0 + left + radius * std::cos(angle),
                100.0 + radius * std::sin(angle);
        }
        left += 1.5 * radii[r];
    }
    return X;
}

ScaleSet scales_of(const Matrix& X, std::optional<Index> most = {}) {
    const Points points(X);
    return choose_scales(points, minimum_spanning_tree(points),
                         {.strategy = ScaleStrategy::with_loops, .max_scales = most});
}

TEST(ScalesOfLoops, AreThoseOfLambdaWithBirthAndDeathOfEachClearLoop) {
    for (const std::vector<double>& radii : {std::vector{3.0}, std::vector{3.0, 6.0}}) {
        const Matrix X = rings(radii, 120);
        const ScaleSet scales = scales_of(X);
        const ScaleSet canonical = canonical_scales(minimum_spanning_tree(Points(X)));
        EXPECT_TRUE(std::is_sorted(scales.epsilon.begin(), scales.epsilon.end(), std::less_equal<>()));
        EXPECT_TRUE(std::includes(scales.epsilon.begin(), scales.epsilon.end(), canonical.epsilon.begin(),
                                  canonical.epsilon.end()));
        ASSERT_EQ(scales.wanted.size(), 2 * radii.size());
        EXPECT_EQ(scales.size(), canonical.size() + 2 * std::ssize(radii));
        EXPECT_EQ(scales.available, scales.size());
        for (std::size_t k = 0; k < radii.size(); ++k) { // the largest loop first
            const double radius = radii[radii.size() - 1 - k];
            const double death = scales.epsilon[static_cast<std::size_t>(scales.wanted[2 * k])];
            const double birth = scales.epsilon[static_cast<std::size_t>(scales.wanted[2 * k + 1])];
            EXPECT_NEAR(death, std::sqrt(3.0) * radius, 0.25 * radius) << "a triangle across the ring";
            EXPECT_LT(birth, radius);
            EXPECT_EQ(scales.multiplicity[static_cast<std::size_t>(scales.wanted[2 * k])], 0);
        }
    }
}

TEST(ScalesOfLoops, AreThoseOfTheMostPersistentLoopWhereNoneIsClear) {
    EXPECT_EQ(scales_of(test::uniform_cloud(2, 200, 3)).wanted.size(), 2U);
    Matrix line = Matrix::Ones(2, 30);
    line.row(0) = Vector::LinSpaced(30, 1.0, 9.0).array().square().transpose();
    EXPECT_TRUE(scales_of(line).wanted.empty()) << "a line has no loop";
    EXPECT_EQ(scales_of(line).size(), 30);
    EXPECT_EQ(scales_of(Matrix::Ones(2, 1)).size(), 1);
    EXPECT_EQ(scales_of(Matrix::Ones(2, 9)).size(), 1) << "all cells at one place";
}

TEST(ScalesOfLoops, AreKeptHoweverFewScalesAre) {
    const ScaleSet all = scales_of(rings({3.0, 6.0}, 120));
    for (const Index count : {6, 9, 40}) {
        const ScaleSet few = scales_of(rings({3.0, 6.0}, 120), count);
        ASSERT_EQ(few.size(), count);
        EXPECT_EQ(few.epsilon.front(), all.epsilon.front());
        EXPECT_EQ(few.epsilon.back(), all.epsilon.back());
        for (const Index place : all.wanted) {
            EXPECT_TRUE(std::binary_search(few.epsilon.begin(), few.epsilon.end(),
                                           all.epsilon[static_cast<std::size_t>(place)]))
                << count;
        }
    }
    EXPECT_EQ(few_positions(10, {}, 4), (std::vector<Index>{0, 3, 6, 9}));
    EXPECT_EQ(few_positions(10, {4, 6}, 4), (std::vector<Index>{0, 4, 6, 9}));
    EXPECT_EQ(few_positions(10, {9, 4, 5, 6}, 3), (std::vector<Index>{0, 4, 9})) << "no more than asked for";
    EXPECT_EQ(few_positions(10, {4}, 2), (std::vector<Index>{0, 9})) << "the ends stay";
}

TEST(ScalesOfLoops, HaveEmbeddingsInAFitThatKeepsFewScales) {
    const Matrix X = rings({3.0}, 60);
    FitOptions options{.rank = 2,
                       .filtration = {.alpha = 2.0, .scales = {.strategy = ScaleStrategy::with_loops}}};
    options.scale_error = 0.5;
    const PreparedFit<double> prepared = prepare_fit<double>(DataValues(X), options);
    EXPECT_THAT(prepared.notices, testing::Contains(HasSubstr("scales: 1 loop")));
    const FitResult<double> result = fit<double>(DataValues(X), options);
    EXPECT_LT(result.scales.size(), prepared.scales.size());
    for (const Index place : prepared.scales.wanted) {
        EXPECT_THAT(result.scales.epsilon,
                    testing::Contains(prepared.scales.epsilon[static_cast<std::size_t>(place)]));
    }
}

TEST(ScalesOfLoops, OfManyPointsAreThoseOfSomeAndNeedPoints) {
    const ScaleSet scales = scales_of(rings({3.0}, 700));
    ASSERT_EQ(scales.wanted.size(), 2U);
    EXPECT_NEAR(scales.epsilon[static_cast<std::size_t>(scales.wanted[0])], 3.0 * std::sqrt(3.0), 1.5)
        << "noise reaches inwards";
    const SortedEdges edges = all_pairs(Points(rings({3.0}, 20)));
    EXPECT_THAT([&] { make_filtration(edges, {.scales = {.strategy = ScaleStrategy::with_loops}}); },
                ThrowsMessage<InputError>(HasSubstr("need coordinates of the cells")));
}

} // namespace
} // namespace pnmf
