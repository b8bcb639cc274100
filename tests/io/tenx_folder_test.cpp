#include "io/files.hpp"
#include "support/paths.hpp"

#include <gmock/gmock.h>

namespace pnmf::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// 3 features × 2 cells.
const std::string matrix = "%%MatrixMarket matrix coordinate integer general\n3 2 3\n1 1 5\n3 1 2\n2 2 7\n";

const std::vector<std::string>& text_column(const std::vector<TableColumn>& table, const std::string& name) {
    for (const TableColumn& column : table) {
        if (column.name == name) {
            return std::get<std::vector<std::string>>(column.values);
        }
    }
    throw std::runtime_error("no column " + name);
}

TEST(TenxFolder, VersionThreeHasSymbolsAsNamesAndIdsInTheTable) {
    const TemporaryFolder folder;
    write_gzip(folder / "matrix.mtx.gz", matrix);
    write_gzip(folder / "features.tsv.gz",
               "E1\tA\tGene Expression\nE2\tB\tGene Expression\nE3\tA\tGene Expression\n");
    write_gzip(folder / "barcodes.tsv.gz", "AAAC-1\nAAAG-1\n");
    const Dataset data = read_dataset(folder.path());
    EXPECT_TRUE(data.is_sparse());
    EXPECT_THAT(data.feature_names, ElementsAre("A", "B", "A-1"));
    EXPECT_THAT(text_column(data.feature_table, "gene_ids"), ElementsAre("E1", "E2", "E3"));
    EXPECT_THAT(data.cell_names, ElementsAre("AAAC-1", "AAAG-1"));
    EXPECT_TRUE(any_contains(data.notices, "1 gene symbols occur more than once"));
}

TEST(TenxFolder, VersionTwoHasPlainFiles) {
    const TemporaryFolder folder;
    write_text(folder / "matrix.mtx", matrix);
    write_text(folder / "genes.tsv", "E1\tA\nE2\tB\nE3\tC\n");
    write_text(folder / "barcodes.tsv", "c1\nc2\n");
    const Dataset data = read_dataset(folder.path());
    EXPECT_THAT(data.feature_names, ElementsAre("A", "B", "C"));
    EXPECT_EQ(dense_of(data)(2, 0), 2.0);
}

TEST(TenxFolder, OnlyGenesStayWhenOtherFeaturesWereCounted) {
    const TemporaryFolder folder;
    write_text(folder / "matrix.mtx", matrix);
    write_text(folder / "features.tsv",
               "E1\tA\tGene Expression\nP1\tCD3\tAntibody Capture\nE3\tC\tGene Expression\n");
    write_text(folder / "barcodes.tsv", "c1\nc2\n");
    const Dataset data = read_dataset(folder.path());
    EXPECT_THAT(data.feature_names, ElementsAre("A", "C"));
    EXPECT_THAT(text_column(data.feature_table, "gene_ids"), ElementsAre("E1", "E3"));
    EXPECT_EQ(data.features(), 2);
    EXPECT_TRUE(any_contains(data.notices, "2 of 3 features are of the type Gene Expression"));
}

TEST(TenxFolder, WhatIsMissingIsNamed) {
    const TemporaryFolder folder;
    const auto complaint = [&] { return complaint_of([&] { read_dataset(folder.path()); }); };
    EXPECT_THAT(complaint(), HasSubstr("must hold matrix.mtx or matrix.mtx.gz"));
    write_text(folder / "matrix.mtx", matrix);
    EXPECT_THAT(complaint(), HasSubstr("must hold features.tsv or genes.tsv"));
    write_text(folder / "genes.tsv", "A\nB\nC\n");
    EXPECT_THAT(complaint(), HasSubstr("must hold barcodes.tsv or cells.tsv"));
    write_text(folder / "barcodes.tsv", "c1\nc2\nc3\nc4\nc5\n");
    EXPECT_THAT(complaint(), HasSubstr("barcodes.tsv: not used, it has 5 rows and the matrix has 2 cells"));
    write_text(folder / "barcodes.tsv", "c1\nc2\n");
    EXPECT_EQ(complaint(), "");
    write_text(folder / "matrix.mtx.gz", matrix);
    EXPECT_THAT(complaint(), HasSubstr("several matrices, name one of them: matrix.mtx, matrix.mtx.gz"));
}

