#include "fit_fixture.hpp"

#include <pnmf/io/write.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <limits>
#include <map>

/// `pnmf fit` as a new user types it: a file and a folder, nothing else.
namespace pnmf::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FitPreset : public Fit {
  protected:
    /// Counts of three types, as .h5ad.
    AnnDataFile counts(Index cells = 80, Index genes = 120) const {
        const CellModel model = make_cell_model({.cells = cells, .genes = genes, .types = 3, .seed = 2});
        AnnDataFile file;
        SimulatedCells drawn = simulate_cells(model, 0, cells);
        for (Index i = 0; i < genes; ++i) {
            file.feature_names.push_back("g" + std::to_string(i));
        }
        std::vector<std::string> types;
        for (Index j = 0; j < cells; ++j) {
            file.cell_names.push_back("c" + std::to_string(j));
            types.push_back("type" + std::to_string(drawn.types[static_cast<std::size_t>(j)]));
        }
        file.cell_table.push_back({.name = "type", .values = types, .categorical = true});
        file.X = std::move(drawn.counts);
        return file;
    }
    std::string stored(const AnnDataFile& file, const std::string& name = "counts.h5ad") const {
        write_anndata(out(name), file);
        return "'" + out(name).string() + "'";
    }
    /// Exactly what is typed: no preset is asked for.
    CommandResult typed(const std::string& arguments, const std::string& folder = "out") const {
        return run_command("'" + program().string() + "' fit " + arguments + " -o '" + out(folder).string() +
                           "'");
    }
    Json summary(const std::string& folder = "out") const {
        return Json::parse(read_file(out(folder) / "summary.json"));
    }
    void expect_refused(const std::string& arguments, const std::string& reason) const {
        const CommandResult refused = typed(arguments, "refused");
        EXPECT_EQ(refused.exit_code, 2) << arguments << "\n" << refused.err;
        EXPECT_THAT(refused.err, HasSubstr(reason));
        EXPECT_FALSE(fs::exists(out("refused"))) << arguments;
    }
};

TEST_F(FitPreset, AnotherOrderOfTheCellsIsAnotherSeed) {
    AnnDataFile file = counts(90, 300);
    const std::string flags = " --no-report --clusters 3 --threads 1";
    const auto clusters = [&](const AnnDataFile& data, const std::string& folder) {
        const CommandResult done = typed(stored(data, folder + ".h5ad") + flags, folder);
        EXPECT_EQ(done.exit_code, 0) << done.err;
        std::map<std::string, std::string> of_cell;
        const AnnDataFile found = result(out(folder));
        for (const TableColumn& column : found.cell_table) {
            for (std::size_t j = 0; column.name == "pnmf_clusters" && j < found.cell_names.size(); ++j) {
                of_cell[found.cell_names[j]] = std::get<std::vector<std::string>>(column.values)[j];
            }
        }
        return of_cell;
    };
    const auto first = clusters(file, "first");
    auto& X = std::get<SparseMatrix<double>>(*file.X);
    SparseMatrix<double> turned{.rows = X.rows, .cols = X.cols, .start = {0}, .row = {}, .value = {}};
    for (Index j = X.cols - 1; j >= 0; --j) {
        turned.row.insert(turned.row.end(), X.row.begin() + X.start[j], X.row.begin() + X.start[j + 1]);
        turned.value.insert(turned.value.end(), X.value.begin() + X.start[j],
                            X.value.begin() + X.start[j + 1]);
        turned.start.push_back(std::ssize(turned.value));
    }
    X = std::move(turned);
    std::reverse(file.cell_names.begin(), file.cell_names.end());
    file.cell_table.clear();
    const auto second = clusters(file, "second");
    std::vector<std::string> mine;
    std::vector<std::string> theirs;
    for (const auto& [cell, cluster] : first) {
        mine.push_back(cluster);
        theirs.push_back(second.at(cell));
    }
    EXPECT_GT(adjusted_rand_index(relabel(mine), relabel(theirs)), 0.9);
    const double objective = summary("first")["objective"]["total"];
    EXPECT_NEAR(summary("second")["objective"]["total"], objective, 1e-3 * objective);
}

