#include "linalg/kernels/kernels.hpp"

#include <pnmf/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <utility>
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
                std::vector<Real> buffer(static_cast<std::size_t>(chain_buffer<Real>(scales, rank)) + 16);
                set.of<Real>().chain(arguments, 0, chain_lanes<Real>, buffer.data());
                set.of<Real>().chain(arguments, chain_lanes<Real>, cells, buffer.data());
                return moved;
            };
            const auto expected = pass(kernels_called("baseline"));
            EXPECT_NE(expected.front(), H.front());
            for (const Kernels* set : kernels_of_processor()) {
                EXPECT_EQ(pass(*set), expected) << set->name;
            }
        }
    }

    /// Gradients, sums and moves of cells. What they mean is tested with the solver.
    template <class Real>
    void measures_cells_like_the_baseline() {
        for (const Index rank : {1, 7, 30}) {
            const Index cells = 150; // more than are taken at a time
            const Index components = 40;
            const DenseMatrix<Real> WtX = uniform<Real>(rank, cells);
            const DenseMatrix<Real> HA = uniform<Real>(rank, cells, 0.0);
            const DenseMatrix<Real> degree = uniform<Real>(cells, 1, 0.0);
            const DenseMatrix<Real> H = uniform<Real>(rank, cells).cwiseMax(Real{0});
            const DenseMatrix<Real> before = uniform<Real>(rank, cells, 0.0);
            const DenseMatrix<Real> after = uniform<Real>(rank, cells, 0.0);
            const DenseMatrix<Real> WtWH = uniform<Real>(rank, cells);
            const Vector curvature = uniform<double>(rank, 1, 0.1);
            const Matrix shift = uniform<double>(components, rank);
            const std::vector<std::int32_t> component = rows(cells, components);
            std::vector<std::int32_t> place = component;
            for (std::int32_t& c : place) {
                c = c < 30 ? c : -1 - (c - 30);
            }
            const auto measure = [&](const Kernels& set, bool beside) {
                const KernelsOf<Real>& of = set.of<Real>();
                const HalfGradient<Real> in{rank,
                                            H.data(),
                                            WtX.data(),
                                            beside ? HA.data() : nullptr,
                                            degree.data(),
                                            beside ? before.data() : nullptr,
                                            beside ? after.data() : nullptr,
                                            Real(0.3),
                                            Real(0.2),
                                            Real(0.7),
                                            Real(0.4)};
                DenseMatrix<Real> gradient = WtWH;
                of.half_gradient(in, 3, cells - 3, gradient.data());
                std::vector<double> numbers(static_cast<std::size_t>(7 * rank + 2 * components * rank), 0.5);
                double* const sums = numbers.data();
                of.step_lengths(in, 3, cells - 3, gradient.data(),
                                {curvature.data(), 0.3, 0.4, sums, sums + rank});
                if (beside) {
                    of.term_rows(in, 3, cells - 3, sums + 2 * rank);
                }
                double* const of_components = sums + 7 * rank;
                of.add_to_components({cells, rank, place.data(), gradient.data(), H.data(), of_components,
                                      of_components + 30 * rank, 30, of_components + 60 * rank,
                                      of_components + 70 * rank});
                std::vector<Real> buffer(static_cast<std::size_t>(component_buffer(rank)));
                DenseMatrix<Real> moved = H;
                DenseMatrix<Real> HA_moved = HA;
                of.move_with_components({cells, rank, component.data(), shift.data(), components,
                                         degree.data(), moved.data(), HA_moved.data()},
                                        buffer.data());
                return std::tuple(gradient, numbers, moved, HA_moved);
            };
            for (const bool beside : {true, false}) {
                const auto expected = measure(kernels_called("baseline"), beside);
                for (const Kernels* set : kernels_of_processor()) {
                    EXPECT_EQ(measure(*set, beside), expected) << set->name << ", rank " << rank;
                }
            }
        }
    }
};

