#include "io/files.hpp"
#include "support/paths.hpp"

#include <gmock/gmock.h>

namespace pnmf::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Convert : public testing::Test {
  protected:
    CommandResult convert(const std::string& arguments) const {
        return run_command("cd '" + folder_.path().string() + "' && '" + program().string() + "' convert " +
                           arguments);
    }
    bool exists(const std::string& name) const { return fs::exists(folder_ / name); }

    TemporaryFolder folder_;
};

TEST_F(Convert, WritesEachFormatAndSaysEachChoiceOnStderr) {
    write_text(folder_ / "in.csv", "gene,A,B\nx,1,0\ny,2.5,3\n");
    for (const std::string name : {"o.h5ad", "o.npy", "o.tsv", "o.csv.gz", "o.mtx", "o.mtx.gz"}) {
        const CommandResult result = convert("in.csv " + name);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(
            result.err,
            HasSubstr(
                "in.csv: delimited text, 2 features x 2 cells, dense; cells are the columns (default)"));
        EXPECT_THAT(result.err, HasSubstr("in.csv: delimited by comma, with a header, with row names"));
        EXPECT_THAT(result.err, HasSubstr(name + ": 2 features x 2 cells written"));
        Matrix expected(2, 2);
        expected << 1, 0, 2.5, 3;
        EXPECT_EQ(dense_of(read_dataset(folder_ / name)), expected) << name;
    }
}

TEST_F(Convert, AZarrStoreHasAllOfItsFileAndReplacesNothing) {
    write_text(folder_ / "in.csv", "gene,A,B\nx,1,0\ny,2.5,3\n");
    EXPECT_EQ(convert("in.csv all.h5ad").exit_code, 0);
    const CommandResult done = convert("all.h5ad all.zarr");
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("all.zarr: all of all.h5ad written"));
    EXPECT_EQ(dense_of(read_dataset(folder_ / "all.zarr")), dense_of(read_dataset(folder_ / "all.h5ad")));
    EXPECT_EQ(convert("all.zarr again.h5ad").exit_code, 0);
    EXPECT_EQ(dense_of(read_dataset(folder_ / "again.h5ad")), dense_of(read_dataset(folder_ / "all.h5ad")));
    for (const auto& [arguments, complaint] :
         {std::pair{"all.h5ad all.zarr", "all.zarr: is there already"},
          {"in.csv new.zarr", "only .h5ad files"},
          {"all.h5ad new.zarr --layer X", "--layer cannot be used with a Zarr store"},
          {"absent.h5ad new.zarr", "absent.h5ad"}}) {
        const CommandResult refused = convert(arguments);
        EXPECT_EQ(refused.exit_code, 2) << arguments;
        EXPECT_THAT(refused.err, HasSubstr(complaint));
        EXPECT_FALSE(exists("new.zarr"));
    }
}

TEST_F(Convert, MakesNamesOfGenesUniqueInEveryFormatAndSaysSo) {
    write_text(folder_ / "genes.csv", "gene,A,B\nx,1,2\nx,1,2\n");
    const CommandResult result = convert("genes.csv out.csv");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("1 names of genes occur more than once"));
}

