#include "solvers/prepare_local.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/solvers/fit.hpp>

#include <gtest/gtest.h>

/// Fits of more cells than one block: they work on their cells in another order (`FitOrder`).
namespace pnmf::test {
namespace {

constexpr Index cells = 5200;
const FitOptions options{.rank = 3,
                         .penalty = {0.8, 0.6, 0.05},
                         .filtration = {.scales = {.max_scales = 3}, .neighbors = 4},
                         .solver = {.max_sweeps = 3}};

/// The result must be a factorisation of X as it was given, cell by cell: its objective and residuals, which
/// the solver found in its own order, are those of the problem in the order of the data.
template <class Values>
void expect_the_order_of_the_data(const Values& values) {
    const DataValues X = values;
    const auto result = fit<double>(X, options);
    const DataMatrix<double> data(values);
    const Matrix points = [&] {
        if constexpr (std::is_same_v<Values, Matrix>) {
            return values;
        } else {
            return to_dense(values);
        }
    }();
    const Filtration filtration = make_filtration(Points(points), options.filtration);
    const auto kept = prepare_fit<double>(X, options).problem(); // its cells are in another order
    const Problem<double> problem{
        &data,       filtration.graph.get(), filtration.scales.epsilon, options.penalty,
        kept.weight, kept.smoothness};
    const Evaluation found = evaluate(problem, result.factors, BasisForm::unit_columns);
    EXPECT_NEAR(found.objective.total() / result.trace.back().total(), 1.0, 1e-10);
    ASSERT_EQ(found.residuals.size(), result.residuals.size());
    for (std::size_t t = 0; t < found.residuals.size(); ++t) {
        EXPECT_NEAR(found.residuals[t].H.moved / result.residuals[t].H.moved, 1.0, 1e-6) << t;
    }
    const auto prepared = prepare_fit<double>(X, options);
    ASSERT_FALSE(prepared.order.empty());
    EXPECT_EQ(prepared.tree->edges, filtration.tree.edges); // that of the data
    Factors<double> wrong = result.factors;                 // would it have been seen?
    wrong.H.front().col(0).swap(wrong.H.front().col(1));
    EXPECT_GT(objective(problem, wrong).total(), found.objective.total() * (1.0 + 1e-7));
}

TEST(FitOrder, SparseDataComeBackInTheirOwnOrder) {
    expect_the_order_of_the_data(sparse_cloud(23, cells, 0.3, 5));
}

TEST(FitOrder, DenseDataComeBackInTheirOwnOrder) {
    expect_the_order_of_the_data(to_dense(sparse_cloud(23, cells, 0.3, 5)));
}

TEST(FitOrder, SmallDataAndPublishedProtocolsKeepTheirOrder) {
    const DataValues small = sparse_cloud(23, 300, 0.3, 5);
    EXPECT_TRUE(prepare_fit<double>(small, options).order.empty());
    const DataValues large = sparse_cloud(23, cells, 0.3, 5);
    FitOptions reference = options;
    reference.solver.algorithm = Algorithm::reference;
    EXPECT_TRUE(prepare_fit<double>(large, reference).order.empty());
}

TEST(FitOrder, RanksHaveTheBitsOfOneProcess) {
    const SparseMatrix<double> values = sparse_cloud(23, cells, 0.3, 5);
    const Matrix space = uniform_cloud(3, cells, 8);
    const auto alone = fit<float>(view_of(values), Points(space), options);
    for (const int count : {2, 3}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            const CellRange range = local_range(cells, ranks[r]);
            const SparseMatrix<double> part = columns_of(values, range);
            const Matrix points = space.middleCols(range.first, range.count);
            const auto prepared =
                prepare_local_fit<float>(DataView(view_of(part)), DataView(view_of(points)), range, options);
            auto state = start_solver(prepared.problem(), prepared.options.solver, make_start(prepared));
            const Stop stop = run_solver(prepared.problem(), prepared.options.solver, state);
            const auto found = finish_fit(prepared, std::move(state), stop);
            for (std::size_t t = 0; t < alone.factors.H.size(); ++t) {
                EXPECT_EQ(found.factors.W[t], alone.factors.W[t]) << t;
                EXPECT_EQ(found.factors.H[t], alone.factors.H[t].middleCols(range.first, range.count)) << t;
            }
        });
    }
}

} // namespace
} // namespace pnmf::test
