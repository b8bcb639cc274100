#include <pnmf/solvers/memory.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

FitSize many_cells(Index ranks) {
    return {.features = 2000,
            .cells = 200000,
            .scales = 12,
            .rank = 30,
            .seeded = false,
            .edges = 200000 * 9,
            .components = 400000,
            .ranks = ranks,
            .divided = true,
            .entries = 2e7};
}

TEST(SolverMemory, OfARankIsLessTheMoreRanksThereAre) {
    const SolverMemory one = solver_memory(many_cells(1), {}, 4, 2);
    double before = 1.2 * one.total(); // two ranks keep what they work on beside what is stored
    for (const Index ranks : {2, 4, 8, 16}) {
        const SolverMemory memory = solver_memory(many_cells(ranks), {}, 4, 2);
        EXPECT_LT(memory.total(), before) << ranks;
        EXPECT_NEAR(memory.products / one.products, 1.0 / static_cast<double>(ranks), 0.1) << ranks;
        EXPECT_EQ(memory.factors, one.factors) << ranks; // H of all cells is on every rank
        before = memory.total();
    }
}

TEST(SolverMemory, OfRanksThatAllHaveASparseMatrixHasTheirCopiesOfIt) {
    FitSize size = many_cells(4);
    const double divided = solver_memory(size, {}, 4, 2).slab;
    size.divided = false;
    const double copied = solver_memory(size, {}, 4, 2).slab - divided;
    EXPECT_NEAR(copied / (2.0 * 8.0 * size.entries / 4.0), 1.0, 0.1); // by columns and by rows
}

TEST(SolverMemory, OfOneRankIsThatOfOneProcess) {
    EXPECT_EQ(solver_memory(many_cells(1), {}, 4, 2).slab, 0.0);
}

} // namespace
} // namespace pnmf
