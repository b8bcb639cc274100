#include "assess/split_test.hpp"

#include <pnmf/linalg/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {
namespace {

/// n cells of d coordinates, all drawn alike.
Matrix drawn(Index d, Index n, std::uint64_t seed, bool normal = true) {
    Random random(seed);
    Matrix cells(d, n);
    for (double& value : cells.reshaped()) {
        value = normal ? random.normal() : random.uniform();
    }
    return cells;
}

/// Two groups by the sign of a coordinate's distance from a border.
std::vector<Index> cut_at(const Matrix& cells, Index coordinate, double border) {
    std::vector<Index> leaf;
    for (Index j = 0; j < cells.cols(); ++j) {
        leaf.push_back(cells(coordinate, j) > border ? 1 : 0);
    }
    return leaf;
}

double p_of(const Matrix& cells, const std::vector<Index>& leaf, const std::vector<double>& depth = {},
            const SplitQuestion& question = {}) {
    return SplitTester(cells, leaf, 2, depth, 1).test({false, true}, question).p_value;
}

TEST(BinomialBelow, IsTheSumOfItsTerms) {
    for (const double share : {0.1, 0.5, 0.85}) {
        for (Index n = 0; n <= 40; ++n) {
            double sum = 0.0;
            for (Index x = 0; x <= n; ++x) {
                sum += std::exp(std::lgamma(static_cast<double>(n) + 1.0) -
                                std::lgamma(static_cast<double>(x) + 1.0) -
                                std::lgamma(static_cast<double>(n - x) + 1.0)) *
                       std::pow(share, static_cast<double>(x)) *
                       std::pow(1.0 - share, static_cast<double>(n - x));
                EXPECT_NEAR(binomial_below(x, n, share), sum, 1e-12) << x << " of " << n << ", " << share;
            }
        }
    }
    EXPECT_NEAR(binomial_below(50000, 100000, 0.5), 0.5, 0.01);
    EXPECT_NEAR(binomial_below(90000, 100000, 0.5), 1.0, 1e-9);
    EXPECT_LT(binomial_below(0, 5000, 0.5), 1e-300);
}

TEST(SplitTester, TellsTwoPopulationsApart) {
    for (const Index few : {10, 40, 100}) {
        Matrix cells = drawn(8, 200, 3);
        std::vector<Index> leaf(200, 0);
        for (Index j = 0; j < few; ++j) {
            cells.col(j)[0] += 7.0;
            leaf[j] = 1;
        }
        EXPECT_LT(p_of(cells, leaf), 0.02) << few << " of 200 cells";
    }
}

TEST(SplitTester, DoesNotTellPartsOfOnePopulationApart) {
    for (const bool normal : {true, false}) {
        for (const double border : {0.5, 0.8}) {
            int split = 0;
            for (std::uint64_t seed = 0; seed < 200; ++seed) {
                const Matrix cells = drawn(10, 120, seed, normal);
                split += p_of(cells, cut_at(cells, 0, border)) < 0.05 ? 1 : 0;
            }
            EXPECT_LE(split, 10) << (normal ? "normal" : "uniform") << " cut at " << border;
        }
    }
}

TEST(SplitTester, TellsARareGroupFromManyCellsThatReachTowardsIt) {
    // The valley lies near the few: halfway between the centres are more of the many than there are few.
    int found[2] = {0, 0};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Matrix cells = drawn(8, 1000, seed);
        std::vector<Index> leaf(1000, 0);
        for (Index j = 0; j < 60; ++j) {
            cells.col(j)[0] += 4.8;
            leaf[j] = 1;
        }
        for (const SplitShape shape : {SplitShape::one_mode, SplitShape::log_concave}) {
            found[shape == SplitShape::log_concave ? 1 : 0] +=
                p_of(cells, leaf, {}, {.shape = shape}) < 0.05 ? 1 : 0;
        }
    }
    EXPECT_GE(found[1], 18);
    EXPECT_LT(found[0], found[1]);
}

TEST(SplitTester, DoesNotTellTheTailOfALogConcavePopulationForARareGroup) {
    for (int form = 0; form < 3; ++form) { // normal, uniform, exponential
        for (const double share : {0.03, 0.1, 0.19}) {
            int split = 0;
            for (std::uint64_t seed = 0; seed < 100; ++seed) {
                Matrix cells = drawn(8, 300, seed, form == 0);
                std::vector<double> first;
                for (Index j = 0; j < 300; ++j) {
                    cells(0, j) = form == 2 ? -std::log(1.0 - cells(0, j)) : cells(0, j);
                    first.push_back(cells(0, j));
                }
                std::sort(first.begin(), first.end());
                const double border = first[static_cast<std::size_t>(300.0 * (1.0 - share))];
                split += p_of(cells, cut_at(cells, 0, border), {}, {.shape = SplitShape::log_concave}) < 0.05
                             ? 1
                             : 0;
            }
            EXPECT_LE(split, 10) << "form " << form << ", " << share << " of the cells";
        }
    }
}

