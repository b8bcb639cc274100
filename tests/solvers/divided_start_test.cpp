#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/solvers/initial.hpp>

#include <gtest/gtest.h>

#include <map>

/// Starts of which each rank holds X of some cells.
namespace pnmf::test {
namespace {

/// Each rank has H of the cells that it has X of.
void expect_part(const Factors<double>& found, const Factors<double>& all, const CellRange& range) {
    EXPECT_EQ(found.W, all.W);
    ASSERT_EQ(found.scales(), all.scales());
    for (std::size_t t = 0; t < all.H.size(); ++t) {
        EXPECT_EQ(found.H[t], all.H[t].middleCols(range.first, range.count)) << t;
    }
}

/// Of values that are sparse or dense; `points` are the same as a table.
template <class Values>
void expect_the_chain_of_one_process(const FiltrationOptions& options, const Values& values,
                                     const Matrix& points) {
    const Index cells = points.cols();
    const Filtration filtration = make_filtration(Points(points), options);
    const DataMatrix<double> whole(values);
    const Problem<double> problem{
        &whole, filtration.graph.get(), filtration.scales.epsilon, {0.8, 0.6, 0.05}};
    const Pair<double> pair = seed_pair(whole, 4);
    std::map<Seeding, Pair<double>> seeds;
    for (const Seeding seeding : {Seeding::nndsvda, Seeding::nndsvdar, Seeding::random}) {
        seeds[seeding] = seed_pair(whole, 4, seeding, 7);
    }
    const Factors<double> expected = chained_start(problem, pair);
    const Factors<double> broadcast = broadcast_start(problem, pair);
    const Evaluation evaluated = evaluate(problem, broadcast, BasisForm::unit_columns);
    for (const int count : {2, 3, 4}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            const CellRange range = local_range(cells, ranks[r]);
            const DataMatrix<double> X(columns_of(values, range), range);
            Problem<double> divided = problem;
            divided.X = &X;
            for (const Seeding seeding : {Seeding::nndsvda, Seeding::nndsvdar, Seeding::random}) {
                const Pair<double> one = seed_pair(X, 4, seeding, 7);
                EXPECT_EQ(one.W, seeds.at(seeding).W);
                EXPECT_EQ(one.H, seeds.at(seeding).H);
            }
            Factors<double> found = chained_start(divided, pair);
            expect_part(found, expected, range);
            // From a chain that has come to the coarsest scale.
            StartLog<double> log;
            log.from = {.scales = problem.scales(), .unchained = problem.scales() - 1};
            log.from.state.current = std::move(found);
            for (Index t = 0; t < log.from.unchained; ++t) {
                log.from.state.current.W[t].resize(0, 0);
                log.from.state.current.H[t].resize(0, 0);
            }
            expect_part(chained_start(divided, {}, 1e-3, {}, {}, std::move(log)), expected, range);
            const Factors<double> same = broadcast_start(divided, pair);
            expect_part(same, broadcast, range);
            const Evaluation judged = evaluate(divided, same, BasisForm::unit_columns);
            EXPECT_EQ(judged.objective.total(), evaluated.objective.total());
            EXPECT_EQ(objective(divided, same).total(), evaluated.objective.total());
            for (std::size_t t = 0; t < judged.residuals.size(); ++t) {
                EXPECT_EQ(judged.residuals[t].H.moved, evaluated.residuals[t].H.moved) << t;
                EXPECT_EQ(judged.residuals[t].W.moved, evaluated.residuals[t].W.moved) << t;
            }
        });
    }
}

TEST(DividedStart, AlongAGraphOfNeighboursHasTheBitsOfOneProcess) {
    const SparseMatrix<double> values = sparse_cloud(23, 5200, 0.3, 5);
    expect_the_chain_of_one_process({.scales = {.max_scales = 3}, .neighbors = 4}, values, to_dense(values));
}

TEST(DividedStart, OfDenseDataHasTheBitsOfOneProcess) {
    const Matrix values = uniform_cloud(12, 5200, 5);
    expect_the_chain_of_one_process({.scales = {.max_scales = 2}, .neighbors = 4}, values, values);
}

TEST(DividedStart, OfOneBlockOfCellsHasTheBitsOfOneProcess) {
    // All cells are on one rank, and graphs of all pairs are tables at coarse scales.
    const SparseMatrix<double> values = sparse_cloud(23, 300, 0.3, 5);
    expect_the_chain_of_one_process({.scales = {.max_scales = 3}}, values, to_dense(values));
    expect_the_chain_of_one_process({.scales = {.max_scales = 3}}, to_dense(values), to_dense(values));
}

} // namespace
} // namespace pnmf::test
