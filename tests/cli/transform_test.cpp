#include "support/paths.hpp"

#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/linalg/random.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

namespace pnmf::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

CommandResult pnmf_with(const std::string& arguments) {
    return run_command("'" + program().string() + "' " + arguments);
}

/// A fit of the simulated circles with uncoupled scales, made once: its own cells, embedded anew, must come
/// back to their places.
struct Fitted {
    TemporaryFolder folder;
    Dataset data;

    Fitted() {
        EXPECT_EQ(pnmf_with("simulate circles -o " + path("circles.csv")).exit_code, 0);
        const auto fit = pnmf_with("fit --preset paper " + path("circles.csv") + " -o " + path("fit") +
                                   " --rank 2 --max-scales 3 --lambda1 0 --lambda2 0 --start broadcast "
                                   "--tolerance 1e-7 --max-sweeps 20000 --save-basis");
        EXPECT_EQ(fit.exit_code, 0) << fit.err;
        data = read_dataset(path("circles.csv"));
    }

    std::string path(const std::string& name) const { return (folder / name).string(); }
    std::string result() const { return path("fit") + "/result.h5ad"; }
    Matrix stored(Index t) const { return read_slab(result(), "uns/pnmf/H", t); }
};

const Fitted& fitted() {
    static const Fitted made;
    return made;
}

json transform(const std::string& arguments) {
    const auto result = pnmf_with("transform --json " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
}

/// Embeds the cells of a file at the recommended scale; n × d.
Matrix embedding_of(const std::string& input, const std::string& options = "") {
    const TemporaryFolder folder;
    transform(fitted().path("fit") + " " + input + " -o " + (folder / "out.h5ad").string() + " " + options);
    return read_anndata(folder / "out.h5ad").obsm.at("X_pnmf");
}

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Transform, CellsOfTheFitComeBackToTheirPlacesAtEveryScale) {
    const TemporaryFolder folder;
    const json report = transform(fitted().path("fit") + " " + fitted().path("circles.csv") +
                                  " --scales all -o " + (folder / "out.h5ad").string());
    const AnnDataFile out = read_anndata(folder / "out.h5ad");
    EXPECT_EQ(out.cell_names, fitted().data.cell_names);
    ASSERT_EQ(report["scales"].size(), 3U);
    for (Index t = 0; t < 3; ++t) {
        const Matrix& H = out.obsm.at(fmt::format("X_pnmf_t{}", t + 1));
        const Matrix stored = fitted().stored(t).transpose();
        EXPECT_LT((H - stored).norm(), 1e-3 * stored.norm()) << t;
        EXPECT_EQ(report["scales"][t]["scale"], t + 1);
        EXPECT_TRUE(report["scales"][t]["converged"].get<bool>());
    }
    EXPECT_LT(report["scales"][0]["epsilon"].get<double>(), report["scales"][2]["epsilon"].get<double>());
}

TEST(Transform, ArrayTableAndAnnDataHoldTheSameNumbers) {
    const TemporaryFolder folder;
    const std::string command = fitted().result() + " " + fitted().path("circles.csv") + " --scales 3,1 -o ";
    transform(command + (folder / "out.h5ad").string());
    transform(command + (folder / "out.csv").string());
    const AnnDataFile out = read_anndata(folder / "out.h5ad");
    const Dataset table = read_dataset(folder / "out.csv", {.cells = CellAxis::rows});
    EXPECT_EQ(table.cell_names, out.cell_names);
    EXPECT_EQ(table.feature_names, (std::vector<std::string>{"t3_d1", "t3_d2", "t1_d1", "t1_d2"}));
    const Matrix& values = std::get<Matrix>(table.X);
    EXPECT_EQ(Matrix(values.topRows(2).transpose()), out.obsm.at("X_pnmf_t3"));
    EXPECT_EQ(Matrix(values.bottomRows(2).transpose()), out.obsm.at("X_pnmf_t1"));

    transform(fitted().result() + " " + fitted().path("circles.csv") + " --scales 3 -o " +
              (folder / "one.npy").string());
    const Dataset one = read_dataset(folder / "one.npy", {.cells = CellAxis::rows});
    EXPECT_EQ(Matrix(std::get<Matrix>(one.X).transpose()), out.obsm.at("X_pnmf_t3"));
    transform(command + (folder / "several.npy").string());
    EXPECT_THAT(bytes_of(folder / "several.npy").substr(0, 128), HasSubstr("(2, 80, 2)"));
}

TEST(Transform, TheSameBitsComeFromEveryRunAndNumberOfThreads) {
    const TemporaryFolder folder;
    const std::string command = fitted().result() + " " + fitted().path("circles.csv") + " --graph " +
                                fitted().path("circles.csv") + " --scales all -o ";
    transform(command + (folder / "a.npy").string() + " --threads 1");
    transform(command + (folder / "b.npy").string() + " --threads 4");
    EXPECT_EQ(bytes_of(folder / "a.npy"), bytes_of(folder / "b.npy"));
    EXPECT_GT(bytes_of(folder / "a.npy").size(), 3U * 80U * 2U * 8U);
}

