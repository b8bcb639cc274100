#pragma once

#include "solvers/backend_body.hpp"
#include "support/clouds.hpp"

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/scales/scale_set.hpp>

namespace pnmf::test {

/// Cells enough for several blocks, with a graph of neighbours.
template <class Real>
BodyProblem<Real> large_problem(Index cells, bool sparse, Index rank = 4) {
    BodyProblem<Real> made;
    SparseMatrix<double> values = sparse_cloud(23, cells, 0.3, 5);
    const Points points{to_dense(values)};
    Filtration filtration = make_filtration(points, {.scales = {.max_scales = 5}, .neighbors = 4});
    made.owned.epsilon = filtration.scales.epsilon;
    made.owned.graph = std::move(filtration.graph);
    made.owned.penalty = {0.8, 0.6, 0.05};
    if (sparse) {
        SparseMatrix<Real> X{values.rows, values.cols, values.start, values.row, {}};
        X.value.assign(values.value.begin(), values.value.end());
        made.owned.X = std::make_unique<DataMatrix<Real>>(std::move(X));
    } else {
        made.owned.X = std::make_unique<DataMatrix<Real>>(DenseMatrix<Real>(to_dense(values).cast<Real>()));
    }
    made.problem = made.owned.problem();
    made.start = random_factors(made.problem, rank, 78);
    return made;
}

template <class Real>
void expect_same(const SolverState<Real>& found, const SolverState<Real>& expected) {
    EXPECT_EQ(found.current.W, expected.current.W);
    EXPECT_EQ(found.current.H, expected.current.H);
    EXPECT_EQ(found.previous.H, expected.previous.H);
    ASSERT_EQ(found.trace.size(), expected.trace.size());
    for (std::size_t s = 0; s < expected.trace.size(); ++s) {
        EXPECT_EQ(found.trace[s].fit, expected.trace[s].fit) << s;
        EXPECT_EQ(found.trace[s].graph, expected.trace[s].graph) << s;
        EXPECT_EQ(found.trace[s].smoothness, expected.trace[s].smoothness) << s;
        EXPECT_EQ(found.trace[s].anchor, expected.trace[s].anchor) << s;
    }
}

} // namespace pnmf::test