TEST_F(FitPreset, AFileAndAFolderAreEnough) {
    const CommandResult done = typed(stored(counts(80, 300)) + " --labels type");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    for (const char* line :
         {"preset cells", "values: counts", "30 principal components", "rank 9", "time: about"}) {
        EXPECT_THAT(done.err, HasSubstr(line));
    }
    const Json said = summary();
    EXPECT_EQ(said["preset"], "cells");
    EXPECT_EQ(said["space"], "pca:30");
    EXPECT_EQ(said["precision"], "float");
    EXPECT_LT(said["scales_kept"], said["scales_all"]);
    EXPECT_GT(said["scale_error"].get<double>(), 0.0);
    EXPECT_GT(said["planned_bytes"].get<double>(), 0.0);
    EXPECT_GE(said["label_ari"].get<double>(), 0.9) << "three types that are far apart";
    const AnnDataFile file = result(out());
    EXPECT_EQ(text(file, "space/name"), "pca:30");
    EXPECT_EQ(array(file, "scale_weight").shape.front(), said["scales_kept"].get<Index>());
    EXPECT_TRUE(fs::exists(out() / "report.html"));
}

TEST_F(FitPreset, OfVeryFewCellsHasANumberOfClustersThatCanBe) {
    for (const Index cells : {3, 5, 8, 13, 33}) {
        const std::string data = stored(counts(cells, 40));
        const std::string all = " --neighbors " + std::to_string(cells - 1);
        for (const std::string& how : {std::string(), std::string(" --clusters 1"), all}) {
            const CommandResult done = typed(data + how + " --no-report --overwrite");
            ASSERT_EQ(done.exit_code, 0) << cells << how << "\n" << done.err;
            const Json said = summary();
            EXPECT_GE(said["clusters"], 1) << cells << how;
            EXPECT_LE(said["clusters"], cells) << cells << how;
            EXPECT_GE(said["recommended_scale"], 1) << cells << how;
            EXPECT_LE(said["recommended_scale"], said["scales"]) << cells << how;
        }
    }
}

TEST_F(FitPreset, WhatWasDoneToTheCellsIsDoneAgainByCheckAndTransform) {
    const std::string data = stored(counts());
    ASSERT_EQ(typed(data + " --save-basis --genes 60 --no-report").exit_code, 0);
    const std::string there = " '" + out().string() + "' ";
    const CommandResult checked =
        run_command("'" + program().string() + "' check" + there + "--data " + data);
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
    EXPECT_THAT(checked.out, Not(HasSubstr("fails")));
    const CommandResult embedded =
        run_command("'" + program().string() + "' transform" + there + data + " --graph " + data + " -o '" +
                    out("embedded.h5ad").string() + "'");
    EXPECT_EQ(embedded.exit_code, 0) << embedded.err;
    EXPECT_THAT(embedded.err, HasSubstr("counts per 10000, log(1 + x), 60 genes, cells of length 1"));
}

TEST_F(FitPreset, LoggedValuesAreNotLoggedTwice) {
    AnnDataFile file = counts();
    Matrix logged = to_dense(std::get<SparseMatrix<double>>(*file.X)).array().log1p();
    file.X = logged;
    file.uns["log1p"] = AnnDataMap{};
    const CommandResult done = typed(stored(file) + " --no-report --genes all");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err,
                HasSubstr("values: logarithms (the file records a logarithm); no second logarithm"));
}

TEST_F(FitPreset, CountsInALayerAreTakenBeforeScaledValues) {
    AnnDataFile file = counts();
    file.layers["counts"] = *file.X;
    file.X = Matrix(to_dense(std::get<SparseMatrix<double>>(*file.X)).array() - 1.0);
    const CommandResult done = typed(stored(file) + " --no-report");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("values are those of the layer 'counts' (--layer changes it)"));
    file.layers.clear();
    expect_refused(stored(file, "scaled.h5ad"), "centred or scaled");
}

TEST_F(FitPreset, ASpaceThatCannotBeUsedIsRefused) {
    AnnDataFile file = counts();
    file.obsm["X_mine"] = Matrix::Random(80, 3);
    const std::string data = stored(file);
    EXPECT_EQ(typed(data + " --space obsm:X_mine --no-report").exit_code, 0);
    EXPECT_EQ(summary()["space"], "obsm:X_mine");
    expect_refused(data + " --space obsm:X_other", "has no obsm 'X_other'; there are: X_mine");
    expect_refused(data + " --space tsne", "a space is none, pca:N");
    expect_refused(data + " --genes no_column", "no column 'no_column'");
    file.obsm["X_mine"](3, 1) = std::numeric_limits<double>::quiet_NaN();
    expect_refused(stored(file, "nan.h5ad") + " --space obsm:X_mine", "a space must be finite");
}

