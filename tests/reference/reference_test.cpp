#include "io/mat.hpp"
#include "support/paths.hpp"

#include <pnmf/io/dataset.hpp>
#include <pnmf/simulate/simulate.hpp>
#include <pnmf/solvers/fit.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace pnmf {
namespace {

/// The published protocol as the oracle runs it, and the state it ends in.
SolverState<double> run_protocol(const DataValues& X, Index rank, const Penalty& penalty, Index sweeps) {
    FitOptions options{.rank = rank, .penalty = penalty};
    options.solver.algorithm = Algorithm::reference;
    options.solver.max_sweeps = sweeps;
    const auto prepared = prepare_fit<double>(X, options);
    const Problem<double> problem = prepared.problem();
    auto state = start_solver(problem, options.solver, make_start(prepared));
    run_solver(problem, options.solver, state);
    return state;
}

nlohmann::json oracle(const char* name) {
    return nlohmann::json::parse(std::ifstream(test::source_dir() / "tests" / "reference" / name));
}

/// max |H − expected| over the largest entry.
double difference(const Matrix& H, const Matrix& expected) {
    return (H - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

void expect_same_objectives(const std::vector<Objective>& trace, const std::vector<double>& expected,
                            double slack) {
    ASSERT_EQ(trace.size(), expected.size());
    for (std::size_t s = 0; s < expected.size(); ++s) {
        EXPECT_NEAR(trace[s].total() / expected[s], 1.0, slack) << "sweep " << s;
    }
}

void expect_oracle(const SolverState<double>& state, const nlohmann::json& fixture, double slack) {
    expect_same_objectives(state.trace, fixture["objective"], slack);
    std::vector<Index> inner_steps;
    for (const auto& sweep : fixture["inner steps"]) {
        inner_steps.insert(inner_steps.end(), sweep.begin(), sweep.end());
    }
    EXPECT_EQ(state.inner_steps, inner_steps);
    const Index step = fixture["cell step"];
    for (const auto& [t, values] : fixture["H"].items()) {
        const auto numbers = values.get<std::vector<double>>();
        const Matrix H = state.current.H.at(std::stoul(t))(Eigen::all, Eigen::seq(0, Eigen::last, step));
        ASSERT_EQ(H.size(), static_cast<Index>(numbers.size()));
        EXPECT_LT(difference(H, Eigen::Map<const Matrix>(numbers.data(), H.rows(), H.cols())), slack)
            << "scale " << t;
    }
}

TEST(Reference, HasTheIteratesOfTheOracleOnSimulatedCircles) {
    const nlohmann::json fixture = oracle("circles_oracle.json");
    const Matrix X = simulate_circles({.points = 6, .noise_dimensions = 17, .seed = 3}).X;
    ASSERT_NEAR(X.sum() / fixture["sum of X"].get<double>(), 1.0, 1e-14) << "the generator has changed";
    expect_oracle(run_protocol(X, 2, {100.0, 100.0, 1.0}, 10), fixture, 1e-8);
}

TEST(Reference, GivesThePublishedEmbeddingsOfTheCircles) {
    const auto folder = test::shared_data("circles");
    if (!folder) {
        GTEST_SKIP() << test::missing_data("circles");
    }
    const MatArray input = read_mat_array(*folder / "input.mat", "X"); // cells × features
    const Matrix X =
        Eigen::Map<const Matrix>(input.values.data(), input.shape[0], input.shape[1]).transpose();
    const SolverState<double> state = run_protocol(X, 2, {100.0, 100.0, 1.0}, 10);

    const MatArray published = read_mat_array(*folder / "published_embeddings.mat", "pNMF");
    ASSERT_EQ(published.shape, (std::vector<Index>{80, 2, 80})); // scales × rank × cells
    double largest = 0.0;
    double farthest = 0.0;
    for (Index t = 0; t < 80; ++t) {
        for (Index k = 0; k < 2; ++k) {
            for (Index j = 0; j < 80; ++j) {
                const double value = published.values[static_cast<std::size_t>(t + 80 * (k + 2 * j))];
                largest = std::max(largest, value);
                farthest = std::max(farthest, std::abs(state.current.H[t](k, j) - value));
            }
        }
    }
    EXPECT_LT(farthest, 1e-8 * largest);
    expect_same_objectives(state.trace,
                           {53943886.46110807, 50264219.58977631, 50017074.58971084, 49646603.67007528,
                            49727607.99842178, 49555488.75421366, 49532599.04960945, 49446458.28539473,
                            49448174.11281114, 49392727.74771863, 49388445.03006252},
                           1e-12);
}

TEST(Reference, HasTheIteratesOfTheOracleOnDendriticCells) {
    constexpr const char* name = "Dendritic_batch1_HVG859";
    const auto folder = test::shared_data(name);
    if (!folder) {
        GTEST_SKIP() << test::missing_data(name);
    }
    const nlohmann::json fixture = oracle("dendritic_oracle.json");
    Dataset data = read_dataset(*folder / "lognorm.mtx.gz");
    prepare(data, {}); // drops the genes without counts
    Matrix X = to_dense(std::get<SparseMatrix<double>>(data.X));
    X.colwise().normalize();
    ASSERT_NEAR(X.sum() / fixture["sum of X"].get<double>(), 1.0, 1e-12);
    expect_oracle(run_protocol(X, 17, {1.0, 1.0, 1.0}, 2), fixture, 1e-6);
}

} // namespace
} // namespace pnmf
