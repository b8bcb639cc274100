#include "support/clouds.hpp"
#include "support/problems.hpp"

#include <pnmf/error.hpp>
#include <pnmf/solvers/fit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Matrix some_data() {
    return test::noisy_product(10, 12, 1);
}

/// All that holds of any result, whatever the data.
void expect_sound(const FitResult<double>& result, Index rank, Index features, Index cells) {
    ASSERT_GE(result.scales.size(), 1);
    ASSERT_EQ(result.factors.scales(), result.scales.size());
    ASSERT_EQ(result.residuals.size(), result.effective_rank.size());
    for (Index t = 0; t < result.scales.size(); ++t) {
        const Matrix& W = result.factors.W[t];
        const Matrix& H = result.factors.H[t];
        ASSERT_EQ(W.rows(), features);
        ASSERT_EQ(H.cols(), cells);
        ASSERT_EQ(H.rows(), rank);
        EXPECT_TRUE(W.allFinite() && H.allFinite());
        EXPECT_GE(std::min(W.minCoeff(), H.minCoeff()), 0.0);
        EXPECT_LT((W.colwise().norm().array() - 1.0).abs().maxCoeff(), 1e-12);
        EXPECT_GE(result.effective_rank[t], 0.0);
        EXPECT_LE(result.effective_rank[t], static_cast<double>(rank) + 1e-9);
    }
    for (std::size_t s = 1; s < result.trace.size(); ++s) {
        EXPECT_LE(result.trace[s].total(), result.trace[s - 1].total() * (1.0 + 1e-12) + 1e-12);
    }
}

TEST(Fit, OfOrdinaryDataConvergesAndIsSound) {
    const auto result = fit<double>(some_data(), {.rank = 3});
    expect_sound(result, 3, 10, 12);
    EXPECT_EQ(result.stop, Stop::converged);
    EXPECT_EQ(result.scales.size(), 12);
    EXPECT_LE(sum(result.residuals).certificate(), default_tolerance({}));
}

TEST(Fit, WithoutACopyOfTheDataGivesTheSameBits) {
    const DataValues X = some_data();
    const FitOptions options{.rank = 3};
    const auto prepared = prepare_fit<double>(view_of(X), options);
    EXPECT_EQ(prepared.X->dense().data(), std::get<Matrix>(X).data());
    const auto viewed = fit<double>(view_of(X), options);
    const auto copied = fit<double>(X, options);
    for (Index t = 0; t < copied.scales.size(); ++t) {
        EXPECT_EQ(viewed.factors.W[t], copied.factors.W[t]);
        EXPECT_EQ(viewed.factors.H[t], copied.factors.H[t]);
    }
}

TEST(Fit, ChoosesTheSquareRootOfTheCellsAsRankAndSaysSo) {
    const auto prepared = prepare_fit<double>(some_data(), {});
    EXPECT_EQ(prepared.rank, 4);
    EXPECT_THAT(prepared.notices, testing::Contains(HasSubstr("rank 4")));
    EXPECT_EQ(prepare_fit<double>(Matrix(some_data().topRows(2)), {}).rank, 2);
}

TEST(Fit, WorksInSinglePrecisionAndOnSparseData) {
    const auto wide = fit<double>(some_data(), {.rank = 3});
    const auto narrow = fit<float>(some_data(), {.rank = 3});
    const auto sparse = fit<double>(test::to_sparse(some_data()), {.rank = 3});
    EXPECT_NEAR(narrow.trace.back().total() / wide.trace.back().total(), 1.0, 1e-2);
    EXPECT_NEAR(sparse.trace.back().total() / wide.trace.back().total(), 1.0, 1e-6);
}

