#include "devices/cpu/basis_step.hpp"
#include "devices/cpu/component_shifts.hpp"
#include "devices/cpu/embedding_pass.hpp"
#include "support/clouds.hpp"
#include "support/problems.hpp"

#include <pnmf/model/objective.hpp>

#include <Eigen/Cholesky>
#include <gtest/gtest.h>

#include <algorithm>

namespace pnmf {
namespace {

using Products = std::vector<ScaleProducts<double>>;

Products products_of(const Problem<double>& problem, const Factors<double>& factors) {
    Products products;
    for (Index t = 0; t < problem.scales(); ++t) {
        products.push_back(scale_products(problem, t, factors.W[t], factors.H[t]));
    }
    return products;
}

/// min over h ≥ 0 of Σ ½c(h − h̄)² + g(h − h̄) + ½ Σ s_t (h_t − h_{t−1})², one variable at a time, many
/// times.
Vector chain_by_coordinates(const Vector& curvature, const Vector& gradient, const Vector& now,
                            const std::vector<ScalePenalty>& penalties) {
    Vector h = now;
    const Index T = h.size();
    for (int round = 0; round < 4000; ++round) {
        for (Index t = 0; t < T; ++t) {
            double pull = curvature[t] * now[t] - gradient[t];
            const auto& [fit, graph, anchor, before, after] = penalties[t];
            pull += before * (t > 0 ? h[t - 1] : 0.0) + after * (t + 1 < T ? h[t + 1] : 0.0);
            h[t] = std::max(0.0, pull / (curvature[t] + before + after));
        }
    }
    return h;
}

/// The pass as its header states it, cell by cell and row by row.
std::vector<Matrix> slow_pass(const std::vector<ScalePenalty>& penalties, const Products& products,
                              std::vector<Matrix> H) {
    const auto T = static_cast<Index>(H.size());
    for (Index j = 0; j < H[0].cols(); ++j) {
        for (Index k = 0; k < H[0].rows(); ++k) {
            Vector curvature(T), gradient(T), now(T);
            for (Index t = 0; t < T; ++t) {
                const ScalePenalty& penalty = penalties[t];
                const double weight = penalty.graph * products[t].degree[j];
                now[t] = H[t](k, j);
                curvature[t] = products[t].WtW(k, k) + 2.0 * weight + penalty.anchor;
                gradient[t] = products[t].WtW.row(k).dot(H[t].col(j)) - products[t].WtX(k, j) +
                              (weight + penalty.anchor) * now[t] - penalty.graph * products[t].HA(k, j);
            }
            const Vector h = chain_by_coordinates(curvature, gradient, now, penalties);
            for (Index t = 0; t < T; ++t) {
                H[t](k, j) = h[t];
            }
        }
    }
    return H;
}

TEST(PassAlongChain, SolvesTheProblemOfEachCellAlongTheScales) {
    Index zeros = 0;
    for (const double smoothness : {0.0, 0.7, 30.0, -1.0}) {
        const auto owned =
            test::random_problem<double>({.cells = 11, .scales = 6}, {0.5, std::abs(smoothness), 0.1}, 1);
        Problem<double> problem = owned.problem();
        if (smoothness < 0.0) { // scales that count unlike
            problem.weight = {1.0, 3.0, 0.5, 2.0, 7.0, 1.5};
            problem.smoothness = {0.1, 20.0, 0.0, 3.0, 0.5};
        }
        const std::vector<ScalePenalty> penalties = scale_penalties(problem);
        Factors<double> factors = test::random_factors(problem, 3, 2);
        const Products products = products_of(problem, factors);
        const std::vector<Matrix> expected = slow_pass(penalties, products, factors.H);
        pass_along_chain(penalties, products, factors.H);
        for (std::size_t t = 0; t < expected.size(); ++t) {
            EXPECT_LT((factors.H[t] - expected[t]).norm(), 1e-9 * expected[t].norm()) << t;
            zeros += (factors.H[t].array() == 0.0).count();
        }
    }
    EXPECT_GT(zeros, 10); // bounds hold some
}

TEST(UpdateBasis, IsBestAmongUnitColumnsNearby) {
    const Matrix X = test::noisy_product(8, 10, 5);
    Matrix W = test::uniform_cloud(8, 1, 6).colwise().normalized();
    const Matrix H = test::uniform_cloud(1, 10, 7);
    update_basis<double>(W, X * H.transpose(), H * H.transpose());
    const double reached = (X - W * H).squaredNorm();
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const double distance = seed % 2 == 0 ? 1.0 : 0.01;
        const Matrix other =
            (W + distance * test::uniform_cloud(8, 1, 100 + seed) - Matrix::Constant(8, 1, 0.5 * distance))
                .cwiseMax(0.0)
                .colwise()
                .normalized();
        EXPECT_GE((X - other * H).squaredNorm(), reached - 1e-12);
    }
}

TEST(UpdateBasis, InBlocksOfColumnsIsOneColumnAfterTheOther) {
    for (const Index rank : {1, 7, 8, 9, 20}) {
        const Matrix X = test::noisy_product(60, 40, 5);
        Matrix W = test::uniform_cloud(60, rank, 6).colwise().normalized();
        Matrix H = test::uniform_cloud(rank, 40, 7);
        H.row(rank - 1).setZero(); // its column of W stays or goes where v points
        const Matrix XHt = X * H.transpose();
        const Matrix HHt = H * H.transpose();
        Matrix plain = W;
        for (Index k = 0; k < rank; ++k) {
            const Vector v = (XHt.col(k) - plain * HHt.col(k) + HHt(k, k) * plain.col(k)).cwiseMax(0.0);
            if (v.norm() > 0.0) {
                plain.col(k) = v.normalized();
            }
        }
        const Matrix start = W;
        update_basis<double>(W, XHt, HHt);
        EXPECT_LT((W - plain).norm(), 1e-12) << "rank " << rank;
        EXPECT_EQ(W.col(rank - 1), plain.col(rank - 1)) << "a column without cells must stay";
        update_basis<double>(W, XHt, HHt);
        update_basis<double>(W, XHt, HHt);
        Matrix at_once = start;
        update_basis<double>(at_once, XHt, HHt, 3);
        EXPECT_LT((W - at_once).norm(), 1e-12) << "rank " << rank;
        update_basis<double>(at_once, XHt, HHt, 0);
        EXPECT_LT((W - at_once).norm(), 1e-12) << "rank " << rank;
    }
}

TEST(UpdateBasis, TakesDirectionsWhoseSquaresAreTooSmallForTheNumbers) {
    const DenseMatrix<float> data = test::noisy_product(30, 40, 5).cast<float>();
    const DenseMatrix<float> H = test::uniform_cloud(3, 40, 7).cast<float>();
    const DenseMatrix<float> W = test::uniform_cloud(30, 3, 6).colwise().normalized().cast<float>();
    const DenseMatrix<float> HHt = H * H.transpose();
    DenseMatrix<float> usual = W;
    update_basis<float>(usual, data * H.transpose(), HHt, 2);
    DenseMatrix<float> small = W;
    const float least = 1e-30F;
    update_basis<float>(small, data * H.transpose() * least, HHt * least, 2);
    EXPECT_LT((small - usual).norm(), 1e-5);
}

TEST(MovementW, IsThatOfProjectedGradientSteps) {
    for (const Index rank : {1, 5, 20}) {
        const Matrix W = test::uniform_cloud(61, rank, 6).colwise().normalized();
        Matrix H = test::uniform_cloud(rank, 40, 7);
        H.row(rank / 2).setZero();
        const Matrix XHt = test::noisy_product(61, 40, 5) * H.transpose();
        const Matrix HHt = H * H.transpose();
        const Matrix gradient = half_gradient_W<double>(W, XHt, HHt);
        for (const BasisForm form : {BasisForm::unit_columns, BasisForm::free}) {
            Movement expected;
            for (Index k = 0; k < rank; ++k) {
                const double q = HHt(k, k);
                if (q > 0.0) {
                    const Vector w = W.col(k);
                    Vector g = gradient.col(k);
                    g -= form == BasisForm::unit_columns ? Vector(w.dot(g) * w) : Vector::Zero(w.size());
                    expected.moved += q * (w - (w - g / q).cwiseMax(0.0)).squaredNorm();
                    expected.size += q * w.squaredNorm();
                }
            }
            const Movement moved = movement_W<double>(form, W, XHt, HHt);
            EXPECT_NEAR(moved.moved, expected.moved, 1e-12 * expected.size) << rank;
            EXPECT_NEAR(moved.size, expected.size, 1e-12 * expected.size) << rank;
        }
    }
}

/// Row k of all H_t, scale after scale, as one vector.
Vector row_of(const std::vector<Matrix>& H, Index k) {
    const Index n = H[0].cols();
    Vector row(static_cast<Index>(H.size()) * n);
    for (std::size_t t = 0; t < H.size(); ++t) {
        row.segment(static_cast<Index>(t) * n, n) = H[t].row(k).transpose();
    }
    return row;
}

/// The half Hessian of the objective in row k: T·n × T·n.
Matrix half_hessian(const Problem<double>& problem, const Products& products, Index k) {
    const Index T = problem.scales();
    const Index n = problem.cells();
    Matrix Q = Matrix::Zero(T * n, T * n);
    const Matrix one = Matrix::Identity(n, n);
    for (Index t = 0; t < T; ++t) {
        const Matrix A = problem.graph->at(problem.epsilon[t])->adjacency();
        const Matrix L = Matrix(A.rowwise().sum().asDiagonal()) - A;
        const ScalePenalty penalty = problem.at(t);
        const double diagonal = products[t].WtW(k, k) + penalty.anchor + penalty.before + penalty.after;
        Q.block(t * n, t * n, n, n) = diagonal * one + penalty.graph * L;
        if (t > 0) {
            Q.block(t * n, (t - 1) * n, n, n) = -penalty.before * one;
            Q.block((t - 1) * n, t * n, n, n) = -penalty.before * one;
        }
    }
    return Q;
}

/// A column 1_C for each scale and component.
Matrix indicators(const ComponentForest& forest, Index n) {
    Index columns = 0;
    for (Index t = 0; t < forest.scales(); ++t) {
        columns += forest[t].count();
    }
    Matrix B = Matrix::Zero(forest.scales() * n, columns);
    Index first = 0;
    for (Index t = 0; t < forest.scales(); ++t) {
        for (Index j = 0; j < n; ++j) {
            B(t * n + j, first + forest[t].component[static_cast<std::size_t>(j)]) = 1.0;
        }
        first += forest[t].count();
    }
    return B;
}

/// The forest as one rank has it that sums over blocks of so many cells.
ShiftForest on_one_rank(const ComponentForest& forest, Index cells, Index block) {
    return {forest, share({cells, block}, 1), 0};
}

void expect_dense_solution(const Problem<double>& problem, Index block, Index rank = 2) {
    Factors<double> factors = test::random_factors(problem, rank, 9);
    for (Matrix& H : factors.H) {
        H.array() += rank > 2 ? 2.0 : 20.0; // far from zero, whatever the shift
    }
    for (Matrix& W : factors.W) {
        W *= rank > 2 ? 0.01 : 0.05;
    }
    Products products = products_of(problem, factors);
    const ComponentForest forest(problem.graph->tree(), problem.epsilon);
    const Matrix B = indicators(forest, 10);
    std::vector<Matrix> expected = factors.H;
    for (Index k = 0; k < rank; ++k) {
        std::vector<Matrix> gradients;
        for (Index t = 0; t < 4; ++t) {
            const auto fresh = scale_products(problem, t, factors.W[t], expected[t]);
            gradients.push_back(half_gradient_H(problem.at(t), fresh, expected[t], scale_before(expected, t),
                                                scale_after(expected, t)));
        }
        const Matrix Q = B.transpose() * half_hessian(problem, products, k) * B;
        const Vector shift = -B * Q.ldlt().solve(B.transpose() * row_of(gradients, k));
        for (Index t = 0; t < 4; ++t) {
            expected[t].row(k) += shift.segment(10 * t, 10).transpose();
            ASSERT_GT(expected[t].minCoeff(), 0.0);
        }
    }
    const std::vector<Matrix> before = factors.H;
    ShiftBuffer buffer;
    shift_components(scale_penalties(problem), on_one_rank(forest, 10, block), products, factors.H, buffer,
                     one_process());
    for (Index t = 0; t < 4; ++t) {
        EXPECT_GT((expected[t] - before[t]).norm(), 1.0);
        EXPECT_LT((factors.H[t] - expected[t]).norm(), 1e-9 * expected[t].norm()) << t;
    }
}

TEST(ShiftComponents, IsTheDenseSolutionWhereNoBoundHolds) {
    const auto owned = test::random_problem<double>({.cells = 10, .scales = 4}, {2.0, 0.7, 0.001}, 8);
    Problem<double> problem = owned.problem();
    for (const Index block : {10, 6, 3, 1}) { // with all components narrow, some, and those of one cell
        expect_dense_solution(problem, block);
    }
    problem.weight = {1.0, 1.5, 0.8, 1.2};
    problem.smoothness = {2.0, 0.4, 0.9};
    for (const Index block : {10, 3}) {
        expect_dense_solution(problem, block);
        expect_dense_solution(problem, block, 19); // rows are taken some at a time
    }
}

TEST(ShiftComponents, NeverRaisesTheObjectiveAndKeepsTheProductWithTheGraph) {
    std::uint64_t seed = 20;
    ShiftBuffer buffer; // one for all, as for all sweeps of a run
    for (const Penalty& penalty : test::all_penalties()) {
        for (const auto& [scales, cells] : {std::pair<Index, Index>(1, 20), {2, 20}, {7, 20}, {3, 1100}}) {
            ++seed;
            const auto owned =
                test::random_problem<double>({.cells = cells, .scales = scales}, penalty, seed);
            const Problem<double> problem = owned.problem();
            Factors<double> factors = test::random_factors(problem, 3, seed + 1);
            Products products = products_of(problem, factors);
            const ComponentForest forest(owned.graph->tree(), owned.epsilon);
            double last = objective(problem, factors).total();
            for (int round = 0; round < 3; ++round) {
                shift_components(scale_penalties(problem), on_one_rank(forest, cells, cells / (1 + round)),
                                 products, factors.H, buffer, one_process());
                const double now = objective(problem, factors).total();
                EXPECT_LE(now, last * (1.0 + 1e-13));
                last = now;
            }
            for (Index t = 0; t < scales; ++t) {
                const Matrix HA = owned.graph->at(owned.epsilon[t])->times_adjacency(factors.H[t]);
                EXPECT_LT((products[t].HA - HA).norm(), 1e-12 * (1.0 + HA.norm()));
                EXPECT_GE(factors.H[t].minCoeff(), 0.0);
            }
        }
    }
}

TEST(ComponentForest, HasEachComponentInsideItsParent) {
    const auto owned = test::random_problem<double>({.cells = 30, .scales = 9}, {}, 40);
    const ComponentForest forest(owned.graph->tree(), owned.epsilon);
    EXPECT_EQ(forest[0].count(), 30); // strict <: no edges at the finest scale
    EXPECT_EQ(forest[8].count(), 1);
    for (Index t = 0; t + 1 < 9; ++t) {
        for (std::size_t j = 0; j < 30; ++j) {
            const auto component = static_cast<std::size_t>(forest[t].component[j]);
            EXPECT_EQ(forest[t].parent[component], forest[t + 1].component[j]);
        }
    }
}

} // namespace
} // namespace pnmf
