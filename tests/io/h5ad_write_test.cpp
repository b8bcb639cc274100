#include "io/h5_files.hpp"
#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>

#include <gmock/gmock.h>

#include <limits>

namespace pnmf {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

SparseMatrix<double> sparse_full() {
    Triplets<double> triplets;
    for (Index i = 0; i < cells; ++i) {
        for (Index j = 0; j < features; ++j) {
            if (full()(j, i) != 0.0) {
                triplets.row.push_back(static_cast<std::int32_t>(j));
                triplets.col.push_back(static_cast<std::int32_t>(i));
                triplets.value.push_back(full()(j, i));
            }
        }
    }
    return to_columns(features, cells, triplets);
}

std::vector<std::string> numbered(const std::string& word, Index count) {
    std::vector<std::string> names;
    for (Index i = 0; i < count; ++i) {
        names.push_back(fmt::format("{}{}", word, i));
    }
    return names;
}

/// What check_h5ad.py expects of "dense" and "sparse".
Dataset example(bool sparse) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    using Texts = std::vector<std::string>;
    using Numbers = std::vector<double>;
    Dataset data;
    if (sparse) {
        data.X = sparse_full();
    } else {
        data.X = full();
    }
    data.cell_names = numbered("cell-", cells);
    data.feature_names = numbered("gene", features);
    data.cell_table = {
        {.name = "label",
         .values = Texts{"b", "a", "b", "c", "", "a", "b"},
         .categorical = true,
         .categories = {"c", "b", "a", "unused"}},
        {.name = "batch", .values = Texts{"q", "p", "q", "p", "p", "p", "q"}},
        {.name = "note", .values = numbered("n\u00e4me ", cells)},
        {.name = "depth", .values = Numbers{0, 1, 2, 3, 4, 5, 6}, .number = NumberType::integer},
        {.name = "kept", .values = Numbers{1, 0, 1, 0, 1, 0, 1}, .number = NumberType::boolean},
        {.name = "score", .values = Numbers{0, 0.25, 0.5, none, 1, 2, 3}},
    };
    return data;
}

Matrix slab(Index t, Index rows, Index cols) {
    return Matrix::NullaryExpr(rows, cols, [&](Index i, Index j) { return double(100 * t + 10 * i + j); });
}

/// A result as a fit writes it; what check_h5ad.py expects of "result".
AnnDataFile result(bool compress) {
    AnnDataFile file;
    file.cell_names = numbered("cell-", cells);
    file.feature_names = numbered("gene", features);
    file.obsm["X_pnmf"] = slab(0, cells, 3);
    file.varm["loadings"] = slab(0, features, 2);
    AnnDataMap fit;
    fit["H"] = SlabArray{.slabs = 4,
                         .rows = 3,
                         .cols = cells,
                         .slab = [](Index t) { return slab(t, 3, cells); },
                         .compress = compress};
    fit["W"] = SlabArray{
        .slabs = 4,
        .rows = features,
        .cols = 3,
        .float_slab = [](Index t) { return DenseMatrix<float>(slab(t, features, 3).cast<float>()); },
        .compress = compress};
    fit["epsilon"] = numeric_array(std::vector<double>{0.5, 1.5, 2.5, 3.5});
    fit["betti0"] = numeric_array(std::vector<std::int64_t>{7, 5, 2, 1});
    fit["options"] = R"({"rank": 3})";
    fit["rank"] = 3;
    fit["converged"] = true;
    fit["terms"] = std::vector<std::string>{"fit", "graph"};
    fit["sweeps"] = AnnDataMap{{"total", 2.5}};
    file.uns["pnmf"] = std::move(fit);
    return file;
}

void expect_same_column(const TableColumn& a, const TableColumn& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.categories, b.categories);
    EXPECT_EQ(a.categorical, b.categorical);
    EXPECT_EQ(a.number, b.number);
    if (const auto* list = std::get_if<std::vector<double>>(&a.values)) {
        EXPECT_THAT(numbers(b), testing::Pointwise(testing::NanSensitiveDoubleEq(), *list)) << a.name;
    } else {
        EXPECT_EQ(texts(a), texts(b)) << a.name;
    }
}

