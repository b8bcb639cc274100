#include "solvers/basis_step.hpp"
#include "solvers/component_shifts.hpp"
#include "solvers/embedding_pass.hpp"
#include "support/clouds.hpp"
#include "support/problems.hpp"

#include <pnmf/model/kkt.hpp>

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

/// min over h ≥ 0 of Σ ½c(h − h̄)² + g(h − h̄) + ½λ₂ Σ (h_t − h_{t−1})², one variable at a time, many times.
Vector chain_by_coordinates(const Vector& curvature, const Vector& gradient, const Vector& now,
                            double smoothness) {
    Vector h = now;
    const Index T = h.size();
    for (int round = 0; round < 4000; ++round) {
        for (Index t = 0; t < T; ++t) {
            double pull = curvature[t] * now[t] - gradient[t];
            pull += smoothness * ((t > 0 ? h[t - 1] : 0.0) + (t + 1 < T ? h[t + 1] : 0.0));
            h[t] = std::max(0.0, pull / (curvature[t] + neighbour_count(t, T) * smoothness));
        }
    }
    return h;
}

/// The pass as its header states it, cell by cell and row by row.
std::vector<Matrix> slow_pass(const Penalty& penalty, const Products& products, std::vector<Matrix> H) {
    const auto T = static_cast<Index>(H.size());
    for (Index j = 0; j < H[0].cols(); ++j) {
        for (Index k = 0; k < H[0].rows(); ++k) {
            Vector curvature(T), gradient(T), now(T);
            for (Index t = 0; t < T; ++t) {
                const double weight = penalty.graph * products[t].degree[j];
                now[t] = H[t](k, j);
                curvature[t] = products[t].WtW(k, k) + 2.0 * weight + penalty.anchor;
                gradient[t] = products[t].WtW.row(k).dot(H[t].col(j)) - products[t].WtX(k, j) +
                              (weight + penalty.anchor) * now[t] - penalty.graph * products[t].HA(k, j);
            }
            const Vector h = chain_by_coordinates(curvature, gradient, now, penalty.smoothness);
            for (Index t = 0; t < T; ++t) {
                H[t](k, j) = h[t];
            }
        }
    }
    return H;
}

TEST(PassAlongChain, SolvesTheProblemOfEachCellAlongTheScales) {
    Index zeros = 0;
    for (const double smoothness : {0.0, 0.7, 30.0}) {
        const Penalty penalty{0.5, smoothness, 0.1};
        const auto owned = test::random_problem<double>({.cells = 11, .scales = 6}, penalty, 1);
        Factors<double> factors = test::random_factors(owned.problem(), 3, 2);
        const Products products = products_of(owned.problem(), factors);
        const std::vector<Matrix> expected = slow_pass(penalty, products, factors.H);
        pass_along_chain(penalty, products, factors.H);
        for (std::size_t t = 0; t < expected.size(); ++t) {
            EXPECT_LT((factors.H[t] - expected[t]).norm(), 1e-9 * expected[t].norm()) << t;
            zeros += (factors.H[t].array() == 0.0).count();
        }
    }
    EXPECT_GT(zeros, 10); // bounds hold some
}

