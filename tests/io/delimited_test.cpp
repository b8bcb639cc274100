#include "io/files.hpp"
#include "support/paths.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace pnmf::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Dataset read_as(const std::string& name, const std::string& text, CellAxis cells = CellAxis::columns) {
    const TemporaryFolder folder;
    return read_dataset(write_text(folder / name, text), {.cells = cells});
}

std::string complaint(const std::string& name, const std::string& text) {
    const TemporaryFolder folder;
    return complaint_of([&] { read_dataset(write_text(folder / name, text)); });
}

Matrix one_to_four() {
    Matrix X(2, 2);
    X << 1, 2, 3, 4;
    return X;
}

TEST(Delimited, HeaderAndRowNamesAreFoundInEachLayout) {
    struct Case {
        const char* name;
        const char* text;
        bool header;
        bool rows;
    };
    const std::vector<Case> cases{
        {"bare.csv", "1,2\n3,4\n", false, false},
        {"header.csv", "a,b\n1,2\n3,4\n", true, false},
        {"rows.csv", "x,1,2\ny,3,4\n", false, true},
        {"both.csv", "gene,a,b\nx,1,2\ny,3,4\n", true, true},
        {"corner.csv", ",a,b\nx,1,2\ny,3,4\n", true, true},
        {"short.tsv", "a\tb\nx\t1\t2\ny\t3\t4\n", true, true},
        {"pandas.csv", ",0,1\n0,1,2\n1,3,4\n", true, true},
        {"quoted.csv", "\"\",\"1\",\"2\"\n\"1\",1,2\n\"2\",3,4\n", true, true},
        {"quoted_numbers.csv", "\"5\",\"6\"\n1,2\n3,4\n", true, false},
        {"bom.csv", "\xef\xbb\xbfgene,a,b\r\nx,1,2\r\ny,3,4\r\n", true, true},
        {"comment.csv", "# made by hand\n# twice\ngene,a,b\nx,1,2\n\ny,3,4", true, true},
        {"semicolon.csv", "gene;a;b\nx;1;2\ny;3;4\n", true, true},
        {"tabs.csv", "1\t2\n3\t4\n", false, false},
        {"spaces.csv", "a, b\n 1 , 2\n3,  4 \n", true, false}};
    for (const Case& c : cases) {
        const Dataset data = read_as(c.name, c.text);
        EXPECT_EQ(dense_of(data), one_to_four()) << c.name;
        EXPECT_EQ(data.cell_names[0] != "cell1", c.header) << c.name;
        EXPECT_EQ(data.feature_names[0] != "feature1", c.rows) << c.name;
        EXPECT_TRUE(any_contains(data.notices, c.header ? "with a header" : "no header")) << c.name;
        EXPECT_TRUE(any_contains(data.notices, c.rows ? "with row names" : "no row names")) << c.name;
    }
}

TEST(Delimited, CellsAsRowsTransposeTheMatrixAndItsNames) {
    const Dataset data = read_as("m.csv", "cell,g1,g2\nA,1,3\nB,2,4\n", CellAxis::rows);
    EXPECT_EQ(dense_of(data), one_to_four());
    EXPECT_THAT(data.cell_names, ElementsAre("A", "B"));
    EXPECT_THAT(data.feature_names, ElementsAre("g1", "g2"));
}

