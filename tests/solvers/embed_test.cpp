#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/embed.hpp>
#include <pnmf/solvers/fit.hpp>

#include <Eigen/Cholesky>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pnmf {
namespace {

using test::uniform_cloud;

/// A basis, cells that it explains only in part, and a stored neighbourhood for each cell.
struct Example {
    Matrix X;
    Matrix W;
    Penalty penalty{.graph = 0.7, .smoothness = 5.0, .anchor = 0.3};
    StoredNeighbours<double> neighbours;
};

Example example(Index features, Index rank, Index cells, std::uint64_t seed) {
    Example made;
    made.W = uniform_cloud(features, rank, seed);
    made.W.array() *= (uniform_cloud(features, rank, seed + 1).array() < 0.6).cast<double>();
    made.X = 2.0 * uniform_cloud(features, cells, seed + 2);
    made.X.array() *= (uniform_cloud(features, cells, seed + 3).array() < 0.5).cast<double>();
    made.neighbours.HA = 3.0 * uniform_cloud(rank, cells, seed + 4);
    made.neighbours.degree = 2.0 * uniform_cloud(cells, 1, seed + 5);
    return made;
}

/// ½ × the problem's value without ‖x‖² and what does not depend on h: ½hᵀQh − bᵀh.
struct Quadratic {
    Matrix Q;
    Vector b;
    double operator()(const Vector& h) const { return 0.5 * h.dot(Q * h) - b.dot(h); }
};

Quadratic quadratic(const Example& e, Index cell, bool graph) {
    const double weight = graph ? e.penalty.graph : 0.0;
    Quadratic q{e.W.transpose() * e.W, e.W.transpose() * e.X.col(cell)};
    q.Q.diagonal().array() += e.penalty.anchor + weight * e.neighbours.degree[cell];
    q.b += weight * e.neighbours.HA.col(cell);
    return q;
}

/// The minimiser over h ≥ 0, by trying which rows are zero: 2^d linear systems.
Vector by_enumeration(const Quadratic& q) {
    const Index rank = q.b.size();
    Vector best = Vector::Zero(rank);
    for (Index mask = 1; mask < (Index{1} << rank); ++mask) {
        std::vector<Index> free;
        for (Index k = 0; k < rank; ++k) {
            if ((mask >> k & 1) != 0) {
                free.push_back(k);
            }
        }
        const Vector solved = Matrix(q.Q(free, free)).ldlt().solve(Vector(q.b(free)));
        if ((solved.array() >= 0.0).all()) {
            Vector h = Vector::Zero(rank);
            h(free) = solved;
            if (q(h) < q(best)) {
                best = h;
            }
        }
    }
    return best;
}

TEST(EmbedCells, EqualsTryingEveryActiveSet) {
    for (const bool graph : {false, true}) {
        const Example e = example(12, 5, 20, 10);
        const auto embedded =
            embed_cells(DataMatrix<double>(e.X), e.W, e.penalty, graph ? &e.neighbours : nullptr);
        EXPECT_TRUE(embedded.converged);
        Index zeros = 0;
        for (Index j = 0; j < 20; ++j) {
            const Vector expected = by_enumeration(quadratic(e, j, graph));
            EXPECT_LT((embedded.H.col(j) - expected).norm(), 1e-6 * expected.norm()) << j;
            zeros += (expected.array() == 0.0).count();
        }
        EXPECT_GT(zeros, 0) << "the bounds must matter";
    }
}

TEST(EmbedCells, TheKktConditionsHold) {
    const Example e = example(40, 9, 70, 20);
    const auto embedded = embed_cells(DataMatrix<double>(e.X), e.W, e.penalty, &e.neighbours);
    for (Index j = 0; j < 70; ++j) {
        const Quadratic q = quadratic(e, j, true);
        const Vector h = embedded.H.col(j);
        const Vector gradient = q.Q * h - q.b;
        EXPECT_GE(h.minCoeff(), 0.0);
        EXPECT_GE(gradient.minCoeff(), -1e-6 * q.b.norm()) << j;
        EXPECT_LT(gradient.cwiseProduct(h).cwiseAbs().maxCoeff(), 1e-6 * q.b.norm() * h.norm()) << j;
    }
}

TEST(EmbedCells, RelativeErrorIsThatOfTheProduct) {
    const Example e = example(15, 4, 33, 25);
    const auto embedded = embed_cells(DataMatrix<double>(e.X), e.W, e.penalty);
    EXPECT_NEAR(embedded.relative_error, (e.X - e.W * embedded.H).norm() / e.X.norm(), 1e-10);
}

TEST(EmbedCells, TheAnchorShrinksTheEmbedding) {
    Example e = example(15, 4, 40, 30);
    double before = std::numeric_limits<double>::infinity();
    for (const double anchor : {0.0, 0.1, 1.0, 10.0, 1e6}) {
        e.penalty.anchor = anchor;
        const double norm = embed_cells(DataMatrix<double>(e.X), e.W, e.penalty).H.norm();
        EXPECT_LT(norm, before) << anchor;
        before = norm;
    }
    EXPECT_LT(before, 1e-3);
}

TEST(EmbedCells, CellsOfAFitWithoutCouplingComeBackToTheirPlaces) {
    const Matrix X = uniform_cloud(10, 25, 40);
    FitOptions options;
    options.rank = 3;
    options.penalty = {.graph = 0.0, .smoothness = 0.0, .anchor = 0.1};
    options.filtration.scales.max_scales = 3;
    options.solver.tolerance = 1e-7;
    options.solver.max_sweeps = 20000;
    const auto fitted = fit<double>(X, options);
    for (Index t = 0; t < fitted.scales.size(); ++t) {
        const auto& H = fitted.factors.H[t];
        const auto embedded = embed_cells(DataMatrix<double>(X), fitted.factors.W[t], options.penalty);
        EXPECT_LT((embedded.H - H).norm(), 1e-3 * H.norm()) << t;
    }
}

TEST(EmbedCells, AStoredCellPullsANewOneThatEqualsIt) {
    const Matrix stored = uniform_cloud(10, 12, 50);
    const Matrix W = uniform_cloud(10, 4, 51);
    const Matrix H = 5.0 * uniform_cloud(4, 12, 52);
    Matrix both(10, 13);
    both << stored, stored.col(7);
    const Matrix distances = distances_to_new(Points(both), 12);
    EXPECT_EQ(distances(7, 0), 0.0);
    double others = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < 12; ++i) {
        others = i == 7 ? others : std::min(others, distances(i, 0));
    }
    // At a scale below the next cell only the equal one counts, with weight 1.
    const auto sums = stored_neighbours<double>(distances, EdgeWeight(others, 1.5), H);
    EXPECT_EQ(sums.degree[0], 1.0);
    EXPECT_EQ(sums.HA.col(0), H.col(7));
    const DataMatrix<double> X(Matrix(stored.col(7)));
    double before = (embed_cells(X, W, Penalty{}).H.col(0) - H.col(7)).norm();
    for (const double lambda : {0.1, 1.0, 10.0, 1e4}) {
        const auto embedded = embed_cells(X, W, Penalty{.graph = lambda}, &sums);
        const double distance = (embedded.H.col(0) - H.col(7)).norm();
        EXPECT_LT(distance, before) << lambda;
        before = distance;
    }
    EXPECT_LT(before, 1e-2);
}