TEST_F(EveryKernelSet, MeasuresAndMovesCellsLikeTheBaseline) {
    measures_cells_like_the_baseline<float>();
    measures_cells_like_the_baseline<double>();
}

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

TEST_F(EveryKernelSet, AddsColumnsLikeAPlainLoop) {
    for (const Index count : {0, 1, 15, 16, 17, 70}) {
        for (const Index outputs : {1, 3, 4, 6, 8}) {
            const Matrix columns = uniform<double>(count + 2, 5);
            const Matrix factors = uniform<double>(5, outputs);
            const Matrix before = uniform<double>(count + 1, outputs);
            Matrix plain = before;
            for (Index o = 0; o < outputs; ++o) {
                for (Index l = 0; l < 5; ++l) {
                    for (Index i = 0; i < count; ++i) {
                        const double product = factors(l, o) * columns(i, l);
                        plain(i, o) = plain(i, o) + product;
                    }
                }
            }
            for (const Kernels* set : kernels_of_processor()) {
                Matrix out = before;
                set->add_columns({count, columns.data(), columns.rows(), 5, factors.data(), out.data(),
                                  out.rows(), outputs});
                EXPECT_EQ(out, plain) << set->name << ", " << count << " numbers";
            }
        }
    }
}

/// What shifts mean is tested with the solver (solvers/kernels_test.cpp).
TEST_F(EveryKernelSet, ShiftsComponentsLikeTheBaseline) {
    for (const Index count : {0, 1, 7, 8, 9, 100}) {
        const std::vector<std::int32_t> size = rows(count, 40);
        const Matrix numbers = uniform<double>(std::max<Index>(count, 1), 11);
        const auto shift = [&](const Kernels& set, bool first_row) {
            Matrix buffer = numbers;
            const auto column = [&](Index i) { return buffer.col(i).data(); };
            const ShiftLevel level{.count = count,
                                   .size = size.data(),
                                   .own = 0.7,
                                   .after = 0.3,
                                   .last_factor = -0.4,
                                   .gradient = column(0),
                                   .least = column(1),
                                   .shift = column(2),
                                   .last = first_row ? nullptr : column(3),
                                   .inverse = column(4),
                                   .right = column(5),
                                   .slope = column(6)};
            set.begin_shifts(level, column(7));
            set.end_elimination(level, {column(8), column(9), column(10)});
            std::array<double, 2> along{};
            set.end_shifts(level, 0.8, column(7), along.data());
            return std::pair(buffer, along);
        };
        for (const bool first_row : {true, false}) {
            const auto expected = shift(kernels_called("baseline"), first_row);
            for (const Kernels* set : kernels_of_processor()) {
                EXPECT_EQ(shift(*set, first_row), expected) << set->name << ", " << count << " components";
            }
        }
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
            std::vector<double> buffer(static_cast<std::size_t>(centre_buffer_cells * stride));
            std::vector<Index> labels(23, -1);
            set->nearest_centres(X.data(), d, 23, {table.data(), half.data(), count, stride}, buffer.data(),
                                 labels.data());
            for (Index j = 0; j < 23; ++j) {
                Index nearest = -1;
                (centres.colwise() - X.col(j)).colwise().squaredNorm().minCoeff(&nearest);
                EXPECT_EQ(labels[j], nearest) << set->name << ", " << count << " centres";
            }
        }
    }
}

TEST(Kernels, TheBaselineIsAlwaysThereAndAnUnknownNameGivesTheBest) {
    const std::vector<const Kernels*> sets = kernels_of_processor();
    ASSERT_FALSE(sets.empty());
    EXPECT_STREQ(sets.front()->name, "baseline");
    EXPECT_EQ(&kernels_called("baseline"), sets.front());
    EXPECT_EQ(&kernels_called(sets.back()->name), sets.back());
    EXPECT_EQ(&kernels_called("abacus"), sets.back());
    EXPECT_EQ(&kernels_called(nullptr), sets.back());
}

} // namespace
} // namespace pnmf