TEST(Delimited, WhatIsWrongIsNamedWithItsPlace) {
    EXPECT_THAT(complaint("m.csv", "gene,a,b\nx,1,2\ny,3\n"),
                HasSubstr("m.csv:3: expected 3 columns, got 2"));
    EXPECT_THAT(complaint("m.csv", "gene,a,b\nx,1,2\ny,3,4,5\n"),
                HasSubstr("m.csv:3: expected 3 columns, got 4"));
    EXPECT_THAT(complaint("m.csv", "a,b,c\n1,2,3\n1,2\n"), HasSubstr("m.csv:3: expected 3 columns, got 2"));
    EXPECT_THAT(complaint("m.csv", "gene,a,b\nx,1,2\ny,three,4\n"),
                HasSubstr("m.csv:3:2: expected a number, got 'three'"));
    EXPECT_THAT(complaint("m.csv", "gene,a,b\nx,1,2\ny,3,\n"), HasSubstr("m.csv:3:3: the field is empty"));
    EXPECT_THAT(complaint("m.csv", "1,NA\n2,3\n"), HasSubstr("m.csv:1:2: expected a number, got 'NA'"));
    EXPECT_THAT(complaint("m.csv", "gene,a,b\n"), HasSubstr("a header is all there is"));
    EXPECT_THAT(complaint("m.csv", "\n\n"), HasSubstr("holds no values"));
    EXPECT_THAT(complaint("m.csv", "gene,a\n\"x,1\n"),
                HasSubstr("m.csv:2: a quote is opened and never closed"));
    EXPECT_THAT(complaint("m.csv", "gene,a\n\"x\"y,1\n"), HasSubstr("m.csv:2: text follows a closing quote"));
    EXPECT_THAT(complaint("m.csv", "a,b,c\n1,2\n3,4\n"), HasSubstr("m.csv:1: expected 2 columns, got 3"));
    EXPECT_THAT(complaint("m.csv", std::string("a,b\n1,\0\n", 8)), HasSubstr("not a format"));
}

TEST(Delimited, TheFirstErrorOfTheFileIsReportedWhateverBlockItIsIn) {
    std::string text = "g,a,b\n";
    for (int i = 0; i < 1000; ++i) {
        text += i >= 300 && i % 100 == 0 ? fmt::format("n{},1,bad\n", i) : fmt::format("n{},1,2\n", i);
    }
    for (int repeat = 0; repeat < 5; ++repeat) {
        EXPECT_THAT(complaint("m.csv", text), HasSubstr("m.csv:302:3: expected a number, got 'bad'"));
    }
}

TEST(Delimited, LinesNumberTheFileAlsoAfterQuotedLineEnds) {
    EXPECT_THAT(complaint("m.csv", "gene,a\n\"two\nlines\",1\ny,bad\n"),
                HasSubstr("m.csv:4:2: expected a number"));
}

TEST(Delimited, VeryLongLinesAreRead) {
    const Index n = 300000;
    std::string text = "gene";
    for (Index j = 0; j < n; ++j) {
        text += fmt::format(",cell_with_a_name_{}", j);
    }
    text += "\nx";
    for (Index j = 0; j < n; ++j) {
        text += fmt::format(",{}", j);
    }
    const Dataset data = read_as("m.csv", text);
    EXPECT_EQ(data.cells(), n);
    EXPECT_EQ(std::get<Matrix>(data.X)(0, n - 1), static_cast<double>(n - 1));
    EXPECT_EQ(data.cell_names.back(), fmt::format("cell_with_a_name_{}", n - 1));
}

TEST(Delimited, NotANumberAndInfinityAreReadAndFoundByTheCheck) {
    const Dataset data = read_as("m.csv", "gene,A,B\nx,1,nan\ny,NaN,2\n");
    EXPECT_THAT(complaint_of([&] { check_dataset(data); }),
                HasSubstr("2 are NaN; the first is nan at cell A, gene y"));
}

TEST(Delimited, ADamagedSecondGzipMemberIsNotTakenForTheEnd) {
    const TemporaryFolder folder;
    const std::string first = read_text(write_gzip(folder / "first.gz", "gene,A,B\nx,1,2\n"));
    std::string second = read_text(write_gzip(folder / "second.gz", "y,3,4\n"));
    EXPECT_EQ(dense_of(read_dataset(write_text(folder / "whole.csv.gz", first + second))), one_to_four());

    second[0] = 'X';
    const auto damaged = write_text(folder / "damaged.csv.gz", first + second);
    EXPECT_THAT(complaint_of([&] { read_dataset(damaged); }), HasSubstr("not gzip follow the gzip data"));

    // Why the reader does not use it: zlib's own sees nothing wrong.
    std::string text(100, ' ');
    gzFile file = gzopen(damaged.c_str(), "rb");
    EXPECT_EQ(gzread(file, text.data(), 100), 15); // the first member
    EXPECT_EQ(gzread(file, text.data(), 100), 0);
    EXPECT_EQ(gzclose(file), Z_OK);
}