TEST(Transform, GenesAreMatchedByNameWhateverTheirOrder) {
    const TemporaryFolder folder;
    Dataset reversed = fitted().data;
    reversed.X = Matrix(std::get<Matrix>(reversed.X).colwise().reverse());
    std::reverse(reversed.feature_names.begin(), reversed.feature_names.end());
    write_delimited(folder / "reversed.csv", reversed);
    EXPECT_EQ(embedding_of((folder / "reversed.csv").string()), embedding_of(fitted().path("circles.csv")));
}

TEST(Transform, MissingGenesCountAsZeroAndExtraOnesNotAtAllAndBothAreReported) {
    const TemporaryFolder folder;
    const Matrix& X = std::get<Matrix>(fitted().data.X);
    Dataset zeroed = fitted().data;
    std::get<Matrix>(zeroed.X).topRows(2).setZero();
    write_delimited(folder / "zeroed.csv", zeroed);

    Dataset changed = fitted().data; // the first two genes have names the fit does not know
    changed.feature_names[0] = "unknown1";
    changed.feature_names[1] = "unknown2";
    write_delimited(folder / "changed.csv", changed);
    EXPECT_EQ(embedding_of((folder / "changed.csv").string()),
              embedding_of((folder / "zeroed.csv").string()));
    ASSERT_GT(X.topRows(2).norm(), 0.0);

    const std::string command =
        fitted().result() + " " + (folder / "changed.csv").string() + " -o " + (folder / "out.csv").string();
    const json report = transform(command);
    EXPECT_EQ(report["genes_missing"], 2);
    EXPECT_EQ(report["genes_missing_names"][1], fitted().data.feature_names[1]);
    EXPECT_EQ(report["genes_ignored"], 2);
    const auto said = pnmf_with("transform " + command);
    EXPECT_THAT(said.err, HasSubstr("2 of 100 genes of the fit are missing"));
    EXPECT_THAT(said.err, HasSubstr(fitted().data.feature_names[0] + ", " + fitted().data.feature_names[1]));
    EXPECT_THAT(said.err, HasSubstr("2 genes of"));
    EXPECT_THAT(said.out, HasSubstr("80 cells, rank 2"));
}

TEST(Transform, LogAndUnitLengthAreTakenFromTheFitAndAppliedToItsGenesOnly) {
    const TemporaryFolder folder;
    Random random(3);
    Dataset data;
    Matrix X(12, 20);
    for (Index i = 0; i < X.size(); ++i) {
        X.data()[i] = std::floor(9.0 * random.uniform());
    }
    X.row(0).setOnes(); // no cell is empty
    data.X = X;
    for (Index i = 0; i < 12; ++i) {
        data.feature_names.push_back(fmt::format("g{}", i));
    }
    for (Index j = 0; j < 20; ++j) {
        data.cell_names.push_back(fmt::format("c{}", j));
    }
    write_delimited(folder / "train.csv", data);
    const auto fit = pnmf_with("fit --preset paper " + (folder / "train.csv").string() + " -o " +
                               (folder / "fit").string() +
                               " --rank 3 --max-scales 2 --transform log-unit --save-basis --max-sweeps 5");
    ASSERT_EQ(fit.exit_code, 0) << fit.err;
    Dataset more = data;
    Matrix wider(13, 20);
    wider << X, Matrix::Constant(1, 20, 1000.0);
    more.X = wider;
    more.feature_names.push_back("other");
    write_delimited(folder / "more.csv", more);
    const auto embed = [&](const std::string& input, const std::string& options) {
        const auto result =
            pnmf_with("transform " + (folder / "fit").string() + " " + (folder / input).string() + " -o " +
                      (folder / "out.h5ad").string() + " " + options);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return read_anndata(folder / "out.h5ad").obsm.at("X_pnmf");
    };
    const Matrix same = embed("train.csv", "");
    EXPECT_EQ(embed("more.csv", ""), same);
    EXPECT_EQ(embed("train.csv", "--transform log-unit"), same);
    EXPECT_GT(embed("train.csv", "--transform none").norm(), 2.0 * same.norm());
}

