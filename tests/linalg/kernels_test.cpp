#include "linalg/kernels/kernels.hpp"

#include <pnmf/types.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace pnmf {
namespace {

/// The same test for every instruction set of this processor: what a kernel gives has the bits of a plain
/// loop, or of the baseline where the plain loop is a test of its own (solvers/kernels_test.cpp).
class EveryKernelSet : public ::testing::Test {
  protected:
    std::mt19937_64 random{5};

    template <class Real>
    DenseMatrix<Real> uniform(Index rows, Index cols, double least = -1.0) {
        std::uniform_real_distribution<double> draw(least, 1.0);
        return DenseMatrix<Real>::NullaryExpr(rows, cols, [&] { return static_cast<Real>(draw(random)); });
    }

    std::vector<std::int32_t> rows(Index count, Index below) {
        std::uniform_int_distribution<std::int32_t> draw(0, static_cast<std::int32_t>(below - 1));
        std::vector<std::int32_t> result(static_cast<std::size_t>(count));
        for (std::int32_t& row : result) {
            row = draw(random);
        }
        return result;
    }

    template <class Real>
    void gathers_like_a_plain_loop() {
        for (const Kernels* set : kernels_of_processor()) {
            for (Index d = 1; d <= 70; ++d) {
                for (const Index stride : {d, d + 3}) {
                    const DenseMatrix<Real> M = uniform<Real>(stride, 40);
                    DenseMatrix<Real> result = uniform<Real>(d, 5);
                    DenseMatrix<Real> plain = result;
                    const std::vector<Index> counts{3, 40, 0, 17, 21};
                    std::vector<std::vector<std::int32_t>> row;
                    std::vector<DenseMatrix<Real>> value;
                    std::vector<GatherRun<Real>> runs;
                    for (const Index count : counts) {
                        row.push_back(rows(count, M.cols()));
                        value.push_back(uniform<Real>(count, 1));
                    }
                    for (std::size_t i = 0; i < counts.size(); ++i) {
                        const auto column = static_cast<Index>(i);
                        runs.push_back(
                            {row[i].data(), value[i].data(), counts[i], result.col(column).data()});
                        for (Index e = 0; e < counts[i]; ++e) {
                            for (Index r = 0; r < d; ++r) {
                                const Real product = value[i](e, 0) * M(r, row[i][e]);
                                plain(r, column) = plain(r, column) + product;
                            }
                        }
                    }
                    const Index first = d % 3; // the runs name columns from there on
                    for (std::vector<std::int32_t>& numbers : row) {
                        for (std::int32_t& number : numbers) {
                            number += static_cast<std::int32_t>(first);
                        }
                    }
                    set->of<Real>().gather({M.data(), d, stride, d % 2 == 0, first}, runs.data(),
                                           std::ssize(runs));
                    ASSERT_EQ(result, plain) << set->name << ", d = " << d;
                }
            }
        }
    }