TEST(PassAtScale, TakesTheStepOfEachCellAlone) {
    const Penalty penalty{0.5, 0.7, 0.1};
    const auto owned = test::random_problem<double>({.cells = 11, .scales = 1}, penalty, 3);
    Factors<double> factors = test::random_factors(owned.problem(), 3, 4);
    const Products products = products_of(owned.problem(), factors);
    const std::vector<Matrix> expected = slow_pass(penalty, products, factors.H);
    pass_at_scale<double>(penalty, products[0], factors.H[0], nullptr, nullptr);
    EXPECT_LT((factors.H[0] - expected[0]).norm(), 1e-12 * expected[0].norm());
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
        update_basis<double>(W, XHt, HHt);
        EXPECT_LT((W - plain).norm(), 1e-12) << "rank " << rank;
        EXPECT_EQ(W.col(rank - 1), plain.col(rank - 1)) << "a column without cells must stay";
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
Matrix half_hessian(const test::OwnedProblem<double>& owned, const Products& products, Index k) {
    const auto T = static_cast<Index>(owned.epsilon.size());
    const Index n = owned.X->cells();
    Matrix Q = Matrix::Zero(T * n, T * n);
    const Matrix one = Matrix::Identity(n, n);
    for (Index t = 0; t < T; ++t) {
        const Matrix A = owned.graph->at(owned.epsilon[t])->adjacency();
        const Matrix L = Matrix(A.rowwise().sum().asDiagonal()) - A;
        const double diagonal =
            products[t].WtW(k, k) + owned.penalty.anchor + neighbour_count(t, T) * owned.penalty.smoothness;
        Q.block(t * n, t * n, n, n) = diagonal * one + owned.penalty.graph * L;
        if (t > 0) {
            Q.block(t * n, (t - 1) * n, n, n) = -owned.penalty.smoothness * one;
            Q.block((t - 1) * n, t * n, n, n) = -owned.penalty.smoothness * one;
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

TEST(ShiftComponents, IsTheDenseSolutionWhereNoBoundHolds) {
    const auto owned = test::random_problem<double>({.cells = 10, .scales = 4}, {2.0, 0.7, 0.001}, 8);
    const Problem<double> problem = owned.problem();
    Factors<double> factors = test::random_factors(problem, 2, 9);
    for (Matrix& H : factors.H) {
        H.array() += 20.0; // far from zero, whatever the shift
    }
    for (Matrix& W : factors.W) {
        W *= 0.05;
    }
    Products products = products_of(problem, factors);
    const ComponentForest forest(*owned.graph, owned.epsilon);
    const Matrix B = indicators(forest, 10);
    std::vector<Matrix> expected = factors.H;
    for (Index k = 0; k < 2; ++k) {
        std::vector<Matrix> gradients;
        for (Index t = 0; t < 4; ++t) {
            const auto fresh = scale_products(problem, t, factors.W[t], expected[t]);
            gradients.push_back(half_gradient_H(problem.penalty, fresh, expected[t],
                                                t > 0 ? &expected[t - 1] : nullptr,
                                                t < 3 ? &expected[t + 1] : nullptr));
        }
        const Matrix Q = B.transpose() * half_hessian(owned, products, k) * B;
        const Vector shift = -B * Q.ldlt().solve(B.transpose() * row_of(gradients, k));
        for (Index t = 0; t < 4; ++t) {
            expected[t].row(k) += shift.segment(10 * t, 10).transpose();
            ASSERT_GT(expected[t].minCoeff(), 0.0);
        }
    }
    const std::vector<Matrix> before = factors.H;
    ShiftRoom room;
    shift_components(problem.penalty, forest, products, factors.H, room);
    for (Index t = 0; t < 4; ++t) {
        EXPECT_GT((expected[t] - before[t]).norm(), 1.0);
        EXPECT_LT((factors.H[t] - expected[t]).norm(), 1e-9 * expected[t].norm()) << t;
    }
}

TEST(ShiftComponents, NeverRaisesTheObjectiveAndKeepsTheProductWithTheGraph) {
    std::uint64_t seed = 20;
    ShiftRoom room; // one for all, as for all sweeps of a run
    for (const Penalty& penalty : test::all_penalties()) {
        for (const auto& [scales, cells] : {std::pair<Index, Index>(1, 20), {2, 20}, {7, 20}, {3, 1100}}) {
            ++seed;
            const auto owned =
                test::random_problem<double>({.cells = cells, .scales = scales}, penalty, seed);
            const Problem<double> problem = owned.problem();
            Factors<double> factors = test::random_factors(problem, 3, seed + 1);
            Products products = products_of(problem, factors);
            const ComponentForest forest(*owned.graph, owned.epsilon);
            double last = objective(problem, factors).total();
            for (int round = 0; round < 3; ++round) {
                shift_components(penalty, forest, products, factors.H, room);
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
    const ComponentForest forest(*owned.graph, owned.epsilon);
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