TEST(Transform, TheGraphTermDrawsCellsTowardsTheirNeighboursInTheFit) {
    const TemporaryFolder folder;
    const std::string circles = fitted().path("circles.csv");
    const auto fit =
        pnmf_with("fit --preset paper " + circles + " -o " + (folder / "fit").string() +
                  " --rank 2 --max-scales 3 --lambda1 100 --start broadcast --max-sweeps 30 --save-basis");
    ASSERT_EQ(fit.exit_code, 0) << fit.err;
    const auto distance_to_stored = [&](const std::string& options) {
        transform((folder / "fit").string() + " " + circles + " --scales 3 -o " +
                  (folder / "out.h5ad").string() + " " + options);
        const Matrix stored = read_slab(folder / "fit" / "result.h5ad", "uns/pnmf/H", 2);
        return (read_anndata(folder / "out.h5ad").obsm.at("X_pnmf") - stored.transpose()).norm();
    };
    EXPECT_LT(distance_to_stored("--graph " + circles), 0.5 * distance_to_stored(""));

    const json report = transform((folder / "fit").string() + " " + circles + " --scales 1 -o " +
                                  (folder / "out.h5ad").string() + " --graph " + circles);
    EXPECT_EQ(report["scales"][0]["cells_with_neighbours"], 80); // each equals a cell of the fit
}

TEST(Transform, LabelsAndTablesOfTheNewCellsAreCarriedOver) {
    const TemporaryFolder folder;
    std::string labels = "cell\tlabel\n";
    for (const std::string& name : fitted().data.cell_names) {
        labels += name + "\tring\n";
    }
    write_text(folder / "labels.tsv", labels);
    transform(fitted().result() + " " + fitted().path("circles.csv") + " --labels " +
              (folder / "labels.tsv").string() + " -o " + (folder / "out.h5ad").string());
    const AnnDataFile out = read_anndata(folder / "out.h5ad");
    ASSERT_EQ(out.cell_table.size(), 1U);
    EXPECT_EQ(out.cell_table[0].name, "label");
    EXPECT_EQ(std::get<std::vector<std::string>>(out.cell_table[0].values)[79], "ring");
}

void expect_rejected(const std::string& arguments, const std::string& reason) {
    const auto result = pnmf_with("transform " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(reason)) << arguments;
}

/// The basis of the recommended scale, here the first, is always stored.
TEST(Transform, AScaleWithoutABasisIsRejectedAndTheCureNamed) {
    const TemporaryFolder folder;
    const std::string circles = fitted().path("circles.csv");
    const auto fit = pnmf_with("fit --preset paper " + circles + " -o " + (folder / "fit").string() +
                               " --rank 2 --max-scales 2 --max-sweeps 1 --start broadcast");
    ASSERT_EQ(fit.exit_code, 0) << fit.err;
    const std::string usual =
        (folder / "fit").string() + " " + circles + " -o " + (folder / "out.csv").string();
    expect_rejected(usual + " --scales 2", "--save-basis");
    EXPECT_FALSE(std::filesystem::exists(folder / "out.csv"));
    EXPECT_EQ(pnmf_with("transform " + usual).exit_code, 0);
}

TEST(Transform, WhatCannotBeEmbeddedEndsWithCode2AndAReason) {
    const TemporaryFolder folder;
    const std::string circles = fitted().path("circles.csv");
    const std::string output = " -o " + (folder / "out.csv").string();
    const std::string usual = fitted().result() + " " + circles;
    expect_rejected(usual, "--output");
    expect_rejected(usual + " -o " + (folder / "out.txt").string(), ".h5ad, .npy, .csv or .tsv");
    expect_rejected(usual + output + " --scales 0", "from 1 (finest) to 3");
    expect_rejected(usual + output + " --scales 4", "from 1 (finest) to 3");
    expect_rejected(usual + output + " --scales 1,two", "1,two");
    expect_rejected(usual + output + " --scales 2,2", "more than once");
    expect_rejected(folder.path().string() + " " + circles + output, "result.h5ad");
    expect_rejected(circles + " " + circles + output, "circles.csv");
    expect_rejected(fitted().result() + " " + (folder / "absent.csv").string() + output, "absent.csv");

    Dataset other = fitted().data;
    for (std::string& name : other.feature_names) {
        name += "x";
    }
    write_delimited(folder / "other.csv", other);
    expect_rejected(fitted().result() + " " + (folder / "other.csv").string() + output,
                    "no gene is in common");
    Dataset negative = fitted().data;
    std::get<Matrix>(negative.X)(3, 5) = -1.0;
    write_delimited(folder / "negative.csv", negative);
    expect_rejected(fitted().result() + " " + (folder / "negative.csv").string() + output, "negative");
    Dataset renamed = fitted().data;
    renamed.cell_names[1] = "stranger";
    write_delimited(folder / "renamed.csv", renamed);
    expect_rejected(usual + output + " --graph " + (folder / "renamed.csv").string(),
                    "1 of its 80 cells are not among those of the fit: stranger");

    AnnDataFile plain;
    plain.cell_names = {"a"};
    write_anndata(folder / "plain.h5ad", plain);
    expect_rejected((folder / "plain.h5ad").string() + " " + circles + output, "not a result of a fit");
    EXPECT_FALSE(std::filesystem::exists(folder / "out.csv"));
}

} // namespace
} // namespace pnmf::test