TEST(StoredNeighbours, AreTheFormulaOverAllCellsOrTheNearest) {
    const Matrix distances = 2.0 * uniform_cloud(9, 5, 60);
    const Matrix H = uniform_cloud(3, 9, 61);
    const double epsilon = 1.2;
    const double alpha = 1.5;
    const auto all = stored_neighbours<double>(distances, EdgeWeight(epsilon, alpha), H);
    const auto one = stored_neighbours<double>(distances, EdgeWeight(epsilon, alpha), H, 1);
    for (Index j = 0; j < 5; ++j) {
        Vector sum = Vector::Zero(3);
        double degree = 0.0;
        for (Index i = 0; i < 9; ++i) {
            const double d = distances(i, j);
            const double a = d < epsilon ? std::exp(-d * d / std::pow(epsilon, alpha)) : 0.0;
            sum += a * H.col(i);
            degree += a;
        }
        EXPECT_NEAR((all.HA.col(j) - sum).norm(), 0.0, 1e-12);
        EXPECT_NEAR(all.degree[j], degree, 1e-12);
        Index nearest = 0;
        const double d = distances.col(j).minCoeff(&nearest);
        const double a = d < epsilon ? std::exp(-d * d / std::pow(epsilon, alpha)) : 0.0;
        EXPECT_NEAR((one.HA.col(j) - a * H.col(nearest)).norm(), 0.0, 1e-12);
    }
}

