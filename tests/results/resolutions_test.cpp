#include "support/clouds.hpp"

#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/save_run.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pnmf {
namespace {

/// Five types of cells, with a neighbour graph.
Run<double> run_on_types(std::vector<Index>& types, std::optional<Index> clusters) {
    static const SimulatedCells drawn = simulate_cells(
        make_cell_model({.cells = 250, .genes = 400, .types = 5, .depth = 8000.0, .seed = 3}), 0, 250);
    static const DataValues X = [] {
        Matrix values = to_dense(drawn.counts).array().log1p();
        return Matrix(values.array().rowwise() / values.colwise().norm().array());
    }();
    types = drawn.types;
    RunOptions options{.fit = {.rank = 8}, .clusters = clusters};
    options.fit.filtration.neighbors = 8;
    options.fit.filtration.scales.max_scales = 6;
    return run_fit<double>(X, options);
}

TEST(ResolutionsOfARun, AreStoredAsColumnsFromFewClustersToMany) {
    std::vector<Index> types;
    const auto run = run_on_types(types, std::nullopt);
    const Resolutions& found = run.assessment.resolutions;
    ASSERT_GE(found.all.size(), 2U);
    const Resolution& recommended = found.all[static_cast<std::size_t>(found.recommended)];
    EXPECT_EQ(recommended.clusters, run.assessment.cluster_count);
    EXPECT_EQ(recommended.scale, run.assessment.recommended);
    EXPECT_EQ(recommended.labels, run.assessment.clusters[static_cast<std::size_t>(recommended.scale)]);
    EXPECT_GT(adjusted_rand_index(recommended.labels, types), 0.8);
    const AnnDataFile file = result_file(Dataset{}, run.prepared, run.result, run.assessment);
    const auto column = [&](const std::string& name) -> const TableColumn* {
        for (const TableColumn& candidate : file.cell_table) {
            if (candidate.name == name) {
                return &candidate;
            }
        }
        return nullptr;
    };
    for (std::size_t r = 0; r < found.all.size(); ++r) {
        const TableColumn* stored = column("pnmf_clusters_" + std::to_string(r + 1));
        ASSERT_NE(stored, nullptr) << r;
        EXPECT_TRUE(stored->categorical);
        EXPECT_EQ(std::ssize(stored->categories), found.all[r].clusters);
        const auto& names = std::get<std::vector<std::string>>(stored->values);
        for (std::size_t j = 0; j < names.size(); ++j) {
            ASSERT_EQ(names[j], std::to_string(found.all[r].labels[j] + 1));
        }
    }
    EXPECT_EQ(column("pnmf_clusters_" + std::to_string(found.all.size() + 1)), nullptr);
    const auto colours = [&](const std::string& name) {
        const AnnDataValue* stored = find(file.uns, name + "_colors");
        return stored == nullptr ? std::vector<std::string>{}
                                 : std::get<std::vector<std::string>>(stored->value);
    };
    EXPECT_EQ(colours("pnmf_clusters"), colours(fmt::format("pnmf_clusters_{}", found.recommended + 1)));
    std::vector<std::string> before;
    for (std::size_t r = 0; r < found.all.size(); ++r) { // those of a level are all in the next, and differ
        std::vector<std::string> here = colours(fmt::format("pnmf_clusters_{}", r + 1));
        std::sort(here.begin(), here.end());
        EXPECT_EQ(std::ssize(here), found.all[r].clusters);
        EXPECT_EQ(std::adjacent_find(here.begin(), here.end()), here.end());
        EXPECT_TRUE(std::includes(here.begin(), here.end(), before.begin(), before.end()));
        before = std::move(here);
    }
    const auto* parents = std::get_if<NumericArray>(&find(file.uns, "pnmf/resolutions/parents")->value);
    ASSERT_NE(parents, nullptr);
    EXPECT_EQ(parents->shape.at(1), 4);
    const auto summary = nlohmann::json::parse(summary_json(run));
    ASSERT_EQ(summary["resolutions"].size(), found.all.size());
    EXPECT_EQ(summary["resolutions"][static_cast<std::size_t>(found.recommended)]["k"],
              run.assessment.cluster_count);
}

TEST(ResolutionsOfARun, AreOneAloneWhereTheNumberOfClustersIsGiven) {
    std::vector<Index> types;
    const auto run = run_on_types(types, 4);
    ASSERT_EQ(run.assessment.resolutions.all.size(), 1U);
    EXPECT_EQ(run.assessment.resolutions.all.front().clusters, 4);
    const AnnDataFile file = result_file(Dataset{}, run.prepared, run.result, run.assessment);
    EXPECT_EQ(find(file.uns, "pnmf/resolutions"), nullptr);
}

/// So many cells are what a device would divide into clusters; a baseline leaves the device open.
TEST(ClustersOfABaseline, OfManyCellsAreFound) {
    constexpr Index cells = 20'000;
    const DataValues X = test::uniform_cloud(4, cells, 5);
    const BaselineFitOptions options{.graph = published_settings(Baseline::nmf), .rank = 2, .max_steps = 3};
    const auto prepared = prepare_baseline<float>(X, options);
    const Assessment found = assess_fit(prepared, solve_baseline(prepared, options, {}), {.clusters = 2});
    EXPECT_EQ(found.cluster_count, 2);
    ASSERT_EQ(found.clusters.size(), 1U);
    EXPECT_EQ(found.clusters.front().size(), static_cast<std::size_t>(cells));
}

} // namespace
} // namespace pnmf