TEST_F(Convert, EachKindOfBadInputIsExitTwoWithAPlaceAndNothingWritten) {
    struct Case {
        const char* file;
        const char* text;
        const char* arguments;
        const char* message;
    };
    const std::vector<Case> cases{
        {"nan.csv", "gene,A,B\nx,1,nan\n", "", "1 is NaN; the first is nan at cell B, gene x"},
        {"inf.csv", "gene,A,B\nx,1,inf\n", "", "1 is infinite; the first is inf at cell B, gene x"},
        {"negative.csv", "gene,A,B\nx,1,-3\n", "", "1 is negative; the first is -3 at cell B, gene x"},
        {"ragged.csv", "gene,A,B\nx,1,2\ny,1\n", "", "ragged.csv:3: expected 3 columns, got 2"},
        {"cells.csv", "gene,A,A\nx,1,2\n", "", "names of cells must differ, 1 occurs more than once: A"},
        {"empty.csv", "gene,A,B\nx,0,2\n", "--transform log-unit",
         "take the other axis as the cells; --drop-empty leaves them out, --cells rows or"},
        {"cut.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n", "",
         "cut.mtx: announces 3 entries"},
        {"labels.csv", "gene,A,B\nx,1,2\n", "--labels nothing",
         "labels 'nothing': neither a column of the data nor a file"},
        {"zero.csv", "", "", "zero.csv: the file is empty"},
        {"cells2.csv", "gene,A,B\nx,1,2\n", "--cells sideways", "--cells"},
    };
    for (const Case& c : cases) {
        write_text(folder_ / c.file, c.text);
        const CommandResult result = convert(std::string(c.file) + " out.npy " + c.arguments);
        EXPECT_EQ(result.exit_code, 2) << c.file << result.err;
        EXPECT_THAT(result.err, HasSubstr(c.message)) << c.file;
        EXPECT_FALSE(exists("out.npy")) << c.file;
    }
    EXPECT_EQ(convert("absent.csv out.npy").exit_code, 2);
    EXPECT_THAT(convert("nan.csv out.xyz").err, HasSubstr("out.xyz: the ending must be one of"));
}

TEST_F(Convert, ATargetThatCannotBeWrittenIsExitOne) {
    write_text(folder_ / "in.csv", "gene,A\nx,1\n");
    const CommandResult result = convert("in.csv absent/out.npy");
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("absent/out.npy: cannot be written"));
}

constexpr const char* every_ending[] = {"h5ad", "npy", "csv", "csv.gz", "tsv", "mtx", "mtx.gz"};

TEST_F(Convert, WhenTheDiskFillsUpTheOldFileStaysAndNothingElseDoes) {
    ASSERT_EQ(run_command("'" + program().string() + "' simulate circles -o '" +
                          (folder_ / "in.csv").string() + "'")
                  .exit_code,
              0);
    const auto before = std::distance(fs::directory_iterator(folder_.path()), {});
    for (const std::string ending : every_ending) {
        const std::string name = "o." + ending;
        write_text(folder_ / name, "old");
        // A limit on the size of files, in blocks, stands for the full disk: writing fails midway.
        const CommandResult full = run_command("cd '" + folder_.path().string() + "' && ulimit -f 8 && '" +
                                               program().string() + "' convert in.csv " + name);
        EXPECT_EQ(full.exit_code, 1) << name << full.err;
        EXPECT_THAT(full.err, HasSubstr(name + ": cannot be written: File too large"));
        EXPECT_EQ(read_text(folder_ / name), "old");
        fs::remove(folder_ / name);
        EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), before) << name;
    }
}

TEST_F(Convert, OntoAFullDiskSaysThatThereIsNoSpaceAndLeavesNothing) {
    const fs::path disk = folder_ / "disk";
    fs::create_directory(disk);
    if (run_command("mount -t tmpfs -o size=16k tmpfs '" + disk.string() + "'").exit_code != 0) {
        GTEST_SKIP() << "a small disk cannot be mounted here";
    }
    EXPECT_EQ(run_command("'" + program().string() + "' simulate circles -o '" +
                          (folder_ / "in.csv").string() + "'")
                  .exit_code,
              0);
    for (const std::string ending : every_ending) {
        const CommandResult full = convert("in.csv disk/o." + ending);
        EXPECT_EQ(full.exit_code, 1) << ending << full.err;
        EXPECT_THAT(full.err, HasSubstr("o." + ending + ": cannot be written: No space left on device"));
        EXPECT_TRUE(fs::is_empty(disk)) << ending;
    }
    EXPECT_EQ(run_command("umount '" + disk.string() + "'").exit_code, 0);
}

TEST_F(Convert, DropsEmptyCellsWhenAskedTo) {
    write_text(folder_ / "in.csv", "gene,A,B\nx,0,2\ny,0,0\n");
    const CommandResult result = convert("in.csv out.csv --drop-empty");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(read_text(folder_ / "out.csv"), "gene,B\nx,2\n");
    EXPECT_THAT(result.err, HasSubstr("1 cell is zero in every gene and left out: A"));
    EXPECT_THAT(result.err, HasSubstr("1 gene is zero in every cell and left out: y"));
}

} // namespace
} // namespace pnmf::test
