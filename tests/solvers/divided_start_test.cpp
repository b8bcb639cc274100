#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/solvers/initial.hpp>

#include <gtest/gtest.h>

/// Starts of which each rank holds X of some cells.
namespace pnmf::test {
namespace {

void expect_the_chain_of_one_process(const FiltrationOptions& options, Index cells) {
    const SparseMatrix<double> values = sparse_cloud(23, cells, 0.3, 5);
    const Filtration filtration = make_filtration(Points(to_dense(values)), options);
    const DataMatrix<double> whole(values);
    const Problem<double> problem{
        &whole, filtration.graph.get(), filtration.scales.epsilon, {0.8, 0.6, 0.05}};
    const Pair<double> pair = seed_pair(whole, 4);
    const Factors<double> expected = chained_start(problem, pair);
    for (const int count : {2, 3, 4}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            const CellRange range = share_of_rank(cells, ranks[r]);
            const DataMatrix<double> X(columns_of(values, range), range);
            Problem<double> divided = problem;
            divided.X = &X;
            const Factors<double> found = chained_start(divided, pair);
            EXPECT_EQ(found.W, expected.W);
            EXPECT_EQ(found.H, expected.H);
        });
    }
}

TEST(DividedStart, AlongAGraphOfNeighboursHasTheBitsOfOneProcess) {
    expect_the_chain_of_one_process({.scales = {.max_scales = 3}, .neighbors = 4}, 5200);
}

TEST(DividedStart, OfOneBlockOfCellsHasTheBitsOfOneProcess) {
    // All cells are on one rank, and graphs of all pairs are tables at coarse scales.
    expect_the_chain_of_one_process({.scales = {.max_scales = 3}}, 300);
}

} // namespace
} // namespace pnmf::test