TEST(TenxFolder, ABlankLineIsAFeatureOrCellWithoutNameWhereOneIsMissing) {
    const TemporaryFolder folder;
    write_text(folder / "matrix.mtx", matrix);
    write_text(folder / "cells.tsv", "cell\tlabel\nc1\tT\nc2\tB\n");
    const auto names = [&](const std::string& genes) {
        write_text(folder / "genes.tsv", genes);
        return read_dataset(folder.path()).feature_names;
    };
    EXPECT_THAT(names("E1\tA\n\nE3\tC\n"), ElementsAre("A", "feature2", "C"));
    EXPECT_THAT(names("\nE2\tB\nE3\tC\n"), ElementsAre("feature1", "B", "C"));
    EXPECT_THAT(names("E1\tA\nE2\tB\n\n"), ElementsAre("A", "B", "feature3"));
    EXPECT_THAT(names("E1\tA\nE2\t\nE3\tC\n"), ElementsAre("A", "feature2", "C"));
    EXPECT_THAT(names("A\n\nC\n"), ElementsAre("A", "feature2", "C"));
    EXPECT_THAT(names("E1\tA\n\nE2\tB\nE3\tC\n\n"), ElementsAre("A", "B", "C"));
    write_text(folder / "genes.tsv", "E1\tA\n\nE3\tC\n");
    EXPECT_TRUE(any_contains(read_dataset(folder.path()).notices,
                             "genes.tsv: 1 name is blank, made up here: feature2"));
    write_text(folder / "genes.tsv", "E1\tA\n");
    EXPECT_THAT(complaint_of([&] { read_dataset(folder.path()); }),
                HasSubstr("genes.tsv: not used, it has 1 rows and the matrix has 3 features"));
    write_text(folder / "genes.tsv", "A\nB\nC\n");
    write_text(folder / "cells.tsv", "c1\n\n");
    EXPECT_THAT(read_dataset(folder.path()).cell_names, ElementsAre("c1", "cell2"));
}

TEST(TenxFolder, WithoutAFeatureIsRefused) {
    const TemporaryFolder folder;
    write_text(folder / "matrix.mtx", "%%MatrixMarket matrix coordinate integer general\n0 2 0\n");
    write_text(folder / "features.tsv", "");
    write_text(folder / "barcodes.tsv", "c1\nc2\n");
    EXPECT_THAT(complaint_of([&] { read_dataset(folder.path()); }),
                HasSubstr("matrix.mtx: the matrix is empty, 0 features x 2 cells"));
}

TEST(Beside, TablesWithHeadersNameCellsAndGiveLabels) {
    const TemporaryFolder folder;
    write_text(folder / "counts.mtx", matrix);
    write_text(folder / "genes.tsv", "A\nB\nC\n");
    write_text(folder / "cells.tsv", "cell\tlabel\tbatch\tcode\nx\tT cell\t1\t007\ny\tB cell\t2\t008\n");
    const Dataset data = read_dataset(folder / "counts.mtx");
    EXPECT_THAT(data.feature_names, ElementsAre("A", "B", "C"));
    EXPECT_THAT(data.cell_names, ElementsAre("x", "y"));
    EXPECT_THAT(read_labels("label", data), ElementsAre("T cell", "B cell"));
    EXPECT_THAT(read_labels("batch", data), ElementsAre("1", "2"));
    EXPECT_THAT(read_labels("code", data), ElementsAre("007", "008"));
    EXPECT_TRUE(
        any_contains(data.notices, "cells.tsv: names of the cells, and the columns label, batch, code"));
}

TEST(Beside, FilesOfTheSamePrefixComeFirst) {
    const TemporaryFolder folder;
    write_text(folder / "GSM1_matrix.mtx", matrix);
    write_text(folder / "GSM1_genes.tsv", "A\nB\nC\n");
    write_text(folder / "genes.tsv", "wrong\nwrong\nwrong\n");
    write_text(folder / "GSM1_barcodes.tsv", "x\ny\n");
    const Dataset data = read_dataset(folder / "GSM1_matrix.mtx");
    EXPECT_THAT(data.feature_names, ElementsAre("A", "B", "C"));
    EXPECT_THAT(data.cell_names, ElementsAre("x", "y"));
}

TEST(Beside, ATableThatFitsTheOtherAxisIsAnErrorAndOneThatFitsNoneIsLeftAlone) {
    const TemporaryFolder folder;
    write_text(folder / "m.mtx", "%%MatrixMarket matrix coordinate integer general\n4 2 1\n1 1 5\n");
    write_text(folder / "cells.tsv", "cell\nc1\nc2\nc3\nc4\n");
    EXPECT_THAT(
        complaint_of([&] { read_dataset(folder / "m.mtx"); }),
        HasSubstr("cells.tsv: has 5 rows, but the matrix has 2 cells; it would fit with the other axis"));
    EXPECT_THAT(read_dataset(folder / "m.mtx", {.cells = CellAxis::rows}).cell_names,
                ElementsAre("c1", "c2", "c3", "c4"));
    write_text(folder / "cells.tsv", "c1\nc2\nc3\nc4\nc5\nc6\nc7\n");
    const Dataset data = read_dataset(folder / "m.mtx");
    EXPECT_THAT(data.cell_names, ElementsAre("cell1", "cell2"));
    EXPECT_TRUE(any_contains(data.notices, "cells.tsv: not used"));
}

TEST(SharedData, EachLabelledSetIsReadWithNamesAndLabels) {
    const auto root = shared_data("Yan");
    if (!root) {
        GTEST_SKIP() << missing_data("Yan");
    }
    for (const std::string name : {"Yan", "Goolam", "Dendritic_batch1_HVG859", "PBMC3k"}) {
        Dataset data = read_dataset(*shared_data(name));
        const auto labels = read_labels("label", data);
        EXPECT_EQ(static_cast<Index>(labels.size()), data.cells());
        prepare(data, {.transform = Transform::log_unit});
        EXPECT_TRUE(data.is_sparse());
        EXPECT_EQ(static_cast<Index>(data.feature_names.size()), data.features());
    }
}

} // namespace
} // namespace pnmf::test