TEST_F(FitPreset, TheScalesOfAFileAreThoseOfItsFit) {
    const auto scales_of = [&](const std::string& arguments) {
        const CommandResult done =
            run_command("'" + program().string() + "' scales " + arguments + " --json");
        EXPECT_EQ(done.exit_code, 0) << done.err;
        return Json::parse(done.out)["epsilon"].get<std::vector<double>>();
    };
    const auto fitted = [&](const std::string& arguments) {
        const CommandResult done = typed(arguments + " --no-report --overwrite");
        EXPECT_EQ(done.exit_code, 0) << done.err;
        return std::get<std::vector<double>>(array(result(out()), "epsilon").values);
    };
    AnnDataFile file = counts(90);
    const std::string cells = stored(file);
    EXPECT_EQ(scales_of(cells + " --preset paper --max-scales 9"),
              fitted(cells + " --preset paper --max-scales 9"));
    const std::vector<double> all = scales_of(cells);
    for (const double kept : fitted(cells)) {
        EXPECT_THAT(all, ::testing::Contains(kept)) << "some of them stand for all";
    }
    file.obsm["spatial"] = Matrix::Random(90, 2);
    const std::string tissue = stored(file, "tissue.h5ad");
    EXPECT_EQ(scales_of(tissue), fitted(tissue + " --domains 2"));
}

TEST_F(FitPreset, PointsAreTakenAsTheyAre) {
    const std::string points =
        file("points.csv", "id,a,b,c,d,e,f\nx,0.5,0.7,3.1,3.3,7.2,7.5\ny,1.5,1.2,0.2,0.1,4.4,4.1\n");
    const CommandResult done = typed("'" + points + "' --no-report");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("preset points"));
    EXPECT_EQ(summary()["space"], "none");
    EXPECT_EQ(summary()["precision"], "double");
    EXPECT_EQ(summary()["options"]["alpha"], 2.0);
}

TEST_F(FitPreset, AFileWithPlacesIsATissueUnlessItIsAskedForCells) {
    AnnDataFile file = counts(120);
    Matrix places(120, 2);
    for (Index j = 0; j < 120; ++j) {
        places.row(j) << static_cast<double>(j % 12), static_cast<double>(j / 12);
    }
    file.obsm["spatial"] = places;
    file.cell_table.push_back(
        {.name = "x", .values = std::vector<double>(places.col(0).begin(), places.col(0).end())});
    file.cell_table.push_back(
        {.name = "y", .values = std::vector<double>(places.col(1).begin(), places.col(1).end())});
    const std::string tissue = stored(file, "tissue.h5ad");
    const CommandResult done = typed(tissue + " --domains 3");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err,
                HasSubstr("preset spatial: the file has the places of its cells (--preset changes it)"));
    EXPECT_THAT(done.err, HasSubstr("3 domains, from scale"));
    EXPECT_THAT(done.out, HasSubstr("domains are of this scale"));
    const AnnDataFile result = read_anndata(out("out") / "result.h5ad");
    EXPECT_EQ(result.obsm.at("spatial"), places);
    EXPECT_NE(find(result.uns, "pnmf/domains/scale"), nullptr);
    EXPECT_THAT(read_file(out("out") / "programs.tsv"), HasSubstr("scale\tmoran\n"));

    file.obsm.clear();
    const std::string table = stored(file, "table.h5ad");
    ASSERT_EQ(typed(table + " --preset spatial --domains 3", "table").exit_code, 0);
    EXPECT_EQ(summary("table")["domains"]["k"], 3);
    EXPECT_EQ(summary("table")["objective"], summary()["objective"]) << "the same places";

    EXPECT_THAT(typed(table + " --plan", "plan").err, HasSubstr("if its columns x and y are places"));
    expect_refused(tissue + " --domains 0", "--domains");

    ASSERT_EQ(typed(tissue + " --preset cells", "cells").exit_code, 0);
    EXPECT_FALSE(summary("cells").contains("domains"));
    EXPECT_EQ(summary("cells")["space"], "pca:30");
    expect_refused(tissue + " --preset cells --domains 3", "--domains is for the preset spatial");
    expect_refused(tissue + " --preset cells --places x,y", "places are for the preset spatial");
    expect_refused(tissue + " --places x,z", "no column 'z'");
}

} // namespace
} // namespace pnmf::test
