#include "fit_fixture.hpp"

#include <pnmf/linalg/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

/// What was stored is read as it was meant: cells by name, data from the layer and with the steps of the fit.
namespace pnmf::test {
namespace {

using ::testing::HasSubstr;

class StoredResults : public Fit {
  protected:
    static CommandResult run(const std::string& arguments) {
        return run_command("'" + program().string() + "' " + arguments);
    }
    static Json json_of(const std::string& arguments) {
        const auto done = run(arguments + " --json");
        EXPECT_EQ(done.exit_code, 0) << arguments << "\n" << done.err;
        return done.exit_code == 0 ? Json::parse(done.out) : Json();
    }
    static void expect_refused(const std::string& arguments, const std::string& reason) {
        const auto refused = run(arguments);
        EXPECT_EQ(refused.exit_code, 2) << arguments << "\n" << refused.err;
        EXPECT_THAT(refused.err, HasSubstr(reason)) << arguments;
    }

    /// Three groups of ten cells that every scale tells apart, as .h5ad with their labels.
    std::string groups() const {
        Dataset data;
        Random random(9);
        Matrix X(6, 30);
        std::vector<std::string> labels;
        for (Index j = 0; j < 30; ++j) {
            for (Index i = 0; i < 6; ++i) {
                X(i, j) = (i / 2 == j % 3 ? 5.0 : 0.2) + 0.3 * random.uniform();
            }
            data.cell_names.push_back("c" + std::to_string(j));
            labels.push_back("group" + std::to_string(j % 3));
        }
        for (Index i = 0; i < 6; ++i) {
            data.feature_names.push_back("g" + std::to_string(i));
        }
        data.X = X;
        data.cell_table.push_back({.name = "group", .values = labels, .categorical = true});
        write_h5ad(folder_ / "groups.h5ad", data);
        return "'" + (folder_ / "groups.h5ad").string() + "'";
    }