TEST(Fit, RefusesDataThatAreNegativeOrNoNumbersAndNamesThePlace) {
    for (const double bad :
         {-0.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        Matrix X = some_data();
        X(3, 7) = bad;
        const auto refused = ThrowsMessage<InputError>(HasSubstr("at feature 4, cell 8"));
        EXPECT_THAT([&] { fit<double>(X); }, refused);
        EXPECT_THAT([&] { fit<double>(test::to_sparse(X)); }, refused);
    }
}

TEST(Fit, RefusesOptionsOutOfRange) {
    const auto refused = [](const FitOptions& options, const char* words) {
        EXPECT_THAT([&] { fit<double>(some_data(), options); }, ThrowsMessage<InputError>(HasSubstr(words)));
    };
    refused({.rank = 11}, "min(features, cells) = 10, got 11");
    refused({.rank = 0}, "got 0");
    refused({.penalty = {-1.0, 1.0, 1.0}}, "lambda1");
    refused({.penalty = {1.0, 1.0, std::numeric_limits<double>::quiet_NaN()}}, "lambda3");
    refused({.filtration = {.alpha = 0.0}}, "alpha");
    refused({.solver = {.tolerance = -1.0}}, "tolerance");
    refused({.filtration = {.neighbors = 0}}, "neighbo");
    EXPECT_THROW(fit<double>(Matrix(0, 5)), InputError);
    EXPECT_THROW(fit<double>(Matrix(5, 0)), InputError);
}

TEST(Fit, OfOneCellIsOneScaleThatFitsIt) {
    const Matrix X = some_data().leftCols(1);
    const auto result = fit<double>(X, {.penalty = {1.0, 1.0, 0.0}});
    expect_sound(result, 1, 10, 1);
    EXPECT_EQ(result.scales.size(), 1);
    EXPECT_LT((result.factors.W[0] * result.factors.H[0] - X).norm(), 1e-3 * X.norm());
}

TEST(Fit, OfTwoCellsHasTwoScales) {
    const auto result = fit<double>(Matrix(some_data().leftCols(2)));
    expect_sound(result, 2, 10, 2);
    EXPECT_EQ(result.scales.size(), 2);
}

TEST(Fit, OfEqualCellsGivesThemEqualEmbeddings) {
    const Matrix X = some_data().col(0).replicate(1, 6);
    const auto result = fit<double>(X, {.rank = 2});
    expect_sound(result, 2, 10, 6);
    EXPECT_EQ(result.scales.size(), 1);
    const Matrix& H = result.factors.H[0];
    EXPECT_LT((H.colwise() - H.col(0)).norm(), 1e-3 * H.norm());
}

TEST(Fit, OfDuplicatedCellsGivesTheDuplicatesNearlyEqualEmbeddings) {
    Matrix X = some_data();
    X.rightCols(6) = X.leftCols(6);
    const auto result = fit<double>(X, {.rank = 3, .solver = {.tolerance = 1e-6, .max_sweeps = 5000}});
    expect_sound(result, 3, 10, 12);
    EXPECT_EQ(result.scales.size(), 6);
    for (const Matrix& H : result.factors.H) {
        EXPECT_LT((H.rightCols(6) - H.leftCols(6)).norm(), 1e-2 * H.norm());
    }
}

TEST(Fit, OfACellWithoutCountsIsDefined) {
    Matrix X = some_data();
    X.col(5).setZero();
    expect_sound(fit<double>(X, {.rank = 3}), 3, 10, 12);
    expect_sound(fit<double>(test::to_sparse(X), {.rank = 3}), 3, 10, 12);
    EXPECT_THROW(fit<double>(X, {.rank = 3, .filtration = {.metric = Metric::cosine}}), InputError);
}

TEST(Fit, OfNothingButZerosIsZero) {
    const auto result = fit<double>(Matrix(Matrix::Zero(4, 5)), {.rank = 2});
    expect_sound(result, 2, 4, 5);
    EXPECT_EQ(result.trace.back().total(), 0.0);
}

TEST(Fit, StopsWhenTheObserverSaysSoAndReturnsWhatItHas) {
    FitOptions options{.rank = 3, .start = Start::broadcast};
    options.solver.tolerance = 0.0;
    const Observer observer{.sweep = [](const SweepReport& report) { return report.sweep < 3; }};
    const auto result = fit<double>(some_data(), options, observer);
    EXPECT_EQ(result.stop, Stop::interrupted);
    EXPECT_EQ(result.trace.size(), 4U);
    expect_sound(result, 3, 10, 12);
}

TEST(Fit, CanBeStoppedWhileItsStartIsMade) {
    const Observer never{.starting = [] { return false; }};
    EXPECT_THROW(fit<double>(some_data(), {.rank = 3}, never), Interrupted);
}

TEST(Fit, OfTheSameFewScalesSolvesTheSameProblemHoweverTheyWereChosen) {
    FitOptions options{.rank = 3, .penalty = {.graph = 1.0, .smoothness = 2.0, .anchor = 0.1}};
    EXPECT_TRUE(prepare_fit<double>(some_data(), options).problem().even());
    options.filtration.scales.max_scales = 5; // of 12
    const auto even = prepare_fit<double>(some_data(), options);
    ASSERT_TRUE(even.kept.has_value());
    EXPECT_THAT(even.kept->position, testing::ElementsAre(0, 3, 6, 8, 11));
    EXPECT_THAT(even.notices, testing::Contains(HasSubstr("5 of 12 scales are kept, evenly spaced")));
    options.scale_error = 0.1;
    auto few = prepare_fit<double>(some_data(), options);
    keep_scales(few, even.kept->position);
    EXPECT_EQ(even.problem().epsilon, few.problem().epsilon);
    EXPECT_EQ(even.problem().weight, few.problem().weight);
    EXPECT_EQ(even.problem().smoothness, few.problem().smoothness);
    EXPECT_EQ(even.problem().penalty.smoothness, few.problem().penalty.smoothness);
    EXPECT_DOUBLE_EQ(even.problem().at(0).fit, 2.0);
    EXPECT_DOUBLE_EQ(even.problem().at(0).after, 2.0 / 3.0);
    EXPECT_GT(fit<double>(some_data(), {.rank = 3, .filtration = {.scales = {.max_scales = 5}}}).scale_error,
              0.0);
}

TEST(Fit, ByThePublishedAlgorithmsTakesFewScalesAsIfTheyWereAll) {
    FitOptions options{.rank = 3, .penalty = {.graph = 1.0, .smoothness = 2.0, .anchor = 0.1}};
    options.filtration.scales.max_scales = 5;
    for (const Algorithm algorithm : {Algorithm::paper, Algorithm::reference}) {
        options.solver.algorithm = algorithm;
        const auto prepared = prepare_fit<double>(some_data(), options);
        EXPECT_TRUE(prepared.problem().even());
        EXPECT_EQ(prepared.problem().penalty.smoothness, 2.0);
        EXPECT_EQ(prepared.scales.size(), 5);
    }
}

/// Powers of 2 change no digit.
template <class Real>
void expect_multiples_fitted_or_refused(const std::vector<int>& refused, const std::vector<int>& fitted) {
    const FitOptions options{.rank = 3, .filtration = {.alpha = 2.0}};
    for (const int power : refused) {
        const Matrix X = std::ldexp(1.0, power) * some_data();
        EXPECT_THAT([&] { fit<Real>(X, options); },
                    testing::ThrowsMessage<InputError>(HasSubstr("the values of X are too")))
            << power;
    }
    for (const int power : fitted) {
        const auto result = fit<Real>(Matrix(std::ldexp(1.0, power) * some_data()), options);
        EXPECT_EQ(result.stop, Stop::converged) << power;
        EXPECT_GT(result.effective_rank.front(), 1.2) << power;
        EXPECT_TRUE(std::isfinite(result.trace.back().total())) << power;
    }
}

TEST(Fit, OfExtremeNumbersIsRightOrRefusedWithTheDataNamed) {
    expect_multiples_fitted_or_refused<float>({-1000, -80, 40, 56, 64, 200, 900}, {-40, -20, 0, 20, 24});
    expect_multiples_fitted_or_refused<double>({-1000, -480, 266, 500, 900}, {-400, -200, 0, 100, 200, 240});
    const Matrix most = Matrix::Constant(4, 9, std::ldexp(1.0, 64));
    EXPECT_THROW(fit<float>(most, {.rank = 2}), InputError);
    EXPECT_NO_THROW(fit<float>(Matrix::Zero(4, 9), {.rank = 2}));
}

TEST(Fit, OfEqualCellsSaysSoAndDoesNotBlameTheAnchor) {
    const auto result = fit<double>(Matrix(some_data().col(0).replicate(1, 6)), {.rank = 2});
    EXPECT_THAT(result.warnings, testing::ElementsAre(HasSubstr("all cells are the same")));
}

TEST(MakeStart, ThrowsWhenTheObserverSaysStop) {
    const Observer never{.starting = [] { return false; }};
    for (const Start start : {Start::nested, Start::chained}) {
        const auto prepared = prepare_fit<double>(some_data(), {.rank = 3, .start = start});
        EXPECT_THROW(make_start(prepared, never), Interrupted);
        EXPECT_NO_THROW(make_start(prepared));
    }
}

template <class Number>
concept Fitted = requires(const Matrix& X) {
    fit<Number>(X);
};

TEST(Fit, IsThereForFloatAndDoubleAndRefusesOtherNumbersWhenCompiled) {
    static_assert(Fitted<float> && Fitted<double>);
    static_assert(!Fitted<long double> && !Fitted<int>);
}

TEST(Fit, WarnsWhenItDidNotConverge) {
    const auto result = fit<double>(some_data(), {.rank = 3, .solver = {.tolerance = 0.0, .max_sweeps = 2}});
    EXPECT_EQ(result.stop, Stop::sweep_limit);
    EXPECT_THAT(result.warnings, testing::Contains(HasSubstr("not converged after 2 sweeps")));
}

TEST(Fit, OfThePaperHasColumnsThatSumToOne) {
    FitOptions options{.rank = 3};
    options.solver.algorithm = Algorithm::paper;
    const auto result = fit<double>(some_data(), options);
    for (const Matrix& W : result.factors.W) {
        EXPECT_LT((W.colwise().sum().array() - 1.0).abs().maxCoeff(), 1e-12);
    }
}

} // namespace
} // namespace pnmf
