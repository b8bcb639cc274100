#include <pnmf/solvers/memory_plan.hpp>

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
            .processes = ranks,
            .local = true,
            .entries = 2e7};
}

TEST(SolverMemory, OfARankIsLessTheMoreRanksThereAre) {
    const SolverMemory one = solver_memory(many_cells(1), {}, 4, 2);
    const double bases = 12 * 2000 * 30 * 4; // W is on every rank
    double before = one.total();
    for (const Index ranks : {2, 4, 8, 16}) {
        const SolverMemory memory = solver_memory(many_cells(ranks), {}, 4, 2);
        const double share = 1.0 / static_cast<double>(ranks);
        EXPECT_LT(memory.total(), before) << ranks;
        EXPECT_NEAR(memory.products / one.products, share, 0.1 * share) << ranks;
        EXPECT_NEAR((memory.factors - bases) / (one.factors - bases), share, 0.1 * share) << ranks;
        EXPECT_EQ(memory.before, memory.factors) << ranks;
        before = memory.total();
    }
}

TEST(SolverMemory, OfRanksThatHaveAllOfXHasHOfAllCells) {
    FitSize size = many_cells(4);
    size.local = false;
    EXPECT_EQ(solver_memory(size, {}, 4, 2).factors, solver_memory(many_cells(1), {}, 4, 2).factors);
}

TEST(SolverMemory, OfRanksThatAllHaveASparseMatrixHasTheirCopiesOfIt) {
    FitSize size = many_cells(4);
    EXPECT_EQ(solver_memory(size, {}, 4, 2).slab, 0.0); // divided: worked on in place
    size.local = false;
    const double sparse = solver_memory(size, {}, 4, 2).slab;
    size.dense = true;
    const double copied = sparse - solver_memory(size, {}, 4, 2).slab;
    EXPECT_NEAR(copied / (2.0 * 8.0 * size.entries / 4.0), 1.0, 0.1); // by columns and by rows
}

TEST(SolverMemory, OfADeviceHasTheFactorsHereAndLittleElse) {
    SolverOptions options;
    const SolverMemory here = solver_memory(many_cells(1), options, 4, 2);
    options.device = Device::cuda;
    const SolverMemory there = solver_memory(many_cells(1), options, 4, 2);
    EXPECT_EQ(there.factors, here.factors);
    EXPECT_EQ(there.before + there.products + there.shifts, 0.0);
    EXPECT_LT(there.total(), 0.5 * here.total());
}

TEST(SolverMemory, OfOneRankIsThatOfOneProcess) {
    EXPECT_EQ(solver_memory(many_cells(1), {}, 4, 2).slab, 0.0);
}

} // namespace
} // namespace pnmf
