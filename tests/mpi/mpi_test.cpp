#include "cells/graphs/local_filtration.hpp"
#include "mpi/mpi_ranks.hpp"
#include "solvers/device.hpp"
#include "solvers/method.hpp"
#include "support/clouds.hpp"
#include "support/problems.hpp"

#include <pnmf/assess/assess.hpp>
#include <pnmf/graphs/filtration.hpp>
#include <pnmf/solvers/solver.hpp>

#include <gtest/gtest.h>

#include <numeric>

/// Run by mpirun, on every rank: what the tests with threads as ranks say must hold for MPI too.
namespace pnmf::test {
namespace {

MpiRanks* mpi = nullptr;

TEST(MpiRanks, BringMessagesInPiecesThatAreLongerThanAPiece) {
    Processes& ranks = mpi->processes();
    const int size = ranks.count();
    std::vector<Index> counts;
    for (int r = 0; r < size; ++r) {
        counts.push_back(3 * r + (r == 1 ? 0 : 200)); // not multiples of a piece
    }
    std::vector<double> mine(static_cast<std::size_t>(counts[ranks.place()]));
    std::iota(mine.begin(), mine.end(), 1000.0 * ranks.place());
    const auto sent = ranks.bytes_sent();
    const std::vector<double> all = gather_to_all<double>(ranks, mine, counts);
    EXPECT_EQ(ranks.bytes_sent() - sent, (size - 1) * counts[ranks.place()] * 8);
    std::size_t at = 0;
    for (int r = 0; r < size; ++r) {
        for (Index i = 0; i < counts[r]; ++i) {
            ASSERT_EQ(all[at++], 1000.0 * r + static_cast<double>(i));
        }
    }
    EXPECT_EQ(at, all.size());
    double value = ranks.place() + 0.5;
    broadcast(ranks, std::span(&value, 1), size - 1);
    EXPECT_EQ(value, size - 0.5);
    EXPECT_EQ(sum_of(ranks, 1.0), size);
    EXPECT_EQ(most_of(ranks, ranks.place()), size - 1);
    EXPECT_EQ(ranks.count_here(), size);
    EXPECT_EQ(ranks.place_here(), ranks.place());
}

TEST(MpiRanks, HaveTheBitsOfOneProcess) {
    constexpr Index cells = 5200; // eight blocks
    const SparseMatrix<double> values = sparse_cloud(23, cells, 0.3, 5);
    const Filtration filtration =
        make_filtration(Points(to_dense(values)), {.scales = {.max_scales = 5}, .neighbors = 4});
    const DataMatrix<double> X(values);
    const Problem<double> problem{&X, filtration.graph.get(), filtration.scales.epsilon, {0.8, 0.6, 0.05}};
    const Factors<double> start = random_factors(problem, 4, 78);
    const SolverOptions options{.tolerance = 0.0, .max_sweeps = 4};
    auto expected = start_solver(problem, options, start);
    run_solver(problem, options, expected);
    const ProcessesScope scope(mpi->processes());
    auto found = start_solver(problem, options, start);
    run_solver(problem, options, found);
    EXPECT_EQ(found.current.W, expected.current.W);
    EXPECT_EQ(found.current.H, expected.current.H);
    ASSERT_EQ(found.trace.size(), expected.trace.size());
    for (std::size_t s = 0; s < expected.trace.size(); ++s) {
        EXPECT_EQ(found.trace[s].total(), expected.trace[s].total()) << s;
    }
}

TEST(MpiRanks, FindTheTreeScalesAndGraphOfOneProcess) {
    const Matrix X = lattice_cloud(6, 1300, 4, 2); // many equal distances
    const Points points(X);
    for (const auto search : {NeighborSearch::exact, NeighborSearch::clustered}) {
        const FiltrationOptions options{.neighbors = 5, .search = search};
        const Filtration expected = make_filtration(points, options);
        const auto expect_equal = [&](const Filtration& found) {
            EXPECT_EQ(found.tree.edges, expected.tree.edges);
            EXPECT_EQ(found.scales.epsilon, expected.scales.epsilon);
            EXPECT_EQ(found.neighbors->edges, expected.neighbors->edges);
            EXPECT_EQ(found.neighbors->recall, expected.neighbors->recall);
        };
        Processes& ranks = mpi->processes();
        const ProcessesScope scope(ranks);
        expect_equal(make_filtration(points, options));
        // The same with its own points on each rank, in whole blocks of 256.
        const auto first = [&](int r) {
            return r == ranks.count() ? 1300 : 1300 * r / ranks.count() / 256 * 256;
        };
        const CellRange part{first(ranks.place()), first(ranks.place() + 1) - first(ranks.place()), 1300};
        const Matrix mine = X.middleCols(part.first, part.count);
        expect_equal(local_filtration(DividedPoints(DataView(view_of(mine)), part, ranks), options, 0));
        const SparseMatrix<double> sparse = to_sparse(mine); // distances have the same bits
        if (search == NeighborSearch::exact) {
            expect_equal(local_filtration(DividedPoints(DataView(view_of(sparse)), part, ranks), options, 0));
        }
    }
}

TEST(MpiRanks, AssessAsOneProcessDoes) {
    const auto embedding = [](Index t) { return uniform_cloud(4, 150, static_cast<std::uint64_t>(t)); };
    const NeighborLists graph =
        symmetric_lists(150, neighbor_edges(Points(embedding(0)), {.neighbors = 5}).edges);
    const AssessOptions options{.graph = &graph, .probed_cells = 80, .resamples = 2};
    const Assessment expected = assess_scales(4, embedding, {}, {}, options);
    const ProcessesScope scope(mpi->processes());
    const Assessment found = assess_scales(4, embedding, {}, {}, options);
    EXPECT_EQ(found.clusters, expected.clusters);
    EXPECT_EQ(found.recommended, expected.recommended);
    ASSERT_EQ(found.resolutions.all.size(), expected.resolutions.all.size());
    for (std::size_t r = 0; r < expected.resolutions.all.size(); ++r) {
        EXPECT_EQ(found.resolutions.all[r].labels, expected.resolutions.all[r].labels);
        EXPECT_EQ(found.resolutions.all[r].stability, expected.resolutions.all[r].stability);
        EXPECT_EQ(found.resolutions.all[r].agreement, expected.resolutions.all[r].agreement);
    }
}

} // namespace
} // namespace pnmf::test

int main(int argc, char** argv) {
    pnmf::MpiRanks ranks(1000); // bytes: nearly every message travels in pieces
    pnmf::test::mpi = &ranks;
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
