#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/persistence/distances.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

namespace pnmf {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const InputError& e) {
        return e.what();
    }
    return "no error";
}

/// Summed in more digits.
long double exact_distance(const Matrix& X, Index i, Index j) {
    long double sum = 0.0L;
    for (Index f = 0; f < X.rows(); ++f) {
        const long double difference = static_cast<long double>(X(f, i)) - X(f, j);
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

TEST(Distances, OfCellsInSomeoneElsesMemoryHaveTheBitsOfACopy) {
    const Matrix X = test::lattice_cloud(7, 30, 3, 1).array() + 1.0;
    const SparseMatrix<double> sparse = test::to_sparse(X);
    for (const Metric metric : {Metric::euclidean, Metric::cosine}) {
        const Points owned(X, metric);
        const Points dense(DataView(view_of(X)), metric);
        const Points compressed(DataView(view_of(sparse)), metric);
        Points moved(X, metric);
        moved = dense;
        for (Index i = 0; i < X.cols(); ++i) {
            for (Index j = 0; j < X.cols(); ++j) {
                EXPECT_EQ(dense.distance(i, j), owned.distance(i, j));
                EXPECT_EQ(compressed.distance(i, j), owned.distance(i, j));
                EXPECT_EQ(moved.distance(i, j), owned.distance(i, j));
            }
        }
    }
}

TEST(Distances, AreAccurateAlsoBetweenNearDuplicatesFarFromTheOrigin) {
    for (const auto& [name, X] : test::all_clouds(60)) {
        const Points points(X);
        for (Index i = 0; i < 60; ++i) {
            for (Index j = 0; j < 60; ++j) {
                const long double exact = exact_distance(X, i, j);
                EXPECT_LE(std::abs(static_cast<long double>(points.distance(i, j)) - exact), 1e-13L * exact)
                    << name;
            }
        }
    }
}

TEST(Distances, AreSymmetricAndZeroOnTheDiagonalBitForBit) {
    for (const Metric metric : {Metric::euclidean, Metric::cosine}) {
        const Points points(test::uniform_cloud(11, 40, 31), metric);
        Vector row(40);
        for (Index i = 0; i < 40; ++i) {
            points.distances_from(i, row);
            EXPECT_EQ(points.distance(i, i), 0.0);
            for (Index j = 0; j < 40; ++j) {
                EXPECT_EQ(points.distance(i, j), points.distance(j, i));
                EXPECT_EQ(points.distance(i, j), row[j]);
            }
        }
    }
}

TEST(Distances, OfDenseAndSparseStorageAgreeBitForBit) {
    for (const Index features : {1, 7, 8, 9, 64, 101}) {
        SparseMatrix<double> X = test::sparse_cloud(features, 30, 0.4, 32);
        Matrix filled = to_dense(X);
        filled.row(0).array() += 0.7;
        X = test::to_sparse(filled);
        for (const Metric metric : {Metric::euclidean, Metric::cosine}) {
            const Points sparse(X, metric);
            const Points dense(filled, metric);
            for (Index i = 0; i < 30; ++i) {
                for (Index j = 0; j < 30; ++j) {
                    EXPECT_EQ(sparse.distance(i, j), dense.distance(i, j));
                }
            }
        }
    }
}

TEST(Distances, InATableHaveTheBitsOfSinglePairs) {
    const auto check = [](const Points& points, const std::string& name) {
        const Matrix table = points.table();
        ASSERT_EQ(table.rows(), points.count());
        ASSERT_EQ(table.cols(), points.count());
        for (Index i = 0; i < points.count(); ++i) {
            for (Index j = 0; j < points.count(); ++j) {
                ASSERT_EQ(table(i, j), points.distance(i, j)) << name << " " << i << " " << j;
            }
        }
    };
    for (const Index cells : {1, 2, 63, 64, 130}) {         // fewer and more than a block
        for (const double share : {0.0, 0.01, 0.05, 0.5}) { // thin ones are merged, others written out
            Matrix filled = to_dense(test::sparse_cloud(101, cells, share, 7));
            check(Points(test::to_sparse(filled)), "sparse");
            filled.row(0).array() += 0.7; // the cosine needs an entry in each cell
            check(Points(test::to_sparse(filled), Metric::cosine), "sparse, cosine");
            check(Points(filled), "dense");
            check(Points::from_distances(Points(filled).table()), "the user's");
        }
    }
    check(Points(test::to_sparse(to_dense(test::sparse_cloud(9000, 11, 0.2, 8)))), "blocks of four");
}

TEST(Distances, CosineIsOneMinusTheCosineOfTheAngleWhateverTheLengths) {
    Random random(33);
    Matrix X = test::uniform_cloud(5, 30, 34).array() - 0.5;
    const Points points(X, Metric::cosine);
    for (Index j = 0; j < 30; ++j) {
        X.col(j) *= std::exp(60.0 * (random.uniform() - 0.5));
    }
    const Points scaled(X, Metric::cosine);
    for (Index i = 0; i < 30; ++i) {
        for (Index j = 0; j < 30; ++j) {
            const double expected = 1.0 - X.col(i).dot(X.col(j)) / (X.col(i).norm() * X.col(j).norm());
            EXPECT_NEAR(points.distance(i, j), expected, 1e-14);
            EXPECT_NEAR(scaled.distance(i, j), expected, 1e-14);
        }
    }
}

TEST(Distances, CosineBetweenNearlyParallelCellsKeepsItsDigits) {
    Matrix X(2, 2);
    const double angle = 1e-7; // 1 − cos = 5e-15: the plain formula has one digit there
    X << 1.0, std::cos(angle), 0.0, std::sin(angle);
    EXPECT_NEAR(Points(X, Metric::cosine).distance(0, 1) / (0.5 * angle * angle), 1.0, 1e-8);
}

TEST(Distances, ToACellThatIsZeroEverywhereAreRefusedForCosineNamingTheCell) {
    Matrix X = Matrix::Ones(3, 4);
    X.col(2).setZero();
    EXPECT_THAT(message_of([&] { Points(X, Metric::cosine); }), HasSubstr("cell 3"));
    EXPECT_THAT(message_of([&] { Points(test::to_sparse(X), Metric::cosine); }), HasSubstr("cell 3"));
    EXPECT_EQ(Points(X).distance(2, 1), std::sqrt(3.0));
}

TEST(Distances, OfValuesThatAreNotFiniteAreRefusedNamingThePlace) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -1e200}) {
        Matrix X = Matrix::Ones(3, 4);
        X(1, 2) = bad;
        EXPECT_THAT(message_of([&] { Points{X}; }), HasSubstr("row 2, column 3"));
        EXPECT_THAT(message_of([&] { Points{test::to_sparse(X)}; }), HasSubstr("row 2, column 3"));
    }
    EXPECT_THAT(message_of([] { Points{Matrix(3, 0)}; }), HasSubstr("at least one cell"));
}

TEST(Distances, OfTheUserMustBeADistanceTable) {
    Matrix good(3, 3);
    good << 0, 1, 2, 1, 0, 3, 2, 3, 0;
    EXPECT_EQ(Points::from_distances(good).distance(2, 1), 3.0);
    const auto with = [&](Index i, Index j, double value) {
        Matrix bad = good;
        bad(i, j) = value;
        return message_of([&] { Points::from_distances(bad); });
    };
    EXPECT_THAT(with(0, 2, 2.5), HasSubstr("symmetric, got 2.5 at row 1, column 3"));
    EXPECT_THAT(with(0, 2, -2.0), HasSubstr("nonnegative, got -2 at row 1, column 3"));
    EXPECT_THAT(with(1, 1, 0.5), HasSubstr("itself must be 0, got 0.5 at row 2, column 2"));
    EXPECT_THAT(with(2, 1, std::nan("")), HasSubstr("row 3, column 2"));
    EXPECT_THAT(message_of([] { Points::from_distances(Matrix::Zero(2, 3)); }), HasSubstr("2 x 3"));
    EXPECT_THAT(message_of([] { Points::from_distances(Matrix(0, 0)); }), HasSubstr("0 x 0"));
}

} // namespace
} // namespace pnmf
