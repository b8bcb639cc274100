#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

/// Counts as they come, genes × cells, many zeros.
Matrix counts(Index genes, Index cells, std::uint64_t seed) {
    Random random(seed);
    return Matrix::NullaryExpr(genes, cells, [&] {
        return random.uniform() < 0.6 ? 0.0 : std::floor(40.0 * std::pow(random.uniform(), 3.0)) + 1.0;
    });
}

Dataset dense(Matrix X) {
    Dataset data;
    data.X = std::move(X);
    return data;
}

Dataset sparse(const Matrix& X) {
    Dataset data;
    data.X = test::to_sparse(X);
    return data;
}

Matrix values_of(const Dataset& data) {
    return data.is_sparse() ? to_dense(std::get<SparseMatrix<double>>(data.X)) : std::get<Matrix>(data.X);
}

TEST(Values, AreRecognisedByTheNumbersThemselves) {
    const Matrix C = counts(30, 20, 1);
    EXPECT_EQ(recognise_values(dense(C)).kind, ValueKind::counts);
    EXPECT_EQ(recognise_values(sparse(C)).kind, ValueKind::counts);
    EXPECT_EQ(recognise_values(dense(1.37 * C)).kind, ValueKind::expression);
    EXPECT_FALSE(recognise_values(dense(1.37 * C)).sure);
    EXPECT_EQ(recognise_values(sparse(C.array().log1p())).kind, ValueKind::logged);
    EXPECT_EQ(recognise_values(dense((C.array() + 1.0).log() / std::log(2.0))).kind, ValueKind::logged);
    EXPECT_EQ(recognise_values(dense(C.array() - 3.0)).kind, ValueKind::scaled);
}

TEST(Values, AreRecognisedByASingleOneAmongManyCells) {
    const Matrix C = counts(4, 3000, 1);
    for (const Index cell : {0, 255, 256, 1500, 2999}) {
        Matrix X = C;
        X(2, cell) = 2.5;
        EXPECT_EQ(recognise_values(dense(X)).kind, recognise_values(sparse(X)).kind) << cell;
        EXPECT_NE(recognise_values(sparse(X)).kind, ValueKind::counts) << cell;
        X(2, cell) = -7.0;
        EXPECT_EQ(recognise_values(dense(X)).kind, ValueKind::scaled) << cell;
        EXPECT_EQ(recognise_values(sparse(X)).why, "some values are below 0, the smallest is -7") << cell;
        X(2, cell) = 5000.0;
        EXPECT_EQ(recognise_values(sparse(X)).why, "whole numbers up to 5000") << cell;
    }
}

TEST(Values, ThatAreWholeAndSmallMayBeRoundedLogarithms) {
    Random random(4);
    // Two thirds zeros, the others about 5 and none above 13: no 1, 2 beside.
    const Matrix rounded = Matrix::NullaryExpr(40, 50, [&] {
        const double bell = random.uniform() + random.uniform() + random.uniform();
        return random.uniform() < 0.67 ? 0.0 : std::round(0.5 + 3.0 * bell);
    });
    for (const Dataset& data : {dense(rounded), sparse(rounded)}) {
        const ValueFinding found = recognise_values(data);
        EXPECT_EQ(found.kind, ValueKind::logged);
        EXPECT_FALSE(found.sure);
        EXPECT_TRUE(found.whole);
        EXPECT_NE(found.why.find("most often 5 as of rounded logarithms"), std::string::npos) << found.why;
    }
    // One hump: counts of a mean of 5 are like that.
    const Matrix hump = Matrix::NullaryExpr(40, 50, [&] {
        return std::round(10.0 * (random.uniform() + random.uniform() + random.uniform()) / 3.0);
    });
    EXPECT_EQ(recognise_values(sparse(hump)).kind, ValueKind::counts);
    EXPECT_FALSE(recognise_values(sparse(hump)).sure);
    // Counts of few molecules: 1 is the most frequent above 0.
    const Matrix few =
        Matrix::NullaryExpr(40, 50, [&] { return std::floor(-2.0 * std::log(random.uniform())); });
    EXPECT_EQ(recognise_values(sparse(few)).kind, ValueKind::counts);
    EXPECT_TRUE(recognise_values(sparse(few)).sure);
    EXPECT_TRUE(recognise_values(sparse(Matrix::Zero(3, 4))).sure);
}

TEST(Values, WithoutALogarithmAreNamedTheFirstFirst) {
    Matrix X = counts(4, 3000, 1);
    X(1, 2900) = -3.0;
    X(1, 1700) = -2.0;
    for (Dataset data : {dense(X), sparse(X)}) {
        try {
            take_logarithms(data);
            ADD_FAILURE() << "no complaint";
        } catch (const InputError& e) {
            EXPECT_STREQ(e.what(), "log(1 + x) needs values above -1, got -2");
        }
    }
}

TEST(Values, ThatAFileCallsLoggedAreLoggedHoweverLarge) {
    const Matrix large = 1.37 * counts(30, 20, 1);
    const ValueFinding found = recognise_values(dense(large), {.log_recorded = true});
    EXPECT_EQ(found.kind, ValueKind::logged);
    EXPECT_TRUE(found.sure);
    // Whole numbers cannot be logarithms of counts: what the file says is about something else.
    EXPECT_EQ(recognise_values(dense(counts(30, 20, 1)), {.log_recorded = true}).kind, ValueKind::counts);
}

