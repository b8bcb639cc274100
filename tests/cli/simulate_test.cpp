#include "support/paths.hpp"

#include <pnmf/io/dataset.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

using test::run_command;

TEST(Simulate, CirclesReadBackAsTheLibraryMadeThem) {
    const test::TemporaryFolder folder;
    const auto file = folder / "circles.csv.gz";
    const auto result =
        run_command(test::program().string() + " simulate circles --seed 4 --points 7 -o " + file.string());
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Dataset data = read_dataset(file);
    const Simulated expected = simulate_circles({.points = 7, .seed = 4});
    EXPECT_EQ(std::get<Matrix>(data.X), expected.X);
    EXPECT_EQ(relabel(read_labels((folder / "circles_cells.tsv").string() + ":label", data)),
              expected.labels);
}

TEST(Simulate, CirclesInH5adCarryTheirLabels) {
    const test::TemporaryFolder folder;
    const auto file = folder / "circles.h5ad";
    const auto result = run_command(test::program().string() + " simulate circles -o " + file.string());
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Dataset data = read_dataset(file);
    EXPECT_EQ(std::get<Matrix>(data.X), simulate_circles().X);
    EXPECT_EQ(relabel(read_labels("label", data)), simulate_circles().labels);
    EXPECT_EQ(data.feature_names.at(3), "noise1");
}

TEST(Simulate, CellsReadBackAsTheLibraryMadeThemFromFolderAndFile) {
    const test::TemporaryFolder folder;
    const std::string command = test::program().string() +
                                " simulate cells --cells 1300 --genes 40 --types 3 --depth 20 --seed 5 -o ";
    const CellModel model =
        make_cell_model({.cells = 1300, .genes = 40, .types = 3, .depth = 20.0, .seed = 5});
    const SimulatedCells expected = simulate_cells(model, 0, 1300);
    for (const char* name : {"folder", "a_matrix.mtx", "b_matrix.mtx.gz", "cells.h5ad"}) {
        SCOPED_TRACE(name);
        const auto result = run_command(command + (folder / name).string());
        ASSERT_EQ(result.exit_code, 0) << result.err;
        const Dataset data = read_dataset(folder / name);
        const auto& X = std::get<SparseMatrix<double>>(data.X);
        EXPECT_EQ(X.start, expected.counts.start);
        EXPECT_EQ(X.row, expected.counts.row);
        EXPECT_EQ(X.value, expected.counts.value);
        EXPECT_EQ(data.feature_names.at(39), "gene40");
        EXPECT_EQ(relabel(read_labels("label", data)), relabel(expected.types));
    }
}

TEST(Simulate, ScipyReadsCompressedCountsWrittenInBlocks) {
    const test::TemporaryFolder folder;
    const std::string file = (folder / "cells.mtx.gz").string();
    const std::string write =
        test::program().string() + " simulate cells --cells 6000 --genes 30 --depth 10 -o " + file;
    ASSERT_EQ(run_command(write).exit_code, 0);
    const auto sum = run_command("/usr/bin/python3 -c \"import scipy.io; X = scipy.io.mmread('" + file +
                                 "'); print(X.shape, X.nnz, int(X.sum()))\"");
    ASSERT_EQ(sum.exit_code, 0) << sum.err;
    const CellModel model = make_cell_model({.cells = 6000, .genes = 30, .depth = 10.0});
    const SparseMatrix<double> counts = simulate_cells(model, 0, 6000).counts;
    double total = 0.0;
    for (const double value : counts.value) {
        total += value;
    }
    EXPECT_EQ(sum.out, "(30, 6000) " + std::to_string(counts.nonzeros()) + " " +
                           std::to_string(static_cast<Index>(total)) + "\n");
}

TEST(Simulate, BadOptionsEndWithCode2AndWriteNothing) {
    const test::TemporaryFolder folder;
    const std::string program = test::program().string();
    EXPECT_EQ(run_command(program + " simulate circles -o " + (folder / "a.xyz").string()).exit_code, 2);
    EXPECT_EQ(
        run_command(program + " simulate circles --radii 1,-2 -o " + (folder / "a.csv").string()).exit_code,
        2);
    EXPECT_EQ(run_command(program + " simulate cells --depth 0 -o " + (folder / "out").string()).exit_code,
              2);
    EXPECT_EQ(run_command(program + " simulate").exit_code, 2);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

} // namespace
} // namespace pnmf
