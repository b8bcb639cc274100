#include "support/problems.hpp"
#include "graphs/dense_graph.hpp"
#include "support/clouds.hpp"

#include <pnmf/linalg/random.hpp>
#include <pnmf/scales/scale_set.hpp>

namespace pnmf::test {

Matrix noisy_product(Index features, Index cells, std::uint64_t seed) {
    const Matrix W = uniform_cloud(features, 3, 3 * seed + 1);
    const Matrix H = uniform_cloud(3, cells, 3 * seed + 2);
    return W * H + 0.1 * uniform_cloud(features, cells, 3 * seed + 3);
}

template <class Real>
Matrix OwnedProblem<Real>::values() const {
    if (X->is_sparse()) {
        return to_dense(X->columns()).template cast<double>();
    }
    return X->dense().template cast<double>();
}

template <class Real>
OwnedProblem<Real> random_problem(const ProblemShape& shape, const Penalty& penalty, std::uint64_t seed) {
    OwnedProblem<Real> owned;
    Matrix X;
    if (shape.sparse) {
        const SparseMatrix<double> counts = sparse_cloud(shape.features, shape.cells, 0.4, seed);
        SparseMatrix<Real> values{counts.rows, counts.cols, counts.start, counts.row, {}};
        values.value.assign(counts.value.begin(), counts.value.end());
        owned.X = std::make_unique<DataMatrix<Real>>(std::move(values));
        X = to_dense(counts);
    } else {
        X = noisy_product(shape.features, shape.cells, seed);
        owned.X = std::make_unique<DataMatrix<Real>>(DenseMatrix<Real>(X.cast<Real>()));
    }
    const Points points(X);
    const SpanningTree tree = minimum_spanning_tree(points);
    const ScaleSet canonical = canonical_scales(tree);
    if (shape.scales == 1) {
        owned.epsilon = {canonical.epsilon[canonical.epsilon.size() / 2]};
    } else {
        owned.epsilon = thin(canonical, shape.scales).epsilon;
    }
    owned.graph = std::make_unique<DenseMultiscaleGraph>(points, tree, 1.5);
    owned.penalty = penalty;
    return owned;
}

template <class Real>
Factors<Real> random_factors(const Problem<Real>& problem, Index rank, std::uint64_t seed) {
    Random random(seed);
    const auto draw = [&] {
        const double value = random.uniform();
        return static_cast<Real>(random.below(5) == 0 ? 0.0 : value);
    };
    Factors<Real> factors;
    for (Index t = 0; t < problem.scales(); ++t) {
        factors.W.push_back(DenseMatrix<Real>::NullaryExpr(problem.features(), rank, draw));
        factors.H.push_back(DenseMatrix<Real>::NullaryExpr(rank, problem.cells(), draw));
    }
    return factors;
}

std::vector<Penalty> all_penalties() {
    return {{1.0, 1.0, 0.1}, {0.5, 20.0, 0.01}, {10.0, 0.3, 1.0}, {0.0, 1.0, 0.1},
            {1.0, 0.0, 0.1}, {1.0, 1.0, 0.0},   {0.0, 0.0, 0.0}};
}

template struct OwnedProblem<float>;
template struct OwnedProblem<double>;
template OwnedProblem<float> random_problem(const ProblemShape&, const Penalty&, std::uint64_t);
template OwnedProblem<double> random_problem(const ProblemShape&, const Penalty&, std::uint64_t);
template Factors<float> random_factors(const Problem<float>&, Index, std::uint64_t);
template Factors<double> random_factors(const Problem<double>&, Index, std::uint64_t);

} // namespace pnmf::test
