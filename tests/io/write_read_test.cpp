#include "files/atomic_file.hpp"
#include "io/files.hpp"
#include "support/paths.hpp"

#include <pnmf/io/write.hpp>

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

namespace pnmf::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::vector<std::pair<Index, Index>> shapes{{1, 1}, {1, 7}, {7, 1}, {5, 8}, {40, 23}};

TEST(WriteRead, MatrixMarketGivesTheSameMatrixSparseOrDenseOnEitherAxis) {
    const TemporaryFolder folder;
    std::uint64_t seed = 1;
    for (const auto& [p, n] : shapes) {
        for (const CellAxis cells : {CellAxis::rows, CellAxis::columns}) {
            for (const char* name : {"m.mtx", "m.mtx.gz"}) {
                const Matrix X = random_matrix(p, n, seed++);
                write_matrix_market(folder / name, named(to_sparse(X)), cells);
                const Dataset sparse = read_dataset(folder / name, {.cells = cells});
                EXPECT_TRUE(sparse.is_sparse());
                check_structure(std::get<SparseMatrix<double>>(sparse.X));
                EXPECT_EQ(dense_of(sparse), X);
                write_matrix_market(folder / name, named(X), cells);
                const Dataset dense = read_dataset(folder / name, {.cells = cells});
                EXPECT_FALSE(dense.is_sparse());
                EXPECT_EQ(dense_of(dense), X);
            }
        }
    }
}

TEST(WriteRead, DelimitedTextGivesTheSameMatrixAndNames) {
    const TemporaryFolder folder;
    std::uint64_t seed = 100;
    for (const auto& [p, n] : shapes) {
        for (const CellAxis cells : {CellAxis::rows, CellAxis::columns}) {
            for (const char* name : {"m.csv", "m.tsv", "m.csv.gz", "m.tsv.gz"}) {
                Dataset data = named(random_matrix(p, n, seed));
                if (seed++ % 2 == 0) {
                    data.X = to_sparse(std::get<Matrix>(data.X));
                }
                write_delimited(folder / name, data, cells);
                const Dataset back = read_dataset(folder / name, {.cells = cells});
                EXPECT_EQ(dense_of(back), dense_of(data));
                EXPECT_EQ(back.cell_names, data.cell_names);
                EXPECT_EQ(back.feature_names, data.feature_names);
            }
        }
    }
}

TEST(WriteRead, NamesOfAnyTextSurviveInDelimitedFiles) {
    const TemporaryFolder folder;
    const std::vector<std::string> odd{"a,b",   "tab\there", "say \"hi\"", "two\nlines", " space ",
                                       "#hash", "7",         "naïve",      "\"",         "CR\r\nLF",
                                       "",      "1e5",       "NA",         "semi;colon"};
    Dataset data = named(random_matrix(static_cast<Index>(odd.size()), static_cast<Index>(odd.size()), 5));
    data.cell_names = odd;
    data.feature_names = odd;
    for (const char* name : {"m.csv", "m.tsv"}) {
        write_delimited(folder / name, data);
        const Dataset back = read_dataset(folder / name);
        EXPECT_EQ(back.cell_names, odd);
        EXPECT_EQ(back.feature_names, odd);
        EXPECT_EQ(dense_of(back), dense_of(data));
    }
}

TEST(WriteRead, NpyGivesTheSameMatrixInBothOrdersAndPrecisions) {
    const TemporaryFolder folder;
    std::uint64_t seed = 200;
    for (const auto& [rows, cols] : shapes) {
        const Matrix X = random_matrix(rows, cols, seed++);
        write_npy(folder / "fortran.npy", X);
        EXPECT_EQ(dense_of(read_dataset(folder / "fortran.npy", {.cells = CellAxis::columns})), X);
        EXPECT_EQ(dense_of(read_dataset(folder / "fortran.npy")), X.transpose());
        // A column-major X is a C-ordered array of its transpose.
        const std::vector<Index> shape{cols, rows};
        write_npy<double>(folder / "c.npy", {X.data(), static_cast<std::size_t>(X.size())}, shape);
        EXPECT_EQ(dense_of(read_dataset(folder / "c.npy")), X);
        EXPECT_EQ(dense_of(read_dataset(folder / "c.npy", {.cells = CellAxis::columns})), X.transpose());
        const DenseMatrix<float> single = random_matrix(rows, cols, seed).cwiseMin(1e30).cast<float>();
        write_npy(folder / "single.npy", single);
        EXPECT_EQ(dense_of(read_dataset(folder / "single.npy", {.cells = CellAxis::columns})),
                  single.cast<double>());
    }
}

