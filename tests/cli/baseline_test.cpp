#include "fit_fixture.hpp"

#include <pnmf/baselines/fit_baseline.hpp>

#include <gtest/gtest.h>

namespace pnmf::test {
namespace {

class BaselineVerb : public Fit {
  protected:
    static CommandResult baseline(const std::string& arguments, const fs::path& folder) {
        return run_command("'" + program().string() + "' baseline " + arguments + " --overwrite -o '" +
                           folder.string() + "'");
    }
    static Json summary(const fs::path& folder) { return Json::parse(read_file(folder / "summary.json")); }
};

TEST_F(BaselineVerb, EachMethodWritesAResultOfOneScaleThatScoreReads) {
    for (const std::string method : {"nmf", "gnmf", "tnmf", "ktnmf"}) {
        SCOPED_TRACE(method);
        const auto run =
            baseline(method + " " + circles(6) + " --rank 2 --neighbors 3 --labels ring", out(method));
        ASSERT_EQ(run.exit_code, 0) << run.err;
        const AnnDataFile file = result(out(method));
        EXPECT_EQ(text(file, "method"), method);
        EXPECT_EQ(array(file, "H").shape, (std::vector<Index>{1, 2, 24}));
        EXPECT_EQ(file.obsm.at("X_" + method), slab_of(array(file, "H"), 0).transpose());
        EXPECT_EQ(file.obsm.at("X_pnmf"), file.obsm.at("X_" + method));
        EXPECT_EQ(file.varm.at("pnmf_W"), slab_of(array(file, "W"), 0));
        EXPECT_EQ(Json::parse(text(file, "options"))["method"], method);
        const auto score =
            run_command(program().string() + " score --json --labels label " + out(method).string());
        EXPECT_EQ(score.exit_code, 0) << score.err;
        EXPECT_EQ(Json::parse(score.out)["scales"].size(), 1U);
    }
}

TEST_F(BaselineVerb, HasThePublishedSettingsAndFlagsStandAboveThem) {
    ASSERT_EQ(baseline("gnmf " + circles(6) + " --rank 2 --settings published-2", out("a")).exit_code, 0);
    const Json a = summary(out("a"))["options"];
    EXPECT_EQ(a["neighbors"], 15);
    EXPECT_EQ(a["lambda"], 0.1);
    EXPECT_EQ(a["algorithm"], "multiplicative");
    EXPECT_EQ(a["tolerance"], 1e-3);
    ASSERT_EQ(
        baseline("gnmf --lambda 7 --settings published " + circles(6) + " --rank 3", out("b")).exit_code, 0);
    const Json b = summary(out("b"))["options"];
    EXPECT_EQ(b["neighbors"], 5);
    EXPECT_EQ(b["lambda"], 7.0);
    EXPECT_EQ(b["rank"], 3);
    const auto refused = baseline("gnmf --preset published " + circles(6), out("c"));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, ::testing::HasSubstr("--settings published"));
}

TEST_F(BaselineVerb, WritesWhatTheLibraryFinds) {
    ASSERT_EQ(baseline("ktnmf --weights 1,0,2 " + circles(6) + " --rank 2", out()).exit_code, 0);
    const AnnDataFile file = result(out());
    BaselineFitOptions options{.graph = published_settings(Baseline::ktnmf), .rank = 2};
    options.graph.weights = {1.0, 0.0, 2.0};
    const Matrix X = std::get<Matrix>(read_dataset(folder_ / "circles6.h5ad").X);
    EXPECT_EQ(fit_baseline<double>(X, options).factors.H[0].transpose(), file.obsm.at("X_ktnmf"));
}

TEST_F(BaselineVerb, TheGraphMayComeFromAnEntryOfObsm) {
    ASSERT_FALSE(circles(6).empty());
    AnnDataFile file = read_anndata(folder_ / "circles6.h5ad");
    const Matrix line = Vector::LinSpaced(24, 1.0, 2.0).array().square().matrix();
    file.obsm["line"] = line;
    write_anndata(folder_ / "line.h5ad", file);
    const std::string data = "gnmf '" + (folder_ / "line.h5ad").string() + "' --transform none --rank 2";
    const auto run = baseline(data + " --space obsm:line --neighbors 1", out());
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(summary(out())["edges"], 23) << "each cell with the one before";
    EXPECT_EQ(text(result(out()), "space/name"), "obsm:line");
    EXPECT_EQ(baseline(data + " --space obsm:circle", out("a")).exit_code, 2);
    ASSERT_EQ(baseline(data + " --space pca:2", out("a")).exit_code, 0);
    EXPECT_EQ(summary(out("a"))["space"], "pca:2");
}

TEST_F(BaselineVerb, APresetPreparesTheDataAsItDoesForAFit) {
    const std::string data = circles(6) + " --genes 8 --rank 2";
    ASSERT_EQ(baseline("gnmf " + data + " --preset cells", out("a")).exit_code, 0);
    const auto fitted = run_command("'" + program().string() + "' fit " + data + " --preset cells -o '" +
                                    out("b").string() + "'");
    ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
    EXPECT_EQ(text(result(out("a")), "space/name"), text(result(out("b")), "space/name"));
    EXPECT_EQ(text(result(out("a")), "input"), text(result(out("b")), "input"));
    EXPECT_EQ(summary(out("a"))["precision"], "float");
}

TEST_F(BaselineVerb, WhatCannotBeFactorisedEndsWithCode2) {
    EXPECT_EQ(baseline("gnmf " + circles(6) + " --neighbors 24", out()).exit_code, 2);
    EXPECT_EQ(baseline("gnmf " + circles(6) + " --rank 25", out()).exit_code, 2);
    EXPECT_EQ(baseline("tnmf " + circles(6) + " --weights 0,0", out()).exit_code, 2);
    EXPECT_EQ(baseline("pca " + circles(6), out()).exit_code, 2);
    EXPECT_FALSE(fs::exists(out()));
}

TEST_F(BaselineVerb, AFitMayChooseItsRankByHeldOutEntries) {
    const auto run = expect_done(circles(6) + " --choose-rank --max-scales 3 --json", out());
    const Json json = Json::parse(run.out);
    EXPECT_NE(run.err.find("error on held-out entries (and stability of the programs): rank 2"),
              std::string::npos)
        << run.err;
    EXPECT_EQ(json["rank"], json["options"]["rank"]);
    EXPECT_EQ(fit(circles(6) + " --choose-rank --rank 2", out("both")).exit_code, 2);
}

TEST_F(BaselineVerb, AResultIsReplacedOnlyWhenThatIsAskedFor) {
    const std::string command =
        "'" + program().string() + "' baseline nmf " + circles(6) + " --rank 2 -o '" + out().string() + "'";
    ASSERT_EQ(run_command(command).exit_code, 0);
    const std::string before = read_file(out() / "result.h5ad");
    const CommandResult again = run_command(command + " --seeding random");
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_THAT(again.err, ::testing::HasSubstr("--overwrite"));
    EXPECT_EQ(read_file(out() / "result.h5ad"), before);
    EXPECT_EQ(run_command(command + " --overwrite").exit_code, 0);
}

TEST_F(BaselineVerb, StrictEndsWithCode3WhenTheRunDidNotConverge) {
    EXPECT_EQ(baseline("nmf " + circles(6) + " --rank 2 --max-steps 1 --strict", out()).exit_code, 3);
    EXPECT_TRUE(fs::exists(out() / "result.h5ad"));
}

} // namespace
} // namespace pnmf::test
