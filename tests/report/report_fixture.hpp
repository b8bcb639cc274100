#pragma once

#include "support/paths.hpp"

#include <pnmf/io/h5ad.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

namespace pnmf::report {

/// A small result in a file, with and without a tissue.
class Report : public ::testing::Test {
  protected:
    void SetUp() override {
        const Simulated circles = simulate_circles({.points = 4, .noise_dimensions = 6, .seed = 3});
        data_.X = circles.X;
        std::vector<std::string> labels;
        for (Index i = 0; i < data_.features(); ++i) {
            data_.feature_names.push_back("gene" + std::to_string(i));
        }
        for (Index j = 0; j < data_.cells(); ++j) {
            data_.cell_names.push_back("cell" + std::to_string(j));
            labels.push_back("ring" + std::to_string(circles.labels[j]));
        }
        data_.cell_table.push_back({.name = "label", .values = labels, .categorical = true});
    }

    /// Fits, writes, and returns the path of the result.
    std::filesystem::path fitted(Index rank = 3, bool save_basis = false) {
        prepared_ = prepare_fit<double>(data_.X, {.rank = rank});
        const PreparedFit<double>& prepared = prepared_;
        SolverState<double> state =
            start_solver(prepared.problem(), prepared.options.solver, make_start(prepared));
        const Stop stop = run_solver(prepared.problem(), prepared.options.solver, state);
        result_ = finish_fit(prepared, std::move(state), stop);
        const auto path = folder_ / "result.h5ad";
        assessment_ = assess_fit(prepared, result_);
        write_result(path, data_, prepared, result_, assessment_, {.save_basis = save_basis});
        return path;
    }
    /// The same with domains, halves that are called the other way round at odd scales; with what `kept` has.
    std::filesystem::path fitted_tissue(const Matrix& places, const std::filesystem::path& kept = {}) {
        const Index n = data_.cells();
        data_.space = Space{.name = "obsm:spatial", .coordinates = places};
        data_.space->downwards = true;
        const auto path = fitted();
        Domains domains;
        domains.count = 2;
        domains.scale = 1;
        for (Index t = 0; t < result_.factors.scales(); ++t) {
            std::vector<Index> labels;
            for (Index j = 0; j < n; ++j) {
                labels.push_back((j < n / 2 ? 0 : 1) ^ (t % 2));
            }
            domains.labels.push_back(labels);
            domains.neighbors.push_back(static_cast<double>(t));
            domains.distinct.push_back(1.0);
            domains.coherence.push_back(1.0);
        }
        domains.moran = Matrix::Zero(result_.factors.scales(), 3);
        write_result(path, data_, prepared_, result_, assessment_, {.domains = &domains, .kept_from = kept});
        return path;
    }
    /// The result in a file, kept until the test ends.
    const StoredResult* stored(const std::filesystem::path& path) {
        return &held_.emplace_back(read_stored_result(path));
    }

    test::TemporaryFolder folder_;
    std::deque<StoredResult> held_;
    Dataset data_;
    PreparedFit<double> prepared_;
    FitResult<double> result_;
    Assessment assessment_;
};

} // namespace pnmf::report