TEST(H5adWrite, WhatIsWrittenIsReadBack) {
    const TemporaryFolder folder;
    for (const bool sparse : {false, true}) {
        for (const bool compress : {false, true}) {
            Dataset data = example(sparse);
            write_h5ad(folder / "data.h5ad", data, {.compress = compress});
            const Dataset back = read_dataset(folder / "data.h5ad");
            EXPECT_EQ(back.is_sparse(), sparse);
            EXPECT_EQ(dense(back), full());
            EXPECT_EQ(back.cell_names, data.cell_names);
            EXPECT_EQ(back.feature_names, data.feature_names);
            EXPECT_TRUE(back.feature_table.empty());
            // Repeated text becomes categories, in order.
            data.cell_table[1].categorical = true;
            data.cell_table[1].categories = {"p", "q"};
            ASSERT_EQ(back.cell_table.size(), data.cell_table.size());
            for (std::size_t c = 0; c < data.cell_table.size(); ++c) {
                expect_same_column(data.cell_table[c], back.cell_table[c]);
            }
        }
    }
}

TEST(H5adWrite, AResultIsReadBackWholeAndSlabBySlab) {
    const TemporaryFolder folder;
    for (const bool compress : {false, true}) {
        const AnnDataFile file = result(compress);
        write_anndata(folder / "result.h5ad", file);
        const AnnDataFile back = read_anndata(folder / "result.h5ad");
        EXPECT_FALSE(back.X);
        EXPECT_EQ(back.obsm.at("X_pnmf"), file.obsm.at("X_pnmf"));
        EXPECT_EQ(back.varm.at("loadings"), file.varm.at("loadings"));
        EXPECT_EQ(back.cell_names, file.cell_names);
        EXPECT_TRUE(back.notices.empty());
        const auto& H = std::get<NumericArray>(find(back.uns, "pnmf/H")->value);
        const auto& W = std::get<NumericArray>(find(back.uns, "pnmf/W")->value);
        EXPECT_TRUE(std::holds_alternative<std::vector<float>>(W.values));
        EXPECT_EQ(array_shape(folder / "result.h5ad", "uns/pnmf/W"), W.shape);
        for (Index t = 0; t < 4; ++t) {
            EXPECT_EQ(slab_of(H, t), slab(t, 3, cells));
            EXPECT_EQ(slab_of(W, t), slab(t, features, 3));
            EXPECT_EQ(read_slab(folder / "result.h5ad", "uns/pnmf/W", t), slab(t, features, 3));
        }
        for (const char* name : {"pnmf/epsilon", "pnmf/betti0"}) {
            EXPECT_EQ(std::get<NumericArray>(find(back.uns, name)->value),
                      std::get<NumericArray>(find(file.uns, name)->value));
        }
        EXPECT_EQ(std::get<std::string>(find(back.uns, "pnmf/options")->value), R"({"rank": 3})");
        EXPECT_EQ(std::get<std::int64_t>(find(back.uns, "pnmf/rank")->value), 3);
        EXPECT_EQ(std::get<double>(find(back.uns, "pnmf/sweeps/total")->value), 2.5);
        EXPECT_TRUE(std::get<bool>(find(back.uns, "pnmf/converged")->value));
        const AnnDataFile without = read_anndata(folder / "result.h5ad", {.skip = {"uns/pnmf/W"}});
        EXPECT_EQ(find(without.uns, "pnmf/W"), nullptr);
        EXPECT_NE(find(without.uns, "pnmf/H"), nullptr);
    }
    EXPECT_THAT(input_error([&] { read_slab(folder / "result.h5ad", "uns/pnmf/W", 4); }),
                HasSubstr("/uns/pnmf/W: has slabs 1 to 4, asked for 5"));
    EXPECT_THAT(input_error([&] { read_slab(folder / "result.h5ad", "uns/pnmf/epsilon", 0); }),
                HasSubstr("must be an array of three axes"));
}

