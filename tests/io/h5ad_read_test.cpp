#include "io/h5_files.hpp"
#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace pnmf {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class H5ad : public H5Files {};

TEST_F(H5ad, EveryStorageOfXGivesTheSameMatrix) {
    for (const char* name : {"csr", "csr_gzip", "csc", "csr_int", "plain", "old_csr", "old_csc",
                             "old_h5sparse", "int64_indices", "unsorted", "twice"}) {
        const Dataset data = read_dataset(h5_file(std::string(name) + ".h5ad"));
        EXPECT_TRUE(data.is_sparse()) << name;
        check_structure(std::get<SparseMatrix<double>>(data.X));
        EXPECT_EQ(dense(data), full()) << name;
    }
    for (const char* name : {"dense", "dense_int"}) {
        const Dataset data = read_dataset(h5_file(std::string(name) + ".h5ad"));
        EXPECT_FALSE(data.is_sparse()) << name;
        EXPECT_EQ(dense(data), full()) << name;
    }
    const Matrix truth = (full().array() > 0.0).cast<double>();
    EXPECT_EQ(dense(read_dataset(h5_file("dense_bool.h5ad"))), truth);
}

TEST_F(H5ad, ALargeMatrixIsWholeHoweverItIsStored) {
    const Matrix large = Matrix::NullaryExpr(
        301, 700, [](Index j, Index i) { return static_cast<double>((3 * i + 5 * j) % 1000); });
    for (const char* name :
         {"float", "int", "double", "shuffled", "shuffled_double", "checked", "swapped", "int64", "tiles",
          "tiles_double", "piece", "piece_int", "piece_double", "tiles_behind", "piece_behind", "crumbs",
          "tiles_elsewhere", "piece_elsewhere"}) {
        const Dataset data = read_dataset(h5_file(fmt::format("large_{}.h5ad", name)));
        EXPECT_EQ(std::get<Matrix>(data.X), large) << name;
    }
    Matrix gaps = Matrix::Zero(301, 700);
    gaps.topLeftCorner(280, 330) = large.topLeftCorner(280, 330);
    for (const char* name : {"gaps", "tiles_gaps"}) {
        EXPECT_EQ(std::get<Matrix>(read_dataset(h5_file(fmt::format("large_{}.h5ad", name))).X), gaps)
            << name;
    }

    const Matrix sparse = large.unaryExpr([](double x) { return std::fmod(x, 3.0) == 0.0 ? 0.0 : x; });
    for (const char* name : {"csr", "csc", "csr_gzip", "csc_gzip"}) {
        const Dataset data = read_dataset(h5_file(fmt::format("large_{}.h5ad", name)));
        check_structure(std::get<SparseMatrix<double>>(data.X));
        EXPECT_EQ(dense(data), sparse) << name;
    }
}

TEST_F(H5ad, LinksIntoAnotherFileAreFollowed) {
    const Dataset here = read_dataset(h5_file("large_csr.h5ad"));
    const Dataset linked = read_dataset(h5_file("names_elsewhere.h5ad"));
    EXPECT_EQ(linked.cell_names, here.cell_names);
    EXPECT_EQ(linked.feature_names, here.feature_names);
    EXPECT_EQ(dense(linked), dense(here));
}