TEST(Values, AreScaledToTheSameSumInEveryCell) {
    const Matrix C = counts(30, 20, 2);
    for (Dataset data : {dense(C), sparse(C)}) {
        scale_cells_to(data, 1e4);
        const Matrix scaled = values_of(data);
        for (Index j = 0; j < C.cols(); ++j) {
            EXPECT_NEAR(scaled.col(j).sum(), 1e4, 1e-8);
            EXPECT_NEAR(scaled(3, j) * C.col(j).sum(), C(3, j) * 1e4, 1e-6);
        }
    }
}

TEST(Values, OfAnEmptyCellStayZero) {
    Matrix C = counts(10, 4, 2);
    C.col(2).setZero();
    Dataset data = dense(C);
    scale_cells_to(data, 1e4);
    take_logarithms(data);
    scale_cells_to_unit_length(data);
    EXPECT_EQ(values_of(data).col(2).norm(), 0.0);
    EXPECT_NEAR(values_of(data).col(1).norm(), 1.0, 1e-14);
}

TEST(Values, AreLoggedAlikeDenseAndSparse) {
    const Matrix C = counts(12, 9, 5);
    Dataset one = dense(C);
    Dataset other = sparse(C);
    take_logarithms(one);
    take_logarithms(other);
    EXPECT_EQ(values_of(one), values_of(other));
    EXPECT_NEAR(values_of(one)(0, 0), std::log1p(C(0, 0)), 0.0);
    Dataset below = dense(Matrix::Constant(2, 2, -1.0));
    EXPECT_THROW(take_logarithms(below), InputError);
}

TEST(VariableFeatures, AreThoseWithTheLargestVariance) {
    Matrix X = Matrix::Ones(6, 50);
    Random random(3);
    for (Index j = 0; j < 50; ++j) {
        X(1, j) = random.uniform();       // variance 1/12
        X(4, j) = 3.0 * random.uniform(); // 9/12
        X(5, j) = 0.1 * random.uniform(); // least of those that vary
    }
    for (const Dataset& data : {dense(X), sparse(X)}) {
        EXPECT_EQ(variable_features(data, 2), (std::vector<Index>{1, 4}));
        EXPECT_EQ(variable_features(data, 3), (std::vector<Index>{1, 4, 5}));
        EXPECT_EQ(variable_features(data, 6), (std::vector<Index>{1, 4, 5})) << "constant features vary not";
        EXPECT_EQ(variable_features(data, 2, {0, 5}), (std::vector<Index>{4, 5})) << "5 is asked for";
        const Vector variance = feature_variances(data);
        const double mean = X.row(4).mean();
        EXPECT_NEAR(variance[4], (X.row(4).array() - mean).square().sum() / 49.0, 1e-12);
    }
    EXPECT_THROW(variable_features(dense(X), 0), InputError);
}

/// Counts of which gene i has about the mean 0.1·(i + 1), and each count its own depth.
Matrix poisson_like(Index genes, Index cells) {
    Random random(5);
    return Matrix::NullaryExpr(genes, cells, [&](Index i, Index) {
        return std::floor(-std::log(1.0 - random.uniform()) * 0.1 * static_cast<double>(i + 1) + 0.5);
    });
}

TEST(StandardisedVariances, AreNearOneBesideOthersOfTheSameMean) {
    const Matrix C = poisson_like(200, 300);
    const Vector found = standardised_variances(dense(C));
    EXPECT_LT((found - standardised_variances(sparse(C))).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_NEAR(found.mean(), 1.0, 0.05);
    EXPECT_GT(found.minCoeff(), 0.5);
    EXPECT_LT(found.maxCoeff(), 2.0);
}

TEST(StandardisedVariances, AreLargeForTheMarkersOfRareCellsWhereLogarithmsVaryLittle) {
    Matrix C = poisson_like(200, 300);
    C.row(7).setZero();
    C.row(7).head(6).setConstant(9.0); // 2 % of the cells
    C.row(8).setZero();
    for (const Dataset& data : {dense(C), sparse(C)}) {
        EXPECT_EQ(overdispersed_features(data, 1), std::vector<Index>{7});
        EXPECT_EQ(standardised_variances(data)[8], 0.0) << "does not vary";
    }
    Dataset logged = sparse(C);
    take_logarithms(logged);
    const std::vector<Index> by_logarithms = variable_features(logged, 100);
    EXPECT_FALSE(std::binary_search(by_logarithms.begin(), by_logarithms.end(), Index{7}));
}

TEST(StandardisedVariances, AreTakenOfValuesCutAtTheSquareRootOfTheNumberOfCells) {
    Matrix C = poisson_like(60, 100);
    C.row(30).setZero();
    C(30, 3) = 1e6; // one cell alone
    EXPECT_LT(standardised_variances(dense(C))[30], 1.1);
}

TEST(StandardisedVariances, OfFewCellsOrFeaturesAreFinite) {
    for (const Index genes : {1, 2, 3, 5, 30}) {
        for (const Index cells : {1, 2, 3, 8}) {
            const Matrix C = poisson_like(genes, cells);
            EXPECT_TRUE(standardised_variances(dense(C)).allFinite()) << genes << " x " << cells;
            EXPECT_TRUE(standardised_variances(sparse(C)).allFinite()) << genes << " x " << cells;
        }
    }
}

TEST(StandardisedVariances, DoNotDependOnTheNumberOfThreads) {
    const Dataset data = sparse(poisson_like(40, 9000));
    const int before = thread_count();
    set_thread_count(1);
    const Vector one = standardised_variances(data);
    for (const int threads : {2, 4}) {
        set_thread_count(threads);
        EXPECT_EQ(standardised_variances(data), one);
    }
    set_thread_count(before);
}

} // namespace
} // namespace pnmf