    /// A data set whose X and whose layer "counts" have nothing in common.
    std::string layered(const std::string& name = "layered.h5ad", bool with_layer = true) const {
        AnnDataFile file;
        Random random(5);
        Matrix X(8, 24);
        Matrix counts(8, 24);
        for (Index i = 0; i < X.size(); ++i) {
            X.data()[i] = 1.0 + static_cast<double>(random.below(50));
            counts.data()[i] = 1.0 + static_cast<double>(random.below(9));
        }
        file.X = X;
        if (with_layer) {
            file.layers["counts"] = counts;
        }
        for (Index i = 0; i < 8; ++i) {
            file.feature_names.push_back("g" + std::to_string(i));
        }
        for (Index j = 0; j < 24; ++j) {
            file.cell_names.push_back("c" + std::to_string(j));
        }
        write_anndata(folder_ / name, file);
        return "'" + (folder_ / name).string() + "'";
    }
    /// The result after AnnData took these cells, in this order: tables and obsm follow, uns does not.
    std::string taken(const fs::path& result, const std::vector<std::size_t>& order) const {
        const AnnDataFile file = read_anndata(result);
        AnnDataFile copy = file;
        const auto take = [&](auto& values) {
            const auto old = values;
            values.clear();
            for (const std::size_t j : order) {
                values.push_back(old[j]);
            }
        };
        take(copy.cell_names);
        for (TableColumn& column : copy.cell_table) {
            std::visit(take, column.values);
        }
        for (auto& [name, matrix] : copy.obsm) {
            matrix = Matrix(file.obsm.at(name)(order, Eigen::all));
        }
        write_anndata(folder_ / "taken.h5ad", copy);
        return "'" + (folder_ / "taken.h5ad").string() + "'";
    }
};

TEST_F(StoredResults, OfAShuffledCopyHaveTheSameScoresAndCertificate) {
    const std::string data = groups();
    expect_done(data + " --rank 3 --max-scales 4 --save-basis", out());
    const fs::path path = out() / "result.h5ad";
    std::vector<std::size_t> order(30);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::reverse(order.begin(), order.end());
    std::swap(order[3], order[11]);
    const std::string shuffled = taken(path, order);
    const std::string flags = " --labels group --seeds 2";
    const Json before = json_of("score '" + out().string() + "'" + flags);
    const Json after = json_of("score " + shuffled + flags);
    EXPECT_EQ(before["scales"][0]["ari"]["mean"], 1.0);
    EXPECT_EQ(after["scales"][0]["ari"]["mean"], 1.0);
    const Json kkt = json_of("check '" + out().string() + "' --data " + data)["scales"];
    const Json shuffled_kkt = json_of("check " + shuffled + " --data " + data)["scales"];
    EXPECT_EQ(shuffled_kkt, kkt);
    EXPECT_EQ(
        run("report " + shuffled + " --input " + data + " -o '" + out("page.html").string() + "'").exit_code,
        0);

    const std::string part = taken(path, {4, 1, 9, 12, 17});
    EXPECT_THAT(run("score " + part + " --clusters 2 --threads 1").err,
                HasSubstr("5 of the 30 cells of the fit"));
    expect_refused("check " + part + " --data " + data, "5 of its 30 cells are here");
    AnnDataFile renamed = read_anndata(path);
    renamed.cell_names[0] = "other";
    write_anndata(folder_ / "renamed.h5ad", renamed);
    expect_refused("score '" + (folder_ / "renamed.h5ad").string() + "'",
                   "not among those of the fit: other");
}

TEST_F(StoredResults, OfALayerAreCheckedTransformedAndReportedFromThatLayer) {
    const std::string data = layered();
    expect_done(data + " --layer counts --rank 3 --max-scales 3 --save-basis --transform log-unit", out());
    const std::string fitted = "'" + out().string() + "' ";
    const auto stored = result(out());
    const auto& recorded = std::get<std::vector<double>>(array(stored, "kkt").values);
    const Json checked = json_of("check " + fitted + "--data " + data);
    for (std::size_t t = 0; t < recorded.size(); ++t) {
        EXPECT_NEAR(checked["scales"][t]["kkt"].get<double>(), recorded[t], 1e-12 + 1e-6 * recorded[t]);
    }
    const std::string to = " -o '" + out("new.h5ad").string() + "' ";
    const auto error = [&](const std::string& flags) {
        return json_of("transform " + fitted + data + to + flags)["scales"][0]["relative_error"]
            .get<double>();
    };
    EXPECT_EQ(error(""), error("--layer counts"));
    EXPECT_GT(error("--layer X"), error("") + 1e-3);
    const std::string page = " -o '" + out("page.html").string() + "'";
    EXPECT_EQ(run("report " + fitted + "--input " + data + page).exit_code, 0);

    expect_refused("check " + fitted + "--data " + data + " --layer X",
                   "the fit read its data with the layer counts, but X is asked for");
    expect_refused("report " + fitted + "--input " + data + page + " --transform none",
                   "the transform log-unit, but none is asked for");
    const std::string bare = layered("bare.h5ad", false);
    expect_refused("transform " + fitted + bare + to, "the fit read the layer 'counts'");
    expect_refused("check " + fitted + "--data " + bare, "the fit read the layer 'counts'");
    EXPECT_EQ(run("transform " + fitted + bare + to + "--layer X").exit_code, 0);
}

TEST_F(StoredResults, KeepEveryChoiceAboutTheInput) {
    const std::string table = file("t.csv", "x,c1,c2,c3,c4\ng1,1,0,2,1\ng2,0,0,0,0\ng3,1,0,5,1\n");
    expect_done("'" + table + "' --rank 2 --drop-empty --transform log-unit", out());
    const auto stored = result(out());
    const Json input = Json::parse(text(stored, "input"));
    EXPECT_EQ(input["format"], "text");
    EXPECT_EQ(input["cells"], "columns");
    EXPECT_EQ(input["steps"][0], Json({{"name", "genes"}, {"names", {"g2"}}, {"count", 1.0}}));
    EXPECT_EQ(input["steps"][1], Json({{"name", "empty-cells"}, {"count", 1.0}}));
    EXPECT_EQ(input["steps"][2], Json({{"name", "log-unit"}}));
    EXPECT_EQ(text(stored, "precision"), "double");
    // The cell that was dropped is in the file, and no stranger.
    EXPECT_EQ(run("check '" + out().string() + "' --data '" + table + "'").exit_code, 0);
}

TEST_F(StoredResults, KeepTheOrderOfTheCategoriesOfTheirLabels) {
    AnnDataFile file = read_anndata(fs::path(circles().substr(1, circles().find("' ") - 1)));
    file.cell_table[0].categories = {"ring3", "ring0", "ring2", "ring1"};
    write_anndata(folder_ / "ordered.h5ad", file);
    expect_done("'" + (folder_ / "ordered.h5ad").string() +
                    "' --transform none --rank 2 --max-scales 2 --labels ring",
                out());
    const auto stored = result(out());
    for (const TableColumn& column : stored.cell_table) {
        if (column.name == "label") {
            EXPECT_EQ(column.categories, file.cell_table[0].categories);
            return;
        }
    }
    ADD_FAILURE() << "there is no column label";
}

TEST_F(StoredResults, SayThatAnotherNumberOfClustersMayRecommendAnotherScale) {
    expect_done(circles() + " --rank 2 --max-scales 4 --clusters 3", out());
    EXPECT_THAT(run("score '" + out().string() + "' --clusters 5 --threads 2").err,
                HasSubstr("5 clusters here, 3 in the fit: the scale recommended here is"));
    const std::string cells = "'" + (folder_ / "cells.h5ad").string() + "'";
    ASSERT_EQ(run("simulate cells --cells 120 --genes 300 --types 3 -o " + cells).exit_code, 0);
    ASSERT_EQ(
        run("fit " + cells + " --rank 5 --max-scales 6 --no-report --overwrite -o '" + out().string() + "'")
            .exit_code,
        0);
    EXPECT_THAT(run("score '" + out().string() + "' --threads 2").err,
                HasSubstr("as where the number of clusters is given; the fit recommended"));
}

} // namespace
} // namespace pnmf::test
