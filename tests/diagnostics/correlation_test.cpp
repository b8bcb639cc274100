#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/error.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

void expect_relative(double found, double wanted, double tolerance) {
    EXPECT_LE(std::abs(found - wanted), tolerance * std::abs(wanted)) << found << " against " << wanted;
}

TEST(IncompleteBeta, HasTheValuesOfScipy) {
    // scipy.special.betainc(a, b, x), SciPy 1.10.1
    expect_relative(incomplete_beta(0.5, 0.5, 0.3), 0.3690101195655454, 1e-13);
    expect_relative(incomplete_beta(2.0, 3.0, 0.1), 0.0523, 1e-13);
    expect_relative(incomplete_beta(38.5, 0.5, 0.999), 0.7820423042050644, 1e-12);
    expect_relative(incomplete_beta(38.5, 0.5, 0.001), 2.8674539011731013e-117, 1e-12);
    expect_relative(incomplete_beta(5.0, 0.5, 0.5), 0.010119559735433716, 1e-13);
    expect_relative(incomplete_beta(100.0, 0.5, 0.9), 4.545254904517025e-06, 1e-12);
    expect_relative(incomplete_beta(0.5, 10.0, 0.7), 0.999998779477072, 1e-13);
}

TEST(IncompleteBeta, IsOneLessItsMirrorImageAndExactAtTheEnds) {
    for (const double a : {0.5, 1.0, 3.0, 40.0, 250.0}) {
        for (const double b : {0.5, 2.0, 17.0, 250.0}) {
            EXPECT_EQ(incomplete_beta(a, b, 0.0), 0.0);
            EXPECT_EQ(incomplete_beta(a, b, 1.0), 1.0);
            for (const double x : {0.01, 0.3, 0.5, 0.8, 0.99}) {
                EXPECT_NEAR(incomplete_beta(a, b, x), 1.0 - incomplete_beta(b, a, 1.0 - x), 1e-12);
            }
        }
    }
    EXPECT_THROW(incomplete_beta(0.0, 1.0, 0.5), InputError);
    EXPECT_THROW(incomplete_beta(1.0, 1.0, 1.5), InputError);
}

TEST(Pearson, HasTheValuesOfScipy) {
    // scipy.stats.pearsonr(x, y), SciPy 1.10.1
    const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8.5};
    const Correlation steep = pearson(x, {2.1, 3.9, 6.2, 7.8, 10.1, 12.2, 13.8, 17.3});
    expect_relative(steep.r, 0.9993318834678446, 1e-14);
    expect_relative(steep.p, 7.452105909747778e-10, 1e-10);
    const Correlation loose = pearson(x, {3, 1, 4, 1, 5, 9, 2, 6});
    expect_relative(loose.r, 0.4792355242189445, 1e-14);
    expect_relative(loose.p, 0.2295346360467023, 1e-12);
    const Correlation down = pearson(x, {-3, 1, -4, 1, -5, -9, -2, -6});
    expect_relative(down.r, -0.4872766109864804, 1e-14);
    expect_relative(down.p, 0.2206774315017844, 1e-12);
}

TEST(Pearson, DoesNotChangeWithUnitsAndIsUnknownWhereNothingVaries) {
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> scaled;
    for (int i = 0; i < 40; ++i) {
        x.push_back(i);
        y.push_back((i * i) % 17);
        scaled.push_back(-3.0 * y.back() + 5.0);
    }
    const Correlation plain = pearson(x, y);
    const Correlation turned = pearson(scaled, x);
    EXPECT_NEAR(turned.r, -plain.r, 1e-14);
    EXPECT_NEAR(turned.p, plain.p, 1e-12);
    EXPECT_TRUE(std::isnan(pearson(x, std::vector<double>(40, 2.0)).r));
    EXPECT_TRUE(std::isnan(pearson({1.0, 2.0}, {1.0, 3.0}).p));
    EXPECT_EQ(pearson(x, x).p, 0.0);
    EXPECT_THROW(pearson(x, {1.0}), InputError);
}

} // namespace
} // namespace pnmf