    template <class Real>
    void chains_like_the_baseline() {
        for (const Index scales : {1, 5, 9}) {
            const Index rank = 7;
            const Index cells = 2 * chain_lanes<Real> - 3;
            std::vector<DenseMatrix<Real>> WtX, WtW, HA, degree, H;
            for (Index t = 0; t < scales; ++t) {
                const DenseMatrix<Real> W = uniform<Real>(20, rank, 0.0);
                WtW.push_back(W.transpose() * W);
                WtX.push_back(uniform<Real>(rank, cells, -0.5));
                HA.push_back(uniform<Real>(rank, cells, 0.0));
                degree.push_back(uniform<Real>(cells, 1, 0.0));
                H.push_back(uniform<Real>(rank, cells, -0.5).cwiseMax(Real{0}));
            }
            const DenseMatrix<Real> graph = uniform<Real>(scales, 1, 0.1);
            const DenseMatrix<Real> anchor = uniform<Real>(scales, 1, 0.1);
            DenseMatrix<Real> coupling = uniform<Real>(scales + 1, 1, 0.0);
            coupling(0, 0) = coupling(scales, 0) = Real{0};
            const auto pass = [&](const Kernels& set) {
                std::vector<DenseMatrix<Real>> moved = H;
                std::vector<const Real*> of_WtX, of_WtW, of_HA, of_degree;
                std::vector<Real*> of_H;
                for (Index t = 0; t < scales; ++t) {
                    of_WtX.push_back(WtX[t].data());
                    of_WtW.push_back(WtW[t].data());
                    of_HA.push_back(HA[t].data());
                    of_degree.push_back(degree[t].data());
                    of_H.push_back(moved[t].data());
                }
                const ChainArguments<Real> arguments{
                    scales,           rank,        of_WtX.data(), of_WtW.data(), of_HA.data(),
                    of_degree.data(), of_H.data(), graph.data(),  anchor.data(), coupling.data()};
                std::vector<Real> room(static_cast<std::size_t>(chain_room<Real>(scales, rank)) + 16);
                set.of<Real>().chain(arguments, 0, chain_lanes<Real>, room.data());
                set.of<Real>().chain(arguments, chain_lanes<Real>, cells, room.data());
                return moved;
            };
            const auto expected = pass(kernels_called("baseline"));
            EXPECT_NE(expected.front(), H.front());
            for (const Kernels* set : kernels_of_processor()) {
                EXPECT_EQ(pass(*set), expected) << set->name;
            }
        }
    }
};

TEST_F(EveryKernelSet, GathersLikeAPlainLoop) {
    gathers_like_a_plain_loop<float>();
    gathers_like_a_plain_loop<double>();
}

TEST_F(EveryKernelSet, PassesAlongTheChainLikeTheBaseline) {
    chains_like_the_baseline<float>();
    chains_like_the_baseline<double>();
}

TEST_F(EveryKernelSet, MultipliesStripsLikeAPlainLoop) {
    const Matrix strip = uniform<double>(strip_cells, 50);
    const std::vector<std::int32_t> row = rows(33, 50);
    const Matrix value = uniform<double>(33, 1);
    const Vector before = uniform<double>(strip_cells, 1);
    Vector plain = before;
    for (Index e = 0; e < 33; ++e) {
        for (Index a = 0; a < strip_cells; ++a) {
            const double product = value(e, 0) * strip(a, row[e]);
            plain[a] = plain[a] + product;
        }
    }
    for (const Kernels* set : kernels_of_processor()) {
        Vector sums = before;
        set->strip_products(strip.data(), row.data(), value.data(), 33, sums.data());
        EXPECT_EQ(sums, plain) << set->name;
    }
}

TEST_F(EveryKernelSet, FindsDistancesLikeAPlainLoop) {
    for (Index d = 1; d <= 40; ++d) {
        const Matrix X = uniform<double>(d, 11);
        const Matrix points = uniform<double>(4, d);
        for (const Kernels* set : kernels_of_processor()) {
            Matrix out(4, 11);
            set->squared_distances(X.data(), d, 11, points.data(), out.data());
            for (Index j = 0; j < 11; ++j) {
                for (Index m = 0; m < 4; ++m) {
                    double sum = 0.0;
                    for (Index f = 0; f < d; ++f) {
                        const double square = (X(f, j) - points(m, f)) * (X(f, j) - points(m, f));
                        sum = sum + square;
                    }
                    ASSERT_EQ(out(m, j), sum) << set->name << ", d = " << d;
                }
            }
        }
    }
}

TEST_F(EveryKernelSet, FindsTheNearestCentreTheFirstAmongEquals) {
    for (const Index count : {1, 2, 8, 9, 16, 17, 24, 41}) {
        const Index d = 6;
        const Matrix X = uniform<double>(d, 23);
        Matrix centres = uniform<double>(d, count);
        if (count > 2) {
            centres.col(count - 1) = centres.col(1);
        }
        const Index stride = (count + 7) / 8 * 8;
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> table(d, stride);
        table.setZero();
        table.leftCols(count) = centres;
        Vector half = Vector::Zero(stride);
        half.head(count) = 0.5 * centres.colwise().squaredNorm().transpose();
        for (const Kernels* set : kernels_of_processor()) {
            std::vector<double> room(static_cast<std::size_t>(centre_room_cells * stride));
            std::vector<Index> labels(23, -1);
            set->nearest_centres(X.data(), d, 23, {table.data(), half.data(), count, stride}, room.data(),
                                 labels.data());
            for (Index j = 0; j < 23; ++j) {
                Index nearest = -1;
                (centres.colwise() - X.col(j)).colwise().squaredNorm().minCoeff(&nearest);
                EXPECT_EQ(labels[j], nearest) << set->name << ", " << count << " centres";
            }
        }
    }
}

template <class Real>
void expect_eigens_columns() {
    std::mt19937_64 random(9);
    std::uniform_real_distribution<Real> draw(-1, 1);
    for (const Kernels* set : kernels_of_processor()) {
        for (const Index rows : {1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 101}) {
            const auto uniform = [&] {
                return DenseMatrix<Real>(
                    DenseMatrix<Real>::NullaryExpr(rows, 5, [&] { return draw(random); }));
            };
            DenseMatrix<Real> V = uniform();
            DenseMatrix<Real> W = uniform();
            DenseMatrix<Real> moved = uniform();
            DenseMatrix<Real> expected = V.cwiseMax(Real{0});
            for (Index k = 0; k < V.cols(); ++k) {
                const Real square = set->of<Real>().positive_square(V.col(k).data(), rows);
                ASSERT_EQ(square, expected.col(k).squaredNorm()) << set->name << ", " << rows;
                ASSERT_EQ(V, (DenseMatrix<Real>(V.rows(), V.cols()) << V.leftCols(k), expected.col(k),
                              V.rightCols(V.cols() - k - 1))
                                 .finished());
            }
            const Real norm = Real(1.7);
            const DenseMatrix<Real> before = W;
            set->of<Real>().take_direction(norm, rows, V.col(1).data(), moved.col(1).data(), W.col(1).data());
            const DenseVector<Real> direction = expected.col(1) / norm;
            EXPECT_EQ(V.col(1), direction);
            EXPECT_EQ(W.col(1), direction);
            EXPECT_EQ(moved.col(1), direction - before.col(1));
            EXPECT_EQ(W.col(2), before.col(2));
        }
    }
}

TEST_F(EveryKernelSet, AddsUpColumnsOfTheBasisAsEigenDoes) {
    expect_eigens_columns<float>();
    expect_eigens_columns<double>();
}

TEST(Kernels, TheBaselineIsAlwaysThereAndAnUnknownNameGivesTheBest) {
    const std::vector<const Kernels*> sets = kernels_of_processor();
    ASSERT_FALSE(sets.empty());
    EXPECT_STREQ(sets.front()->name, "baseline");
    EXPECT_EQ(&kernels_called("baseline"), sets.front());
    EXPECT_EQ(&kernels_called(sets.back()->name), sets.back());
    const Kernels* best = std::string(sets.back()->name) == "sve" ? sets.front() : sets.back();
    EXPECT_EQ(&kernels_called("abacus"), best);
    EXPECT_EQ(&kernels_called(nullptr), best);
}

TEST(Kernels, ThoseThatTheEnvironmentExpectsAreThere) {
    const char* const expected = std::getenv("PNMF_EXPECT_KERNELS");
    if (expected == nullptr) {
        GTEST_SKIP() << "no set of kernels is expected; the emulated processor of another test names one";
    }
    EXPECT_STREQ(kernels_called(expected).name, expected);
}

} // namespace
} // namespace pnmf