TEST_F(H5ad, ALargeMatrixWithADamagedChunkIsRejected) {
    const TemporaryFolder folder;
    std::string bytes;
    {
        std::ifstream in(h5_file("large_float.h5ad"), std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    const std::size_t place = bytes.find("\x78\x5e"); // where a chunk of gzip level 4 begins
    ASSERT_NE(place, std::string::npos);
    for (std::size_t k = 0; k < 40; ++k) {
        bytes[place + 100 + k] = '\x55';
    }
    std::ofstream(folder / "damaged.h5ad", std::ios::binary) << bytes;
    try {
        read_dataset(folder / "damaged.h5ad");
        FAIL() << "a damaged chunk was read";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("damaged.h5ad:/X"));
    }
}

TEST_F(H5ad, EntriesAtTheSamePlaceAreAddedUpWithANotice) {
    const Dataset data = read_dataset(h5_file("twice.h5ad"));
    EXPECT_THAT(data.notices, testing::Contains(HasSubstr("added up")));
    EXPECT_THAT(read_dataset(h5_file("unsorted.h5ad")).notices,
                testing::Not(testing::Contains(HasSubstr("added up"))));
}

TEST_F(H5ad, CellsAsColumnsSwapsEverything) {
    for (const char* name : {"csr.h5ad", "csc.h5ad", "dense.h5ad"}) {
        const Dataset rows = read_dataset(h5_file(name));
        const Dataset columns = read_dataset(h5_file(name), {.cells = CellAxis::columns});
        EXPECT_EQ(dense(columns), dense(rows).transpose()) << name;
        EXPECT_EQ(columns.cell_names, rows.feature_names);
        EXPECT_EQ(columns.feature_names, rows.cell_names);
        EXPECT_EQ(columns.cell_table.size(), rows.feature_table.size());
    }
}

TEST_F(H5ad, NamesAndColumnsOfEveryKindAreRead) {
    const Dataset data = read_dataset(h5_file("csr.h5ad"));
    EXPECT_EQ(data.cell_names.size(), 7U);
    EXPECT_EQ(data.cell_names[3], "cell-3");
    EXPECT_THAT(data.feature_names, ElementsAre("gene0", "gene1", "gene2", "gene3", "gene4"));

    const TableColumn& label = column(data.cell_table, "label");
    EXPECT_TRUE(label.categorical);
    EXPECT_FALSE(label.ordered);
    EXPECT_THAT(label.categories, ElementsAre("c", "b", "a", "unused"));
    EXPECT_THAT(texts(label), ElementsAre("b", "a", "b", "c", "", "a", "b"));
    const TableColumn& stage = column(data.cell_table, "stage");
    EXPECT_TRUE(stage.ordered);
    EXPECT_THAT(texts(stage), ElementsAre("0", "2", "2", "0", "2", "0", "0"));
    EXPECT_EQ(texts(column(data.cell_table, "note"))[2], "n\u00e4me 2");
    EXPECT_EQ(column(data.cell_table, "depth").number, NumberType::integer);
    EXPECT_EQ(numbers(column(data.cell_table, "depth"))[1], full().col(1).sum());
    EXPECT_EQ(column(data.cell_table, "score").number, NumberType::real);
    EXPECT_EQ(numbers(column(data.cell_table, "score"))[6], 1.0);
    EXPECT_EQ(column(data.cell_table, "kept").number, NumberType::boolean);
    EXPECT_THAT(numbers(column(data.cell_table, "kept")), ElementsAre(1, 0, 1, 0, 1, 0, 1));
    EXPECT_TRUE(std::isnan(numbers(column(data.cell_table, "maybe"))[1]));
    EXPECT_EQ(numbers(column(data.cell_table, "maybe"))[6], 7.0);
    EXPECT_TRUE(std::isnan(numbers(column(data.cell_table, "truth"))[1]));
    EXPECT_THAT(texts(column(data.feature_table, "chrom")), ElementsAre("1", "2", "1", "X", "1"));
}

TEST_F(H5ad, TheOldEncodingFindsCategoriesByReference) {
    const Dataset data = read_dataset(h5_file("old_csr.h5ad"));
    EXPECT_THAT(texts(column(data.cell_table, "label")), ElementsAre("b", "a", "b", "c", "", "a", "b"));
    EXPECT_THAT(column(data.cell_table, "label").categories, ElementsAre("c", "b", "a"));
    EXPECT_EQ(numbers(column(data.cell_table, "score"))[6], 1.0);
    EXPECT_THAT(data.feature_table, IsEmpty());
}

TEST_F(H5ad, ALayerIsReadInPlaceOfXAndRawIsMentioned) {
    EXPECT_EQ(dense(read_dataset(h5_file("layers.h5ad"))), Matrix::Zero(features, cells));
    const Dataset data = read_dataset(h5_file("layers.h5ad"), {.layer = "counts"});
    EXPECT_EQ(dense(data), full());
    EXPECT_THAT(data.notices, testing::Contains(HasSubstr("/raw was not read")));
    EXPECT_THAT(input_error([] { read_dataset(h5_file("layers.h5ad"), {.layer = "other"}); }),
                HasSubstr("has no layer 'other'; its layers are: counts"));
}

TEST_F(H5ad, TheWholeFileIsReadExceptWhatIsSkippedOrNotUnderstood) {
    const AnnDataFile file = read_anndata(h5_file("layers.h5ad"), {.skip = {"X"}});
    EXPECT_FALSE(file.X);
    EXPECT_EQ(to_dense(std::get<SparseMatrix<double>>(file.layers.at("counts"))), full());
    EXPECT_EQ(file.obsm.at("X_pca")(2, 1), 5.0);
    EXPECT_EQ(std::get<std::int64_t>(find(file.uns, "nested/a")->value), 1);
    EXPECT_EQ(std::get<std::string>(find(file.uns, "nested/b")->value), "text");
    EXPECT_EQ(std::get<NumericArray>(find(file.uns, "nested/c")->value).shape, (std::vector<Index>{2, 3}));
    EXPECT_THAT(std::get<std::vector<std::string>>(find(file.uns, "nested/d")->value), ElementsAre("x", "y"));
    EXPECT_TRUE(std::get<bool>(find(file.uns, "nested/e")->value));
    EXPECT_EQ(find(file.uns, "nested/z"), nullptr);
    EXPECT_THAT(file.notices, testing::UnorderedElementsAre(HasSubstr("/obsm/sparse"),
                                                            HasSubstr("/uns/frame"), HasSubstr("/raw")));
}

TEST_F(H5ad, WhatIsWrongIsNamedWithItsPlace) {
    const auto message = [](const char* name) { return input_error([&] { read_dataset(h5_file(name)); }); };
    EXPECT_THAT(message("wrong_index.h5ad"),
                HasSubstr("wrong_index.h5ad:/X/indices: indices must be from 0 to 4, but number 4 is 5"));
    EXPECT_THAT(message("wrong_negative_index.h5ad"), HasSubstr("but number 4 is -1"));
    EXPECT_THAT(message("wrong_offsets.h5ad"), HasSubstr(":/X/indptr: offsets must not fall"));
    EXPECT_THAT(message("wrong_last_offset.h5ad"), HasSubstr(":/X/indptr: offsets must run from 0 to "));
    EXPECT_THAT(message("wrong_shape.h5ad"),
                HasSubstr(":/X: must be 7 x 5, as obs and var have names, got 7 x 6"));
    EXPECT_THAT(message("wrong_format.h5ad"), HasSubstr(":/X: must be a matrix"));
    EXPECT_THAT(message("wrong_code.h5ad"),
                HasSubstr(":/obs/label: has the code 3, but there are 3 categories"));
    EXPECT_THAT(message("wrong_text.h5ad"), HasSubstr(":/X: must hold numbers"));
    EXPECT_THAT(message("wrong_size.h5ad"), HasSubstr(":/X: "));
    EXPECT_THAT(message("wrong_no_x.h5ad"), HasSubstr("has no X; its layers are: none"));
    EXPECT_THAT(message("wrong_compound.h5ad"), HasSubstr("AnnData 0.7 and later"));
    EXPECT_THAT(message("nothing.h5"), HasSubstr("must be a 10x matrix"));
    EXPECT_THAT(input_error([] { read_anndata("absent.h5ad"); }), HasSubstr("absent.h5ad: no such file"));
    EXPECT_THAT(input_error([] { read_anndata(h5_file("single_v5.mat")); }),
                HasSubstr("must be a whole HDF5 file"));
}

} // namespace
} // namespace pnmf