TEST(Delimited, SaysWhatToDoAboutADecimalCommaAndAboutLabels) {
    EXPECT_THAT(complaint("t.csv", ";c1;c2\ng1;0,5;1\n"),
                HasSubstr("t.csv:2:2: expected a number, got '0,5'; a number has a decimal point here"));
    EXPECT_THAT(complaint("t.csv", ",type,c2\ng1,B,1\n"),
                HasSubstr("such as labels, belongs into a table of its own"));
}

TEST(Delimited, RowsWithNamesOfCellsAreCells) {
    const TemporaryFolder folder;
    const auto read = [&](const std::string& text, const ReadOptions& options = {}) {
        const Dataset data = read_dataset(write_text(folder / "t.csv", text), options);
        EXPECT_EQ(data.input.cells, data.cells() == 2 ? CellAxis::rows : CellAxis::columns);
        return std::pair(data.cell_names.front(), data.notices.front());
    };
    const auto [barcode, notice] =
        read(",CD3E,MS4A1,NKG7\nAAACCTGAGAAACCAT-1,1,0,2\nAAACCTGAGAAACCGC-1,0,3,1\n");
    EXPECT_EQ(barcode, "AAACCTGAGAAACCAT-1");
    EXPECT_THAT(notice, testing::HasSubstr("cells are the rows (by their names)"));
    EXPECT_EQ(read(",MT-CO1,Rpl3,RPS6\na,1,0,2\nb,0,3,1\n").first, "a");
    EXPECT_EQ(read(",gene1,gene2,gene3\ncell1,1,0,2\ncell2,0,3,1\n").first, "cell1");
    // As it is usual, or nothing to go by, or both, or told.
    EXPECT_EQ(read(",cell1,cell2,cell3\ngene1,1,0,2\ngene2,0,3,1\n").first, "cell1");
    EXPECT_EQ(read(",x,y,z\na,1,0,2\nb,0,3,1\n").first, "x");
    // Sequences that are guides or tags, samples that are named after genes, and genes of other species.
    EXPECT_EQ(read(",S1,S2,S3\nACGTACGTACGTACGTACGT,1,0,2\nCCGTACGTACGTACGTACGA,0,3,1\n").first, "S1");
    EXPECT_EQ(read(",S1,S2,S3\nACGTACGTACGT,1,0,2\nCCGTACGTACGT,0,3,1\n").first, "S1");
    EXPECT_EQ(read(",MT-1,MT-2,MT-3\nfoo,1,0,2\nbar,0,3,1\n").first, "MT-1");
    EXPECT_EQ(read(",Rpl22_KO_1,Rpl22_KO_2,Rpl22_KO_3\nfoo,1,0,2\nbar,0,3,1\n").first, "Rpl22_KO_1");
    EXPECT_EQ(read("," + std::string(100'000, 'A') + ",y,z\na,1,0,2\nb,0,3,1\n").first.size(), 100'000U);
    EXPECT_EQ(read(",MT-CO1,Rpl3,RPS6\nMT-ND1,1,0,2\nRPL4,0,3,1\nENSG00000000003,0,3,1\n").first, "MT-CO1");
    EXPECT_EQ(read(",gene1,gene2,gene3\ncell1,1,0,2\ncell2,0,3,1\n", {.cells = CellAxis::columns}).first,
              "gene1");
    EXPECT_EQ(read("1,0,2\n0,3,1\n").first, "cell1");
}

TEST(Delimited, ADiskThatCannotBeReadIsNoFaultOfTheInput) {
    // The memory of this process, as a file whose first bytes give the error of a broken disk.
    if (!std::ifstream("/proc/self/mem")) {
        GTEST_SKIP() << "no /proc/self/mem";
    }
    EXPECT_THROW(read_dataset("/proc/self/mem"), SystemError);
}

} // namespace
} // namespace pnmf::test
