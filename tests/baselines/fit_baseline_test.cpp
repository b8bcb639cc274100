#include "support/paths.hpp"

#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace pnmf {
namespace {

const std::vector<Baseline>& methods() {
    static const std::vector<Baseline> all{Baseline::nmf, Baseline::gnmf, Baseline::tnmf, Baseline::ktnmf};
    return all;
}

std::optional<Matrix> dendritic_cells() {
    const auto folder = test::shared_data("Dendritic_batch1_HVG859");
    if (!folder) {
        return std::nullopt;
    }
    Dataset data = read_dataset(*folder / "lognorm.mtx.gz");
    prepare(data, {.transform = Transform::none});
    return to_dense(std::get<SparseMatrix<double>>(data.X));
}

void write(const std::filesystem::path& path, const Matrix& matrix) {
    std::ofstream(path) << matrix.format(Eigen::IOFormat(17, Eigen::DontAlignCols));
}

/// What solve_twin.py prints for a task on X.
std::istringstream twin(const test::TemporaryFolder& folder, const std::string& task, const Matrix& X,
                        const BaselineOptions& options, const std::string& rest) {
    write(folder / "cells.txt", X.transpose());
    const std::string weights =
        options.weights.empty() ? "-" : fmt::format("{}", fmt::join(options.weights, ","));
    const auto result = test::run_command(
        fmt::format("/usr/bin/python3 {}/tests/baselines/solve_twin.py {} {} {} {} {} {} {}",
                    test::source_dir().string(), task, (folder / "cells.txt").string(),
                    name_of(options.method), options.neighbors, weights, options.lambda, rest));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return std::istringstream(result.out);
}

void expect_published_protocol(const Matrix& X, Index rank, double slack) {
    for (const Baseline method : methods()) {
        SCOPED_TRACE(name_of(method));
        BaselineFitOptions options = published_fit(method);
        options.rank = rank;
        const auto result = fit_baseline<double>(X, options);
        const test::TemporaryFolder folder;
        auto expected = twin(folder, "solve", X, options.graph, std::to_string(rank));
        Index steps = 0;
        expected >> steps;
        ASSERT_EQ(std::ssize(result.trace) - 1, steps);
        for (const Objective& objective : result.trace) {
            double loss = 0.0;
            expected >> loss;
            EXPECT_NEAR(objective.total() / loss, 1.0, slack);
        }
        Matrix H(rank, X.cols());
        for (double& value : H.reshaped()) {
            expected >> value;
        }
        ASSERT_TRUE(expected) << "the twin printed too few numbers";
        EXPECT_LT((result.factors.H[0] - H).cwiseAbs().maxCoeff(), slack * H.maxCoeff());
    }
}

TEST(Baselines, PublishedProtocolEqualsTheNumpyTwinOnCircles) {
    expect_published_protocol(simulate_circles({.seed = 1}).X, 2, 1e-9);
}

TEST(Baselines, PublishedProtocolEqualsTheNumpyTwinOnDendriticCells) {
    const auto X = dendritic_cells();
    if (!X) {
        GTEST_SKIP() << test::missing_data("Dendritic_batch1_HVG859");
    }
    expect_published_protocol(*X, 17, 1e-7);
}

/// The descent ends where NumPy, too, finds no direction to go, and below the published protocol.
void expect_stationary(const Matrix& X, Index rank) {
    for (const Baseline method : methods()) {
        SCOPED_TRACE(name_of(method));
        BaselineFitOptions options{
            .graph = published_settings(method), .rank = rank, .tolerance = 1e-6, .max_steps = 20'000};
        const auto result = fit_baseline<double>(X, options);
        EXPECT_EQ(result.stop, Stop::converged);
        for (std::size_t s = 1; s < result.trace.size(); ++s) {
            EXPECT_LE(result.trace[s].total(), result.trace[s - 1].total() * (1.0 + 1e-12));
        }
        const test::TemporaryFolder folder;
        write(folder / "W.txt", result.factors.W[0]);
        write(folder / "H.txt", result.factors.H[0]);
        double loss = 0.0;
        double of_H = 0.0;
        double of_W = 0.0;
        twin(folder, "check", X, options.graph,
             (folder / "W.txt").string() + " " + (folder / "H.txt").string()) >>
            loss >> of_H >> of_W;
        EXPECT_NEAR(result.trace.back().total() / loss, 1.0, 1e-10);
        EXPECT_LT(of_H, 1e-4);
        EXPECT_LT(of_W, 1e-4);

        BaselineFitOptions published = published_fit(method);
        published.rank = rank;
        EXPECT_LT(loss, fit_baseline<double>(X, published).trace.back().total());
    }
}

TEST(Baselines, DescentEndsAtAStationaryPointOfTheNumpyTwinOnCircles) {
    expect_stationary(simulate_circles({.seed = 1}).X, 2);
}

TEST(Baselines, DescentEndsAtAStationaryPointOfTheNumpyTwinOnDendriticCells) {
    const auto X = dendritic_cells();
    if (!X) {
        GTEST_SKIP() << test::missing_data("Dendritic_batch1_HVG859");
    }
    expect_stationary(*X, 4);
}

/// Objectives around the rescaling of each step.
struct Rescaling {
    std::vector<double> before;
    std::vector<double> after;
};

Rescaling watch_rescaling(const Matrix& X, BaselineFitOptions options) {
    Rescaling seen;
    fit_baseline<double>(
        X, options,
        {.sweep =
             [&](const SweepReport& report) {
                 seen.after.push_back(report.objective.total());
                 return true;
             },
         .step = [&](const StepReport& report) { seen.before.push_back(report.objective); }});
    return seen;
}

TEST(Baselines, AMultiplicativeStepNeverRaisesTheObjectiveBeforeItsRescaling) {
    for (const Baseline method : methods()) {
        for (const double lambda : {0.1, 1.0, 100.0}) {
            BaselineFitOptions options = published_fit(method);
            options.graph.lambda = lambda;
            options.rank = 2;
            options.tolerance = 0.0;
            options.max_steps = 200;
            const Rescaling seen = watch_rescaling(simulate_circles({.seed = 1}).X, options);
            ASSERT_EQ(seen.before.size(), 200U);
            for (std::size_t s = 1; s < seen.before.size(); ++s) {
                ASSERT_LE(seen.before[s], seen.after[s - 1] * (1.0 + 1e-12))
                    << name_of(method) << ", lambda " << lambda << ", step " << s;
            }
        }
    }
}

TEST(Baselines, RescalingKeepsTheFitAndMayRaiseTheGraphTerm) {
    BaselineFitOptions options = published_fit(Baseline::gnmf);
    options.graph.lambda = 100.0;
    options.rank = 2;
    options.max_steps = 50;
    options.tolerance = 0.0;
    const Rescaling seen = watch_rescaling(simulate_circles({.seed = 1}).X, options);
    Index raised = 0;
    for (std::size_t s = 0; s < seen.before.size(); ++s) {
        raised += seen.after[s] > seen.before[s] ? 1 : 0;
    }
    EXPECT_GT(raised, 0);

    options.graph = published_settings(Baseline::nmf); // without a graph it changes nothing
    const Rescaling plain = watch_rescaling(simulate_circles({.seed = 1}).X, options);
    for (std::size_t s = 0; s < plain.before.size(); ++s) {
        EXPECT_NEAR(plain.after[s] / plain.before[s], 1.0, 1e-9);
    }
}

TEST(Baselines, StorageDoesNotMatter) {
    const Matrix X = simulate_circles({.seed = 2}).X;
    Triplets<double> entries;
    for (Index j = 0; j < X.cols(); ++j) {
        for (Index i = 0; i < X.rows(); ++i) {
            entries.row.push_back(static_cast<std::int32_t>(i));
            entries.col.push_back(static_cast<std::int32_t>(j));
            entries.value.push_back(X(i, j));
        }
    }
    const BaselineFitOptions options{.graph = published_settings(Baseline::ktnmf), .rank = 3};
    const double dense = fit_baseline<double>(X, options).trace.back().total();
    const double sparse =
        fit_baseline<double>(to_columns(X.rows(), X.cols(), entries), options).trace.back().total();
    EXPECT_NEAR(sparse / dense, 1.0, 1e-6);
}

TEST(Baselines, OtherPointsMakeTheGraphWhileXIsFactorised) {
    const Matrix X = simulate_circles({.seed = 2}).X;
    const Matrix line = Vector::LinSpaced(X.cols(), 1.0, 2.0).array().square().matrix().transpose();
    BaselineFitOptions options{.graph = published_settings(Baseline::gnmf), .rank = 3};
    options.graph.neighbors = 1;
    const DataValues values = X;
    const auto own = prepare_baseline<double>(view_of(values), options);
    const auto same = prepare_baseline<double>(view_of(values), Points(X), options);
    const auto other = prepare_baseline<double>(view_of(values), Points(line), options);
    EXPECT_EQ(solve_baseline(same, options).factors.H[0], solve_baseline(own, options).factors.H[0]);
    EXPECT_EQ(other.X->cells(), X.cols());
    EXPECT_EQ(other.graph->at(no_threshold)->edges(), X.cols() - 1) << "each cell with the one before";
    EXPECT_NE(other.graph->at(no_threshold)->edges(), own.graph->at(no_threshold)->edges());
    EXPECT_THROW(prepare_baseline<double>(view_of(values), Points(Matrix(line.leftCols(5))), options),
                 InputError);
}

TEST(Baselines, OptionsThatCannotBeAreRejected) {
    const Matrix X = simulate_circles({.points = 3}).X;
    EXPECT_THROW(fit_baseline<double>(X, {.graph = {.lambda = -1.0}}), InputError);
    EXPECT_THROW(fit_baseline<double>(X, {.rank = 0}), InputError);
    EXPECT_THROW(fit_baseline<double>(X, {.tolerance = std::nan("")}), InputError);
    EXPECT_THROW(fit_baseline<double>(X, {.max_steps = -1}), InputError);
    EXPECT_THROW(fit_baseline<double>(Matrix(-X), {}), InputError);
}

} // namespace
} // namespace pnmf