class AnnDataOpens : public H5Files, public testing::WithParamInterface<const char*> {};

TEST_P(AnnDataOpens, WhatWeWriteWithoutAWarningAndSavesItUnchanged) {
    const TemporaryFolder folder;
    const std::string check = GetParam();
    if (check == "result") {
        write_anndata(folder / "a.h5ad", result(true));
    } else {
        write_h5ad(folder / "a.h5ad", example(check == "sparse"));
    }
    const auto python = run_command(
        fmt::format("{} {} {} {} {}", PNMF_SYSTEM_PYTHON, (source_dir() / "tests/io/check_h5ad.py").string(),
                    (folder / "a.h5ad").string(), (folder / "b.h5ad").string(), check));
    EXPECT_EQ(python.exit_code, 0) << python.out << python.err;
}

INSTANTIATE_TEST_SUITE_P(H5ad, AnnDataOpens, testing::Values("dense", "sparse", "result"));

TEST(H5adWrite, TheSameContentGivesTheSameBytes) {
    const TemporaryFolder folder;
    write_anndata(folder / "a.h5ad", result(true));
    write_anndata(folder / "b.h5ad", result(true));
    EXPECT_EQ(
        run_command(fmt::format("cmp {} {}", (folder / "a.h5ad").string(), (folder / "b.h5ad").string()))
            .exit_code,
        0);
}

TEST(H5adWrite, WhatDoesNotFitTogetherIsRejectedAndNothingIsWritten) {
    const TemporaryFolder folder;
    const auto rejected = [&](const char* part, auto change) {
        AnnDataFile file = result(false);
        file.X = full();
        change(file);
        EXPECT_THAT(input_error([&] { write_anndata(folder / "a.h5ad", file); }), HasSubstr(part));
        EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << part;
    };
    rejected("X must be 5 features x 7 cells",
             [](AnnDataFile& file) { file.X = Matrix(full().transpose()); });
    rejected("obsm/X must have 7 rows, got 5",
             [](AnnDataFile& file) { file.obsm["X"] = Matrix::Zero(5, 2); });
    rejected("slab 2 of 'A' must be 2 x 2, got 3 x 2", [](AnnDataFile& file) {
        file.uns["A"] = SlabArray{
            .slabs = 3, .rows = 2, .cols = 2, .slab = [](Index t) { return Matrix(Matrix::Zero(2 + t, 2)); }};
    });
    rejected("must have a name without slashes", [](AnnDataFile& file) { file.uns["a/b"] = 1.0; });
    rejected("must have 7 values, got 2", [](AnnDataFile& file) {
        file.cell_table.push_back({.name = "short", .values = std::vector<double>{1, 2}});
    });
    rejected("none of its 1 categories", [](AnnDataFile& file) {
        file.feature_table.push_back({.name = "c",
                                      .values = std::vector<std::string>(5, "x"),
                                      .categorical = true,
                                      .categories = {"y"}});
    });
    rejected("different names", [](AnnDataFile& file) {
        file.feature_table.resize(2, {.name = "c", .values = std::vector<double>(5)});
    });
}

TEST(H5adWrite, AFailureLeavesTheOldFileWhole) {
    const TemporaryFolder folder;
    write_h5ad(folder / "a.h5ad", example(false));
    AnnDataFile file = result(false);
    file.uns["A"] = SlabArray{.slabs = 3, .rows = 2, .cols = 2, .slab = [](Index) -> Matrix {
                                  throw std::runtime_error("interrupted");
                              }};
    EXPECT_THROW(write_anndata(folder / "a.h5ad", file), std::runtime_error);
    EXPECT_EQ(dense(read_dataset(folder / "a.h5ad")), full());
    EXPECT_THROW(write_h5ad(folder / "absent" / "a.h5ad", example(false)), SystemError);
}

} // namespace
} // namespace pnmf
