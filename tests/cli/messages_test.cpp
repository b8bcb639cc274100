#include "fit_fixture.hpp"

#include <gtest/gtest.h>

/// What is wrong with a command is said in plain words.
namespace pnmf::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Messages : public Fit {
  protected:
    CommandResult run(const std::string& arguments) const {
        return run_command("cd '" + folder_.path().string() + "' && '" + program().string() + "' " +
                           arguments);
    }
    void expect_refused(const std::string& arguments, const std::string& message) const {
        const CommandResult refused = run(arguments);
        EXPECT_EQ(refused.exit_code, 2) << arguments << "\n" << refused.err;
        EXPECT_THAT(refused.err, AllOf(HasSubstr(message), Not(HasSubstr("000000")))) << arguments;
    }
    /// `cells` cells of counts with names of genes; the last gene is seen nowhere.
    void counts(const std::string& name, int cells, int genes) const {
        std::string text = "gene";
        for (int j = 0; j < cells; ++j) {
            text += ",c" + std::to_string(j);
        }
        for (int i = 0; i < genes; ++i) {
            text += "\nGene" + std::to_string(i);
            for (int j = 0; j < cells; ++j) {
                text += "," + std::to_string(i + 1 < genes ? (7 * i + 11 * j * j + i * j) % 5 : 0);
            }
        }
        file(name, text + "\n");
    }
};

TEST_F(Messages, AValueThatIsNoNumberIsNamedWithWhatItMustBe) {
    counts("x.csv", 12, 8);
    expect_refused("fit x.csv -o out --clusters abc",
                   "--clusters: must be a whole number, at least 1, got abc");
    expect_refused("fit x.csv -o out --clusters 2.7", "at least 1, got 2.7");
    expect_refused("fit x.csv -o out --clusters 0", "at least 1, got 0");
    expect_refused("fit x.csv -o out --rank abc", "--rank must be a whole number, got abc");
    expect_refused("fit x.csv -o out --rank 2.7", "--rank must be a whole number, got 2.7");
    expect_refused("fit x.csv -o out --lambda1 abc", "--lambda1 must be a number, got abc");
    expect_refused("fit x.csv -o out --cells-min x",
                   "--cells-min: must be a whole number, at least 0, got x");
    expect_refused("fit x.csv -o out --threads -2", "--threads: must be a whole number, at least 1, got -2");
    expect_refused("scales x.csv --max-scales x", "--max-scales must be a whole number, got x");
    expect_refused("score x.csv --starts many", "--starts must be a whole number, got many");
}

TEST_F(Messages, GenesTakenForEmptyCellsAreToldFromThem) {
    counts("x.csv", 12, 8);
    expect_refused(
        "fit x.csv -o out --cells rows",
        "1 cell is zero in every gene: Gene7; leave them out, or, if these are genes, take the other "
        "axis as the cells");
}

TEST_F(Messages, TwoCellsAreFittedOrRefusedInPlainWords) {
    counts("two.csv", 2, 400);
    const CommandResult done = run("fit two.csv -o out --preset cells --no-report");
    EXPECT_THAT(done.err, Not(HasSubstr("Tridiag")));
    EXPECT_THAT(done.out, Not(HasSubstr("1 clusters")));
    EXPECT_TRUE(done.exit_code == 0 || done.exit_code == 2) << done.err;
}

TEST_F(Messages, ATableOfWordsIsToldFromData) {
    file("programs.tsv", "program\tgene\tscore\nP1\tA\t1\nP1\tB\t2\n");
    expect_refused("fit programs.tsv -o out",
                   "expected a number, got 'A'; only the first row and the first column may be names");
}

TEST_F(Messages, AZarrStoreIsNamed) {
    fs::create_directory(folder_ / "cells.zarr");
    expect_refused("fit cells.zarr -o out",
                   "cells.zarr: must be a Zarr store, but neither zarr.json nor .zgroup");
    fs::create_directory(folder_ / "store");
    file("store/.zgroup", R"({"zarr_format": 2})");
    expect_refused("fit store -o out", "store:/: must be an AnnData file, with 'obs' and 'var'");
}

TEST_F(Messages, AStartMayBeAFolder) {
    const std::string arguments = circles(3) + " --rank 3 --max-sweeps 3 --tolerance 0 --save-basis";
    expect_done(arguments, out("first"));
    expect_done(arguments + " --start-from '" + out("first").string() + "'", out("next"));
    expect_refused("fit circles3.h5ad -o out --start-from nothing",
                   "nothing: there is no such result of a fit");
}

TEST_F(Messages, AnOutputThatIsALinkToNothingSaysSo) {
    fs::create_symlink("absent", folder_ / "out");
    circles(3);
    expect_refused("fit circles3.h5ad -o out", "out: is a link to absent, which is not there");
}

TEST_F(Messages, ResumeAndOverwriteExcludeEachOther) {
    circles(3);
    expect_refused("fit circles3.h5ad -o out --resume --overwrite", "--resume excludes --overwrite");
}

} // namespace
} // namespace pnmf::test
