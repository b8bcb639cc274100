#include <pnmf/error.hpp>
#include <pnmf/model/problem.hpp>

#include <cmath>

namespace pnmf {
namespace {

void check_weight(const char* name, double value) {
    require(std::isfinite(value) && value >= 0.0, "{} must be a finite number, at least 0, got {}", name,
            value);
}

template <class Real>
void check_factor(const char* name, Index t, const DenseMatrix<Real>& factor, Index rows, Index cols) {
    require(factor.rows() == rows && factor.cols() == cols, "{} of scale {} must be {} x {}, got {} x {}",
            name, t + 1, rows, cols, factor.rows(), factor.cols());
    for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
            require(std::isfinite(factor(i, j)) && factor(i, j) >= 0,
                    "{} of scale {} must hold finite values, at least 0, got {} at row {}, column {}", name,
                    t + 1, factor(i, j), i + 1, j + 1);
        }
    }
}

} // namespace

void check_penalty(const Penalty& penalty) {
    check_weight("lambda1", penalty.graph);
    check_weight("lambda2", penalty.smoothness);
    check_weight("lambda3", penalty.anchor);
}

template <class Real>
void check_problem(const Problem<Real>& problem) {
    require(problem.cells() >= 1 && problem.features() >= 1,
            "X must have at least one feature and one cell, got {} x {}", problem.features(),
            problem.cells());
    require(problem.graph->cells() == problem.cells(), "the graph must have as many cells as X, {}, got {}",
            problem.cells(), problem.graph->cells());
    require(problem.scales() >= 1, "there must be at least one scale");
    double before = 0.0;
    for (const double epsilon : problem.epsilon) {
        require(std::isfinite(epsilon) && epsilon > before,
                "scales must be positive and ascend, got {} after {}", epsilon, before);
        before = epsilon;
    }
    check_penalty(problem.penalty);
}

template <class Real>
void check_factors(const Problem<Real>& problem, const Factors<Real>& factors) {
    require(factors.scales() == problem.scales() && factors.W.size() == factors.H.size(),
            "there must be one W and one H for each of the {} scales, got {} and {}", problem.scales(),
            factors.W.size(), factors.H.size());
    require(factors.rank() >= 1, "the rank must be at least 1");
    DenseMatrix<Real> room;
    for (Index t = 0; t < problem.scales(); ++t) {
        check_factor("W", t, factors.basis(t, room), problem.features(), factors.rank());
        check_factor("H", t, factors.H[t], factors.rank(), problem.cells());
    }
}

template void check_problem(const Problem<float>&);
template void check_problem(const Problem<double>&);
template void check_factors(const Problem<float>&, const Factors<float>&);
template void check_factors(const Problem<double>&, const Factors<double>&);

} // namespace pnmf