TEST(SplitTester, HasARareGroupOnlyBelowAFifthOfTheCells) {
    const Matrix cells = drawn(4, 100, 5);
    std::vector<Index> leaf(100, 0);
    std::fill(leaf.begin(), leaf.begin() + 20, 1);
    const auto tested = [&] {
        return SplitTester(cells, leaf, 2, {}, 1)
            .test({false, true}, {.shape = SplitShape::log_concave})
            .tested;
    };
    EXPECT_FALSE(tested());
    leaf[19] = 0;
    EXPECT_TRUE(tested());
}

TEST(SplitTester, AskedForAValleyTakesNoShallowDip) {
    // Evenly spread along one direction, but for the middle, which has `kept` of the cells it would have.
    const auto p = [](double kept, double valley) {
        Matrix cells = 0.1 * drawn(3, 20000, 9);
        Random random(2);
        for (Index j = 0; j < cells.cols(); ++j) {
            double place = random.uniform();
            while (std::abs(place - 0.5) < 0.1 && random.uniform() > kept) {
                place = random.uniform();
            }
            cells(0, j) = 10.0 * place;
        }
        return p_of(cells, cut_at(cells, 0, 5.0), {}, {.valley = valley});
    };
    EXPECT_LT(p(0.9, 1.0), 1e-3);
    EXPECT_GT(p(0.9, 0.8), 0.5);
    EXPECT_LT(p(0.5, 0.8), 1e-3);
}

TEST(SplitTester, DoesNotTellTheTailOfASkewedPopulationApart) {
    for (const double border : {1.0, 2.0, 3.0}) {
        int split = 0;
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            Matrix cells = drawn(6, 200, seed);
            Random random(seed + 1000);
            for (Index j = 0; j < 200; ++j) {
                cells(0, j) = -1.5 * std::log(1.0 - random.uniform()); // one mode, at the edge
            }
            split += p_of(cells, cut_at(cells, 0, border)) < 0.05 ? 1 : 0;
        }
        EXPECT_LE(split, 5) << "cut at " << border;
    }
}

TEST(SplitTester, DoesNotTakeTheEndsOfACurveAlongDepthForTwoPopulations) {
    // The same cells measured to different depth: they lie evenly along it, but the curve is steep in the
    // middle.
    constexpr Index n = 2000;
    Matrix cells = 0.15 * drawn(5, n, 8);
    std::vector<double> depth;
    Random random(9);
    for (Index j = 0; j < n; ++j) {
        depth.push_back(2.0 * random.uniform() - 1.0);
        cells(0, j) += 2.0 * std::tanh(1.5 * depth.back());
    }
    const std::vector<Index> leaf = cut_at(cells, 0, 0.0);
    EXPECT_LT(p_of(cells, leaf), 0.05);
    EXPECT_GT(p_of(cells, leaf, depth), 0.2);
}

TEST(SplitTester, TellsPopulationsApartThatDifferInDepth) {
    constexpr Index n = 400;
    Matrix cells = drawn(5, n, 10);
    std::vector<double> depth;
    std::vector<Index> leaf;
    Random random(11);
    for (Index j = 0; j < n; ++j) {
        leaf.push_back(j % 2);
        cells(0, j) += 8.0 * static_cast<double>(leaf.back());
        depth.push_back(3.0 * static_cast<double>(leaf.back()) + random.normal());
    }
    EXPECT_LT(p_of(cells, leaf, depth), 1e-6);
}

TEST(SplitTester, HasNothingToSayOfTooFewOrEqualCells) {
    const Matrix few = drawn(3, 5, 1);
    EXPECT_EQ(p_of(few, {0, 0, 1, 1, 1}), 1.0);
    EXPECT_EQ(p_of(Matrix::Constant(4, 30, 2.0), std::vector<Index>(30, 0)), 1.0);
    std::vector<Index> leaf(30, 0);
    std::fill(leaf.begin(), leaf.begin() + 10, 1);
    EXPECT_EQ(p_of(Matrix::Constant(4, 30, 2.0), leaf), 1.0);
    EXPECT_EQ(p_of(Matrix::Zero(1, 30), leaf), 1.0);
}

} // namespace
} // namespace pnmf
