#include "fit_fixture.hpp"

#include <gtest/gtest.h>

/// No verb writes over a file that it reads, whatever spelling or link leads there.
namespace pnmf::test {
namespace {

using ::testing::HasSubstr;

class KeptInputs : public Fit {
  protected:
    CommandResult run(const std::string& arguments) const {
        return run_command("cd '" + folder_.path().string() + "' && '" + program().string() + "' " +
                           arguments);
    }
    /// Nothing in `kept` changes, and the message names flag and file.
    void expect_kept(const std::string& arguments, const std::string& kept,
                     const std::string& message) const {
        const std::string before = read_file(folder_ / kept);
        const CommandResult refused = run(arguments);
        EXPECT_EQ(refused.exit_code, 2) << arguments << "\n" << refused.err;
        EXPECT_THAT(refused.err, HasSubstr(message)) << arguments;
        EXPECT_TRUE(read_file(folder_ / kept) == before) << arguments;
    }
};

TEST_F(KeptInputs, AResultIsNotReplacedByAnyVerbThatReadsIt) {
    expect_done(circles() + " --rank 3 --max-scales 3 --no-report", out());
    fs::create_symlink("out/result.h5ad", folder_ / "link.tsv");
    fs::create_hard_link(out() / "result.h5ad", folder_ / "hard.h5ad");
    fs::create_directory(folder_ / "sub");
    fs::create_symlink("../out", folder_ / "sub" / "out");
    const std::string data = circles();
    for (const std::string name :
         {"out/result.h5ad", "./out/../out/result.h5ad", "link.tsv", "hard.h5ad", "sub/out/result.h5ad"}) {
        for (const std::string result : {"out", "out/result.h5ad"}) {
            const std::string message = " would replace out/result.h5ad, which this command reads (RESULT";
            expect_kept("programs " + result + " -o " + name, "out/result.h5ad", "--output" + message);
            expect_kept("paths " + result + " --root c0 -o " + name, "out/result.h5ad", "--output" + message);
            expect_kept("report " + result + " --output=" + name, "out/result.h5ad", "--output" + message);
            expect_kept("check " + result + " -o " + name, "out/result.h5ad", "--output" + message);
            expect_kept("score " + result + " --write-clusters " + name, "out/result.h5ad",
                        "--write-clusters" + message);
            expect_kept("transform " + result + " " + data + " -o " + name, "out/result.h5ad",
                        "--output" + message);
        }
    }
    expect_kept("fit out/result.h5ad -o out --overwrite", "out/result.h5ad", "reads (INPUT)");
    expect_kept("fit " + data + " --start-from hard.h5ad -o sub/out --overwrite", "out/result.h5ad",
                "reads (--start-from)");
}

TEST_F(KeptInputs, DataLabelsAndTablesNextToAMatrixAreNotReplaced) {
    circles();
    file("x.csv", "gene,A,B\nx,1,2\ny,2,1\n");
    file("x.tsv", "cell\tlabel\nA\t1\nB\t2\n");
    fs::create_directory(folder_ / "tenx");
    file("tenx/matrix.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 3\n2 2 1\n");
    file("tenx/genes.tsv", "id1\tx\nid2\ty\n");
    file("tenx/barcodes.tsv", "A\nB\n");
    expect_kept("convert circles5.h5ad circles5.h5ad", "circles5.h5ad",
                "OUTPUT would replace circles5.h5ad, which this command reads (INPUT)");
    expect_kept("convert x.csv x.tsv --labels x.tsv:label", "x.tsv", "reads (--labels)");
    expect_kept("convert tenx tenx/barcodes.tsv", "tenx/barcodes.tsv", "reads (INPUT)");
    expect_kept("convert tenx/matrix.mtx tenx/genes.tsv", "tenx/genes.tsv", "reads (INPUT)");
    expect_kept("scales x.csv -o ./x.csv", "x.csv", "reads (INPUT)");
    expect_kept("fit circles5.h5ad -o run --trace circles5.h5ad", "circles5.h5ad", "reads (INPUT)");
    EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(KeptInputs, TwoOutputsAreNotOneFile) {
    circles();
    const CommandResult refused = run("fit circles5.h5ad -o run --trace run/../run/result.h5ad");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("both name run/"));
}

TEST_F(KeptInputs, AFolderThatIsMissingIsNamedBeforeAnythingIsRead) {
    for (const std::string verb :
         {"report nothing -o", "transform nothing nothing.csv -o", "convert nothing.csv"}) {
        const CommandResult refused = run(verb + " missing/file.csv");
        EXPECT_EQ(refused.exit_code, 1) << verb;
        EXPECT_THAT(refused.err, HasSubstr("there is no folder missing; make it first")) << verb;
    }
}

TEST_F(KeptInputs, OtherFilesOfTheFolderOfARunMayBeWritten) {
    expect_done(circles() + " --rank 3 --max-scales 3 --no-report", out());
    for (int time = 0; time < 2; ++time) {
        EXPECT_EQ(run("report out -o out/report.html").exit_code, 0);
        EXPECT_EQ(run("programs out -o out/programs.tsv").exit_code, 0);
        EXPECT_EQ(run("convert circles5.h5ad out/copy.npy").exit_code, 0);
    }
}

} // namespace
} // namespace pnmf::test