TEST(WriteRead, ATableKeepsItsColumns) {
    const TemporaryFolder folder;
    write_table(folder / "t.csv", {{.name = "name", .values = std::vector<std::string>{"a", "b,c"}},
                                   {.name = "x", .values = std::vector<double>{0.1, 1e300}}});
    EXPECT_EQ(read_text(folder / "t.csv"), "name,x\na,0.1\n\"b,c\",1e+300\n");
    EXPECT_THROW(write_table(folder / "u.csv", {{.name = "a", .values = std::vector<double>{1.0}},
                                                {.name = "b", .values = std::vector<double>{}}}),
                 InputError);
    EXPECT_FALSE(fs::exists(folder / "u.csv"));
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
    const TemporaryFolder folder;
    write_text(folder / "f", "old");
    {
        AtomicFile file(folder / "f");
        file.write("half");
    }
    EXPECT_EQ(read_text(folder / "f"), "old");
    std::string large(1000003, 'x');
    {
        AtomicFile file(folder / "f");
        file.write("begin");
        file.write(large);
        file.write("end");
        EXPECT_EQ(read_text(folder / "f"), "old");
        file.commit();
    }
    EXPECT_EQ(read_text(folder / "f"), "begin" + large + "end");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << "no temporary file is left";
}

TEST(AtomicFile, TakesWhatALibraryWroteToItsTemporaryPath) {
    const TemporaryFolder folder;
    AtomicFile file(folder / "f");
    write_text(file.temporary(), "by a library");
    file.commit();
    EXPECT_EQ(read_text(folder / "f"), "by a library");
}

TEST(AtomicFile, KeepsLinksAndPermissions) {
    const TemporaryFolder folder;
    write_text(folder / "target", "old");
    fs::permissions(folder / "target", fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink(folder / "target", folder / "link");
    AtomicFile file(folder / "link");
    file.write("new");
    file.commit();
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(read_text(folder / "target"), "new");
    EXPECT_EQ(fs::status(folder / "target").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, SaysWhichFileCannotBeWritten) {
    const TemporaryFolder folder;
    const auto message = [](const fs::path& path) -> std::string {
        try {
            write_npy(path, Matrix(Matrix::Ones(2, 2)));
        } catch (const SystemError& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_THAT(message(folder / "absent" / "x.npy"),
                HasSubstr("absent/x.npy: cannot be written: No such file"));
    EXPECT_THAT(complaint_of([&] { write_npy(folder.path(), Matrix(Matrix::Ones(2, 2))); }),
                HasSubstr("is a folder"));
    EXPECT_THAT(complaint_of([] { write_npy("/dev/null", Matrix(Matrix::Ones(2, 2))); }),
                HasSubstr("/dev/null: is not a regular file"));
}

TEST(AtomicFile, AFullDiskLeavesTheOldFileAndNothingElse) {
    const TemporaryFolder folder;
    const fs::path file = folder / "x.npy";
    write_text(file, "old");
    // A file-size limit makes `write` fail as a full disk does, in a process of its own.
    const std::string program = test::program().string();
    write_text(folder / "in.csv", "gene,a,b\ng1,1,2\ng2,3,4\n");
    const CommandResult result =
        run_command("cd '" + folder.path().string() + "' && ( trap '' XFSZ; ulimit -f 0; '" + program +
                    "' convert in.csv x.npy 2>&1 ) | cat");
    EXPECT_THAT(result.out, HasSubstr("x.npy: cannot be written: File too large"));
    EXPECT_EQ(read_text(file), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2) << "in.csv and x.npy";
}

} // namespace
} // namespace pnmf::test
