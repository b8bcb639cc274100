#include "support/paths.hpp"

#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/scoring.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pnmf {
namespace {

using nlohmann::json;
using test::run_command;

/// Two scales of 30 cells in three groups: the first shows the groups, the second does not.
struct Example {
    std::vector<Matrix> H;
    std::vector<std::string> names;
    std::vector<std::string> labels;
    std::vector<Index> numbers;
};

Example example() {
    Example result;
    result.H.assign(2, Matrix::Zero(2, 30));
    Random random(1);
    for (Index j = 0; j < 30; ++j) {
        for (std::size_t t = 0; t < 2; ++t) {
            result.H[t](0, j) = (t == 0 ? 9.0 : 0.3) * static_cast<double>(j % 3) + random.normal();
            result.H[t](1, j) = random.normal();
        }
        result.names.push_back(fmt::format("c{}", j));
        result.labels.push_back(fmt::format("g{}", j % 3));
        result.numbers.push_back(j % 3);
    }
    return result;
}

/// The embedding of scale 0 as a table, cells as rows, and its labels.
void write_tables(const test::TemporaryFolder& folder, const Example& data) {
    std::string embedding = "cell,d1,d2\n";
    std::string labels = "cell,group\n";
    for (Index j = 0; j < 30; ++j) {
        embedding += fmt::format("{},{},{}\n", data.names[j], data.H[0](0, j), data.H[0](1, j));
        labels += fmt::format("{},{}\n", data.names[j], data.labels[j]);
    }
    write_text(folder / "H.csv", embedding);
    write_text(folder / "labels.csv", labels);
}

json score(const std::string& arguments) {
    const auto result = run_command(test::program().string() + " score --json " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
}

TEST(Score, CellsWithoutLabelAreLeftOutAndCounted) {
    const test::TemporaryFolder folder;
    Example data = example();
    for (const std::size_t j : {3U, 10U, 20U}) {
        data.labels[j] = j == 3 ? "" : "NA";
        data.numbers[j] = -1;
    }
    write_tables(folder, data);
    const std::string arguments =
        (folder / "H.csv").string() + " --seeds 2 --labels " + (folder / "labels.csv").string();
    const json found = score(arguments);
    EXPECT_EQ(found["clusters"], 3);
    EXPECT_EQ(found["cells_without_label"], 3);
    const EmbeddingScores expected = score_embedding(data.H[0], data.numbers, {.clusters = 3, .seeds = 2});
    EXPECT_EQ(found["ari"]["mean"], expected.agreement->ari.mean);
    EXPECT_NE(run_command(test::program().string() + " score " + arguments)
                  .err.find("3 of 30 cells have no label and are left out"),
              std::string::npos);
}

TEST(Score, ATableIsScoredAsTheLibraryScoresIt) {
    const test::TemporaryFolder folder;
    const Example data = example();
    write_tables(folder, data);
    const json scores = score((folder / "H.csv").string() + " --clusters 4 --seeds 3 --starts 1 --labels " +
                              (folder / "labels.csv").string() + ":group");
    const Agreement expected =
        *score_embedding(data.H[0], data.numbers, {.clusters = 4, .starts = 1, .seeds = 3}).agreement;
    EXPECT_DOUBLE_EQ(scores["ari"]["mean"].get<double>(), expected.ari.mean);
    EXPECT_DOUBLE_EQ(scores["nmi"]["sd"].get<double>(), expected.nmi.deviation);
    EXPECT_DOUBLE_EQ(scores["scales"][0]["purity"]["mean"].get<double>(), expected.purity.mean);
    EXPECT_DOUBLE_EQ(scores["scales"][0]["accuracy"]["mean"].get<double>(), expected.accuracy.mean);
}

TEST(Score, EachScaleOfAFitIsScoredAndTheBestIsMarkedAsChosenWithLabels) {
    const test::TemporaryFolder folder;
    const Example data = example();
    AnnDataFile file;
    file.cell_names = data.names;
    file.cell_table.push_back({.name = "group", .values = data.labels});
    SlabArray H{
        .slabs = 2, .rows = 2, .cols = 30, .slab = std::function([&](Index t) { return data.H[1 - t]; })};
    file.uns["pnmf"] = AnnDataMap{{"H", H}, {"epsilon", numeric_array(std::vector<double>{0.5, 2.0})}};
    std::filesystem::create_directory(folder / "fit");
    write_anndata(folder / "fit" / "result.h5ad", file);
    const json scores = score((folder / "fit").string() + " --labels group --write-clusters " +
                              (folder / "clusters.tsv").string());
    ASSERT_EQ(scores["scales"].size(), 2U);
    EXPECT_EQ(scores["clusters"], 3);
    EXPECT_EQ(scores["scales"][1]["epsilon"], 2.0);
    EXPECT_EQ(scores["scales"][1]["ari"]["mean"], 1.0);
    EXPECT_LT(scores["ari"]["mean"].get<double>(), 0.9); // at top level: the finest scale
    EXPECT_EQ(scores["best"]["scale"], 2);
    EXPECT_EQ(scores["best"]["chosen_with_labels"], true);
    EXPECT_EQ(scores["recommended"]["chosen_with_labels"], false);
    EXPECT_EQ(scores["recommended"]["ari"],
              scores["scales"][scores["recommended"]["scale"].get<std::size_t>() - 1]["ari"]);
    EXPECT_TRUE(scores["consensus"].contains("ari"));
    EXPECT_TRUE(scores["hierarchy"].contains("ari"));
    EXPECT_TRUE(scores["scales"][0]["combined"].is_number());
    const Dataset clusters = read_dataset(folder / "clusters.tsv", {.cells = CellAxis::rows});
    EXPECT_EQ(clusters.features(), 2);
    EXPECT_EQ(clusters.cell_names, data.names);

    const auto table =
        run_command(test::program().string() + " score " + (folder / "fit").string() + " --labels group");
    EXPECT_EQ(table.exit_code, 0);
    EXPECT_NE(table.out.find("pNMF-best (scale 2, chosen with the labels)"), std::string::npos) << table.out;
}

TEST(Score, ClustersOfEachScaleAreKeptInTheResultBesideAllElse) {
    const test::TemporaryFolder folder;
    const Example data = example();
    AnnDataFile file;
    file.cell_names = data.names;
    file.cell_table.push_back({.name = "group", .values = data.labels});
    file.cell_table.push_back({.name = "pnmf_scale_1", .values = std::vector<double>(30, 7.0)});
    SlabArray H{
        .slabs = 2, .rows = 2, .cols = 30, .slab = std::function([&](Index t) { return data.H[1 - t]; })};
    file.uns["pnmf"] = AnnDataMap{{"H", H}, {"epsilon", numeric_array(std::vector<double>{0.5, 2.0})}};
    const auto path = folder / "result.h5ad";
    write_anndata(path, file);
    score(path.string() + " --labels group --keep-clusters --write-clusters " +
          (folder / "clusters.tsv").string());
    const AnnDataFile after = read_anndata(path);
    ASSERT_EQ(after.cell_table.size(), 3U);
    EXPECT_EQ(after.cell_table[0].name, "group");
    EXPECT_EQ(std::get<std::vector<std::string>>(after.cell_table[0].values), data.labels);
    EXPECT_TRUE(find(after.uns, "pnmf/H") != nullptr);
    const Dataset written = read_dataset(folder / "clusters.tsv", {.cells = CellAxis::rows});
    for (Index t = 0; t < 2; ++t) {
        const TableColumn& kept = after.cell_table[static_cast<std::size_t>(t) + 1];
        EXPECT_EQ(kept.name, "pnmf_scale_" + std::to_string(t + 1));
        const auto& names = std::get<std::vector<std::string>>(kept.values);
        for (Index j = 0; j < 30; ++j) {
            EXPECT_EQ(std::stod(names[j]), std::get<Matrix>(written.X)(t, j));
        }
    }
    write_tables(folder, data);
    const auto refused =
        run_command(test::program().string() + " score " + (folder / "H.csv").string() + " --keep-clusters");
    EXPECT_EQ(refused.exit_code, 2);
}

TEST(Score, WithoutLabelsAndCountTheMostStableNumberOfClustersIsTaken) {
    const test::TemporaryFolder folder;
    write_tables(folder, example());
    const json scores = score((folder / "H.csv").string());
    EXPECT_EQ(scores["clusters"], 3);
    EXPECT_FALSE(scores.contains("best"));
    EXPECT_EQ(scores["recommended"]["scale"], 1);
}

TEST(Score, MergedLabelsAreFewerClusters) {
    const test::TemporaryFolder folder;
    write_tables(folder, example());
    const json scores =
        score((folder / "H.csv").string() + " --merge g0+g1 --labels " + (folder / "labels.csv").string());
    EXPECT_EQ(scores["clusters"], 2);
}

TEST(Score, PublishedEmbeddingsHaveTheRowsOfTheirSource) {
    const auto folder = test::shared_data("published_Dendritic_batch1");
    if (!folder) {
        GTEST_SKIP() << test::missing_data("published_Dendritic_batch1");
    }
    const json scores = score((*folder / "GNMF.mat").string() + " --cells columns --labels " +
                              (*folder / "labels.csv").string() + ":x");
    EXPECT_NEAR(scores["ari"]["mean"].get<double>(), 0.705, 0.0005);
    EXPECT_NEAR(scores["nmi"]["mean"].get<double>(), 0.749, 0.0005);
    EXPECT_NEAR(scores["purity"]["mean"].get<double>(), 0.818, 0.0005);
    EXPECT_NEAR(scores["accuracy"]["mean"].get<double>(), 0.817, 0.0005);
}

TEST(Score, WhatCannotBeScoredEndsWithCode2) {
    const test::TemporaryFolder folder;
    write_tables(folder, example());
    const std::string program = test::program().string() + " score ";
    const std::string table = (folder / "H.csv").string();
    EXPECT_EQ(run_command(program + table + " --clusters 31").exit_code, 2);
    EXPECT_EQ(run_command(program + table + " --merge a+b --clusters 2").exit_code, 2);
    EXPECT_EQ(run_command(program + folder.path().string() + " --clusters 2").exit_code, 2);
    EXPECT_EQ(run_command(program + (folder / "absent.npy").string() + " --clusters 2").exit_code, 2);
}

} // namespace
} // namespace pnmf
