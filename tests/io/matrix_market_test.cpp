#include "io/files.hpp"
#include "support/paths.hpp"

#include <gmock/gmock.h>

namespace pnmf::test {
namespace {

using testing::HasSubstr;

Matrix read_back(const std::string& text) {
    const TemporaryFolder folder;
    return dense_of(read_dataset(write_text(folder / "m.mtx", text)));
}

std::string complaint(const std::string& text) {
    const TemporaryFolder folder;
    return complaint_of([&] { read_dataset(write_text(folder / "m.mtx", text)); });
}

Matrix matrix_of(Index rows, Index cols, std::initializer_list<double> by_rows) {
    Matrix result(rows, cols);
    Index k = 0;
    for (const double x : by_rows) {
        result(k / cols, k % cols) = x;
        ++k;
    }
    return result;
}

TEST(MatrixMarket, CommentsBlankLinesAndSpacesMayStandAnywhere) {
    EXPECT_EQ(read_back("%%MatrixMarket  MATRIX coordinate Real general\r\n% said\r\n\r\n  2\t3 3 \r\n\n1 1 "
                        "1.5\r\n% more\n"
                        "   2   3\t-2e-3\n\n2 1 +4"),
              matrix_of(2, 3, {1.5, 0, 0, 4, 0, -2e-3}));
}

TEST(MatrixMarket, EntriesOfAnyOrderAndRepeatedPlacesAreAddedUpWithANotice) {
    const TemporaryFolder folder;
    const Dataset data = read_dataset(
        write_text(folder / "m.mtx",
                   "%%MatrixMarket matrix coordinate integer general\n2 2 4\n2 2 5\n1 1 1\n2 2 7\n1 2 3\n"));
    EXPECT_EQ(dense_of(data), matrix_of(2, 2, {1, 3, 0, 12}));
    EXPECT_TRUE(any_contains(data.notices, "1 entries repeat a place"));
}

TEST(MatrixMarket, APatternHasOnes) {
    EXPECT_EQ(read_back("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n"),
              matrix_of(2, 2, {0, 1, 1, 0}));
}

TEST(MatrixMarket, SymmetricFilesGiveBothHalves) {
    EXPECT_EQ(read_back("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n3 1 2\n3 2 5\n"),
              matrix_of(3, 3, {1, 0, 2, 0, 0, 5, 2, 5, 0}));
    EXPECT_EQ(read_back("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n"),
              matrix_of(2, 2, {0, -3, 3, 0}));
    EXPECT_EQ(read_back("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
              matrix_of(3, 3, {1, 2, 3, 2, 4, 5, 3, 5, 6}));
    EXPECT_EQ(read_back("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"),
              matrix_of(3, 3, {0, -1, -2, 1, 0, -3, 2, 3, 0}));
}

TEST(MatrixMarket, AnArrayRunsDownItsColumns) {
    EXPECT_EQ(read_back("%%MatrixMarket matrix array integer general\n2 3\n1 2\n3 4 5\n\n6\n"),
              matrix_of(2, 3, {1, 3, 5, 2, 4, 6}));
}

TEST(MatrixMarket, ManyBlocksOfLinesGiveTheMatrixOfOne) {
    // Over 3 MB of text, so that lines cross the ends of blocks; gzip in two members.
    const TemporaryFolder folder;
    const Index rows = 1000;
    const Index cols = 300;
    std::string text =
        fmt::format("%%MatrixMarket matrix coordinate integer general\n{} {} {}\n", rows, cols, rows * cols);
    const auto value = [](Index i, Index j) {
        return static_cast<double>((i * 7919 + j * 104729) % 1000003);
    };
    for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
            text += fmt::format("{} {} {}\n", i + 1, j + 1, value(i, j));
        }
    }
    const std::string half = text.substr(text.size() / 2);
    write_gzip(folder / "a.gz", text.substr(0, text.size() / 2));
    write_gzip(folder / "b.gz", half);
    write_text(folder / "m.mtx.gz", read_text(folder / "a.gz") + read_text(folder / "b.gz"));
    for (const auto& path : {folder / "m.mtx.gz", write_text(folder / "m.mtx", text)}) {
        const Matrix X = dense_of(read_dataset(path));
        ASSERT_EQ(X.rows(), rows);
        ASSERT_EQ(X.cols(), cols);
        for (Index j = 0; j < cols; ++j) {
            for (Index i = 0; i < rows; ++i) {
                ASSERT_EQ(X(i, j), value(i, j)) << i << " " << j;
            }
        }
    }
    // An error deep inside names its line.
    const std::size_t at = text.find("\n500 200 ");
    text.replace(at, 5, "\n5x0 ");
    const std::string message = complaint_of([&] { read_dataset(write_text(folder / "m.mtx", text)); });
    EXPECT_THAT(message, HasSubstr(fmt::format("m.mtx:{}: expected a row, a column and a value",
                                               2 + 199 * rows + 500)));
}

TEST(MatrixMarket, WhatIsWrongIsNamedWithItsPlace) {
    const std::string head = "%%MatrixMarket matrix coordinate real general\n";
    EXPECT_THAT(complaint("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n"),
                HasSubstr(":1: the values are complex"));
    EXPECT_THAT(complaint("%%MatrixMarket vector coordinate real general\n"),
                HasSubstr(":1: expected '%%MatrixMarket"));
    EXPECT_THAT(complaint("%%MatrixMarket matrix coordinate real hermitian\n"),
                HasSubstr("symmetry must be"));
    EXPECT_THAT(complaint("%%MatrixMarket matrix array pattern general\n"),
                HasSubstr("an array cannot be a pattern"));
    EXPECT_THAT(complaint("1 1 1\n1 1 1\n"), HasSubstr(":1: expected '%%MatrixMarket"));
    EXPECT_THAT(complaint(head), HasSubstr("ends before the line of sizes"));
    EXPECT_THAT(complaint(head + "3 3\n"),
                HasSubstr(":2: expected the numbers of rows, columns and entries, got '3 3'"));
    EXPECT_THAT(complaint(head + "3 -3 1\n"), HasSubstr(":2: expected the numbers"));
    EXPECT_THAT(complaint(head + "2 2 1\n3 1 1\n"),
                HasSubstr(":3: row 3, column 1 lies outside the matrix of 2 rows"));
    EXPECT_THAT(complaint(head + "2 2 1\n1 0 1\n"), HasSubstr(":3: row 1, column 0 lies outside"));
    EXPECT_THAT(complaint(head + "2 2 2\n1 1 1\n"), HasSubstr("announces 2 entries, but has 1"));
    EXPECT_THAT(complaint(head + "2 2 1\n1 1 1\n2 2 1\n"),
                HasSubstr("announces 1 entries, but has more than 1"));
    EXPECT_THAT(complaint(head + "2 2 1\n1 1\n"),
                HasSubstr(":3: expected a row, a column and a value, got '1 1'"));
    EXPECT_THAT(complaint(head + "2 2 1\n1 1 1 9\n"), HasSubstr(":3: expected"));
    EXPECT_THAT(complaint(head + "2 2 1\n1 1 one\n"), HasSubstr("got '1 1 one'"));
    EXPECT_THAT(complaint(head + "2 2 1\n1.0 1 1\n"), HasSubstr(":3: expected"));
    EXPECT_THAT(complaint(head + "2 2 999999999999999999\n1 1 1\n"), HasSubstr("too short"));
    EXPECT_THAT(complaint(head + "99999999999 2 1\n1 1 1\n"), HasSubstr("at most 2147483647"));
    EXPECT_THAT(complaint(head + "0 0 0\n"), HasSubstr("the matrix is empty"));
    EXPECT_THAT(complaint("%%MatrixMarket matrix array real general\n100000 100000\n1\n"),
                HasSubstr("too short"));
    EXPECT_THAT(complaint("%%MatrixMarket matrix array real general\n2 1\n1\ntwo\n"),
                HasSubstr(":4: expected a number, got 'two'"));
    EXPECT_THAT(complaint("%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n"),
                HasSubstr("more than 2"));
    EXPECT_THAT(complaint("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n"),
                HasSubstr("must be square"));
}

TEST(MatrixMarket, AFileThatIsAbsentEmptyOrCutGzipIsNamed) {
    const TemporaryFolder folder;
    EXPECT_THAT(complaint_of([&] { read_dataset(folder / "no.mtx"); }), HasSubstr("no.mtx: no such file"));
    EXPECT_THAT(complaint(""), HasSubstr("the file is empty"));
    write_gzip(folder / "m.mtx.gz", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
    const std::string whole = read_text(folder / "m.mtx.gz");
    write_text(folder / "cut.mtx.gz", whole.substr(0, whole.size() - 9));
    EXPECT_THAT(complaint_of([&] { read_dataset(folder / "cut.mtx.gz"); }),
                HasSubstr("cut.mtx.gz: the gzip data are cut off"));
    write_text(folder / "tail.mtx.gz", whole + "extra");
    EXPECT_THAT(complaint_of([&] { read_dataset(folder / "tail.mtx.gz"); }),
                HasSubstr("bytes that are not gzip follow"));
    write_text(folder / "zeros.mtx.gz", whole + std::string(512, '\0'));
    EXPECT_EQ(dense_of(read_dataset(folder / "zeros.mtx.gz")), matrix_of(1, 1, {1}));
}

} // namespace
} // namespace pnmf::test