TEST(EmbedCells, DoesNotDependOnThreadsOnSparsityOrOnTheOtherCells) {
    const Example e = example(30, 6, 150, 70);
    const int threads = thread_count();
    set_thread_count(1);
    const Matrix one = embed_cells(DataMatrix<double>(e.X), e.W, e.penalty).H;
    set_thread_count(4);
    const Matrix four = embed_cells(DataMatrix<double>(e.X), e.W, e.penalty).H;
    const Matrix sparse = embed_cells(DataMatrix<double>(test::to_sparse(e.X)), e.W, e.penalty).H;
    const Matrix alone = embed_cells(DataMatrix<double>(Matrix(e.X.col(149))), e.W, e.penalty).H;
    set_thread_count(threads);
    EXPECT_EQ(one, four);
    EXPECT_LT((sparse - one).norm(), 1e-6 * one.norm());
    EXPECT_LT((alone - one.col(149)).norm(), 1e-6 * alone.norm());
}

TEST(EmbedCells, FloatsAgreeWithDoublesToTheirDigits) {
    const Example e = example(30, 6, 50, 80);
    const Matrix wide = embed_cells(DataMatrix<double>(e.X), e.W, e.penalty).H;
    const auto narrow = embed_cells(DataMatrix<float>(DenseMatrix<float>(e.X.cast<float>())),
                                    DenseMatrix<float>(e.W.cast<float>()), e.penalty);
    EXPECT_TRUE(narrow.converged);
    EXPECT_LT((narrow.H.cast<double>() - wide).norm(), 1e-3 * wide.norm());
}

TEST(EmbedCells, SaysWhenTheLimitOfPassesEndedIt) {
    const Example e = example(30, 6, 50, 90);
    const auto embedded =
        embed_cells<double>(DataMatrix<double>(e.X), e.W, e.penalty, nullptr, {.max_passes = 1});
    EXPECT_FALSE(embedded.converged);
    EXPECT_EQ(embedded.passes, 1);
    EXPECT_GT(embedded.residual, 1e-8);
}

TEST(EmbedCells, WhatCannotBeEmbeddedIsAnInputError) {
    const Example e = example(8, 3, 4, 100);
    const DataMatrix<double> X(e.X);
    EXPECT_THROW(embed_cells(X, Matrix(Matrix::Ones(7, 3)), e.penalty), InputError);
    EXPECT_THROW(embed_cells(X, Matrix(-e.W), e.penalty), InputError);
    EXPECT_THROW(embed_cells(DataMatrix<double>(Matrix(-e.X)), e.W, e.penalty), InputError);
    EXPECT_THROW(embed_cells(X, e.W, Penalty{.anchor = -1.0}), InputError);
    StoredNeighbours<double> few = e.neighbours;
    few.HA = Matrix::Zero(3, 3);
    EXPECT_THROW(embed_cells(X, e.W, e.penalty, &few), InputError);
    EXPECT_THROW(stored_neighbours<double>(Matrix::Ones(3, 1), EdgeWeight(1.0, 1.0), Matrix::Ones(2, 4)),
                 InputError);
}

} // namespace
} // namespace pnmf
