#include "graphs/fixed_graph.hpp"
#include "support/clouds.hpp"
#include "support/problems.hpp"

#include <pnmf/model/objective.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

/// Weights between 6 cells: two triangles of different weights and one bridge.
FixedGraph small_graph() {
    Matrix A = Matrix::Zero(6, 6);
    const auto join = [&](Index i, Index j, double weight) { A(i, j) = A(j, i) = weight; };
    join(0, 1, 1.0);
    join(1, 2, 0.5);
    join(0, 2, 0.25);
    join(3, 4, 1.0);
    join(4, 5, 2.0);
    join(2, 3, 0.125);
    return FixedGraph(test::to_sparse(A));
}

/// A stationary point of three equal scales with one row: with w a unit vector and X = w·r,
/// r = h·((1 + λ₃)I + λ₁L) the gradient in h vanishes, and that in w is along w. At the cell where h = 0
/// X has a negative value, so that h stays there.
struct StationaryPoint {
    explicit StationaryPoint(double unit) {
        const Matrix A = graph.at(1.0)->adjacency();
        const Matrix L = Matrix(A.rowwise().sum().asDiagonal()) - A;
        Vector w(4);
        w << 0.5, 0.1, 0.0, 2.0;
        w.normalize();
        Matrix h(1, 6);
        h << 3.0, 2.5, 2.0, 0.0, 1.0, 1.5;
        h *= unit;
        Matrix r = h * (1.0 + penalty.anchor) + penalty.graph * h * L;
        EXPECT_LT(r(0, 3), 0.0);
        r(0, 3) *= 2.0;
        X = std::make_unique<DataMatrix<double>>(Matrix(w * r));
        factors = {{w, w, w}, {h, h, h}};
    }

    Problem<double> problem() const { return {X.get(), &graph, {1.0, 2.0, 3.0}, penalty}; }

    FixedGraph graph = small_graph();
    Penalty penalty{0.5, 3.0, 0.2};
    std::unique_ptr<DataMatrix<double>> X;
    Factors<double> factors;
};

TEST(KktResidual, IsZeroAtAStationaryPoint) {
    const StationaryPoint point(1.0);
    for (const KktResidual& residual :
         kkt_residuals(point.problem(), point.factors, BasisForm::unit_columns)) {
        EXPECT_LT(residual.H.ratio(), 1e-14);
        EXPECT_LT(residual.W.ratio(), 1e-14);
        EXPECT_GT(residual.H.size, 0.0);
    }
}

TEST(KktResidual, OfTheFreeFormSeesWhatTheUnitColumnsHide) {
    const StationaryPoint point(1.0);
    // λ₃ pulls h below the fit; a longer w would win it back.
    const KktResidual residual = sum(kkt_residuals(point.problem(), point.factors, BasisForm::free));
    EXPECT_LT(residual.H.ratio(), 1e-14);
    EXPECT_GT(residual.W.ratio(), 0.1);
}

TEST(KktResidual, OfOneEntryOffItsPlaceIsItsDistanceWeightedByItsCurvature) {
    const FixedGraph graph = small_graph();
    const DataMatrix<double> zero(Matrix(Matrix::Zero(4, 6)));
    const Problem<double> problem{&zero, &graph, {1.0}, {0.0, 0.0, 0.5}};
    Factors<double> factors{{Matrix::Constant(4, 1, 0.5)}, {Matrix::Zero(1, 6)}};
    factors.H[0](0, 3) = 0.25; // 0 is best
    const KktResidual residual = sum(kkt_residuals(problem, factors, BasisForm::unit_columns));
    EXPECT_NEAR(residual.H.moved, (1.0 + 0.5) * 0.25 * 0.25, 1e-14);
    EXPECT_NEAR(residual.H.ratio(), 1.0, 1e-14);
}

TEST(KktResidual, DoesNotDependOnTheUnitOfX) {
    constexpr double unit = 1000.0;
    const FixedGraph graph = small_graph();
    const Matrix X = test::uniform_cloud(5, 6, 1);
    const DataMatrix<double> small(X);
    const DataMatrix<double> large(Matrix(unit * X));
    const Penalty penalty{0.7, 1.3, 0.2};
    const Problem<double> problem{&small, &graph, {1.0, 2.0}, penalty};
    const Problem<double> scaled{&large, &graph, {1.0, 2.0}, penalty};
    const auto factors = test::random_factors(problem, 3, 4);
    Factors<double> scaled_factors = factors;
    for (Matrix& H : scaled_factors.H) {
        H *= unit;
    }
    for (const BasisForm form : {BasisForm::free, BasisForm::unit_columns}) {
        const auto residuals = kkt_residuals(problem, factors, form);
        const auto scaled_residuals = kkt_residuals(scaled, scaled_factors, form);
        for (std::size_t t = 0; t < residuals.size(); ++t) {
            EXPECT_NEAR(scaled_residuals[t].H.ratio(), residuals[t].H.ratio(), 1e-12);
            EXPECT_NEAR(scaled_residuals[t].W.ratio(), residuals[t].W.ratio(), 1e-12);
            EXPECT_GT(residuals[t].H.ratio(), 0.01);
            EXPECT_GT(residuals[t].W.ratio(), 0.01);
        }
    }
}

TEST(KktResidual, OfAllScalesIsTheMovementOfAllOverTheSizeOfAll) {
    const KktResidual a{{1.0, 4.0}, {0.0, 2.0}};
    const KktResidual b{{3.0, 12.0}, {1.0, 0.0}};
    const KktResidual total = sum({a, b});
    EXPECT_DOUBLE_EQ(total.H.ratio(), 0.5);
    EXPECT_DOUBLE_EQ(total.W.ratio(), std::sqrt(0.5));
    EXPECT_DOUBLE_EQ(b.W.ratio(), 1.0); // away from zero
    EXPECT_DOUBLE_EQ(Movement{}.ratio(), 0.0);
}

} // namespace
} // namespace pnmf
