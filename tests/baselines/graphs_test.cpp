#include "graphs/fixed_graph.hpp"
#include "support/paths.hpp"

#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace pnmf {
namespace {

struct Setting {
    const char* name;
    BaselineOptions options;
};

const std::vector<Setting>& settings() {
    static const std::vector<Setting> all{
        {"gnmf", published_settings(Baseline::gnmf)},   {"gnmf", published_settings(Baseline::gnmf, true)},
        {"tnmf", published_settings(Baseline::tnmf)},   {"tnmf", published_settings(Baseline::tnmf, true)},
        {"ktnmf", published_settings(Baseline::ktnmf)},
    };
    return all;
}

/// The graph that NumPy computes from the formulas.
Matrix twin(const Matrix& X, const Setting& setting) {
    const test::TemporaryFolder folder;
    const auto cells = folder / "cells.txt";
    std::ofstream(cells) << X.transpose().format(Eigen::IOFormat(17, Eigen::DontAlignCols));
    const auto result = test::run_command(fmt::format(
        "/usr/bin/python3 {}/tests/baselines/graphs_twin.py {} {} {} {}", test::source_dir().string(),
        cells.string(), setting.name, setting.options.neighbors, fmt::join(setting.options.weights, ",")));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::istringstream in(result.out);
    Matrix A(X.cols(), X.cols());
    for (double& value : A.reshaped()) {
        in >> value;
    }
    EXPECT_TRUE(in) << "the twin printed too few numbers";
    return A; // symmetric, so the order of the entries does not matter
}

void expect_equal_to_twin(const Matrix& X) {
    const Points points(X);
    for (const Setting& setting : settings()) {
        SCOPED_TRACE(fmt::format("{}, k = {}", setting.name, setting.options.neighbors));
        const SparseMatrix<double> A = baseline_graph(points, setting.options);
        check_structure(A);
        const Matrix expected = twin(X, setting);
        EXPECT_EQ((to_dense(A) - to_dense(A).transpose()).cwiseAbs().maxCoeff(), 0.0);
        EXPECT_LT((to_dense(A) - expected).cwiseAbs().maxCoeff(), 1e-13);
        EXPECT_EQ(A.nonzeros(), (expected.array() > 0.0).count());
        EXPECT_EQ(FixedGraph(A).cells(), X.cols()); // the graph is one that a solver takes
    }
}

TEST(BaselineGraphs, EqualTheNumpyTwinOnCircles) {
    expect_equal_to_twin(simulate_circles({.seed = 1}).X);
}

TEST(BaselineGraphs, EqualTheNumpyTwinOnDendriticCells) {
    const auto folder = test::shared_data("Dendritic_batch1_HVG859");
    if (!folder) {
        GTEST_SKIP() << test::missing_data("Dendritic_batch1_HVG859");
    }
    Dataset data = read_dataset(*folder / "lognorm.mtx.gz");
    prepare(data, {.transform = Transform::none});
    expect_equal_to_twin(to_dense(std::get<SparseMatrix<double>>(data.X)));
}

TEST(BaselineGraphs, NmfHasNoEdges) {
    const SparseMatrix<double> A =
        baseline_graph(Points(simulate_circles().X), published_settings(Baseline::nmf));
    check_structure(A);
    EXPECT_EQ(A.cols, 80);
    EXPECT_EQ(A.nonzeros(), 0);
}

TEST(BaselineGraphs, EqualCellsHaveWeightOne) {
    const Points points(Matrix(Matrix::Ones(3, 30)));
    const SparseMatrix<double> A = baseline_graph(points, {.method = Baseline::gnmf, .neighbors = 3});
    for (const double weight : A.value) {
        EXPECT_EQ(weight, 1.0);
    }
}

TEST(BaselineGraphs, OptionsThatCannotBeAreRejected) {
    const Points points(simulate_circles({.points = 3}).X);
    EXPECT_THROW(baseline_graph(points, {.method = Baseline::gnmf, .neighbors = 12}), InputError);
    EXPECT_THROW(baseline_graph(points, {.method = Baseline::tnmf, .neighbors = 3, .weights = {0.0, 0.0}}),
                 InputError);
    EXPECT_THROW(baseline_graph(points, {.method = Baseline::ktnmf, .weights = {-1.0, 2.0}}), InputError);
    EXPECT_THROW(baseline_graph(points, {.method = Baseline::gnmf, .alpha = 0.0}), InputError);
}

} // namespace
} // namespace pnmf
