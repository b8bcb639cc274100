#include "io/files.hpp"
#include "io/formats.hpp"
#include "support/paths.hpp"

#include <pnmf/io/preparation.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace pnmf::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Both forms of the same data: every statement holds for each.
std::vector<Dataset> both_forms(const Matrix& X) {
    return {named(X), named(to_sparse(X))};
}

Matrix with_value(double value) {
    Matrix X = Matrix::Ones(3, 4);
    X(1, 2) = value;
    X(2, 3) = value;
    return X;
}

TEST(Prepare, BadValuesAreCountedAndTheFirstIsNamed) {
    for (Dataset data : both_forms(with_value(std::nan("")))) {
        EXPECT_THAT(complaint_of([&] { prepare(data, {}); }),
                    HasSubstr("2 are NaN; the first is nan at cell c3, gene g2"));
    }
    for (Dataset data : both_forms(with_value(std::numeric_limits<double>::infinity()))) {
        EXPECT_THAT(complaint_of([&] { prepare(data, {}); }),
                    HasSubstr("2 are infinite; the first is inf at cell c3, gene g2"));
    }
    for (Dataset data : both_forms(with_value(-2.5))) {
        EXPECT_THAT(complaint_of([&] { prepare(data, {}); }),
                    HasSubstr("2 are negative; the first is -2.5 at cell c3, gene g2"));
    }
}

TEST(Prepare, BadValuesOfManyCellsAreCountedAndTheFirstIsNamed) {
    Matrix X = Matrix::Ones(3, 2000);
    for (const Index cell : {1999, 800, 650, 1200}) { // threads look at some hundred cells at a time
        X(1, cell) = std::nan("");
        X(2, cell) = -1.0;
    }
    X(0, 3) = -2.5;
    for (Dataset data : both_forms(X)) {
        EXPECT_THAT(complaint_of([&] { prepare(data, {}); }),
                    HasSubstr("4 are NaN; the first is nan at cell c651, gene g2"));
    }
    X.row(1).setOnes();
    for (Dataset data : both_forms(X)) {
        EXPECT_THAT(complaint_of([&] { prepare(data, {}); }),
                    HasSubstr("5 are negative; the first is -2.5 at cell c4, gene g1"));
    }
}

TEST(Prepare, GenesOfFewAmongManyCellsAreLeftOut) {
    Matrix X = Matrix::Ones(3, 2000);
    X.row(1).setZero();
    for (const Index cell : {10, 700, 1999}) {
        X(1, cell) = 2.0;
    }
    for (const Index least : {3, 4}) {
        for (Dataset data : both_forms(X)) {
            prepare(data, {.cells_min = least});
            EXPECT_EQ(data.features(), least == 3 ? 3 : 2);
        }
    }
}

TEST(Prepare, DuplicateNamesOfCellsAreNamed) {
    Dataset data = named(Matrix(Matrix::Ones(3, 4)));
    data.cell_names = {"a", "b", "a", "a"};
    EXPECT_THAT(complaint_of([&] { prepare(data, {}); }),
                HasSubstr("names of cells must differ, 1 occurs more than once: a"));
}

TEST(Prepare, NamesOfGenesThatOccurMoreThanOnceAreMadeUniqueWithANotice) {
    Dataset data = named(Matrix(Matrix::Ones(3, 4)));
    data.feature_names = {"x", "x", "x"};
    prepare(data, {});
    EXPECT_THAT(data.feature_names, ElementsAre("x", "x-1", "x-2"));
    EXPECT_THAT(data.notices, testing::Contains(HasSubstr("2 names of genes occur more than once")));
}

TEST(Prepare, EmptyGenesAreLeftOutWithTheirTableAndANotice) {
    Matrix X = Matrix::Ones(4, 3);
    X.row(1).setZero();
    X.row(3).setZero();
    for (Dataset data : both_forms(X)) {
        data.feature_table.push_back({.name = "id", .values = std::vector<double>{1, 2, 3, 4}});
        prepare(data, {});
        EXPECT_EQ(dense_of(data), Matrix::Ones(2, 3));
        EXPECT_THAT(data.feature_names, ElementsAre("g1", "g3"));
        EXPECT_THAT(std::get<std::vector<double>>(data.feature_table[0].values), ElementsAre(1, 3));
        EXPECT_TRUE(any_contains(data.notices, "2 genes are zero in every cell and left out: g2, g4"));
    }
}

TEST(Prepare, EmptyCellsAreAnErrorUnlessTheyShallBeDropped) {
    Matrix X = Matrix::Ones(2, 5);
    X.col(0).setZero();
    X.col(4).setZero();
    for (Dataset data : both_forms(X)) {
        data.cell_table.push_back(
            {.name = "batch", .values = std::vector<std::string>{"p", "q", "r", "s", "t"}});
        EXPECT_THAT(complaint_of([&] { prepare(data, {}); }),
                    HasSubstr("2 cells are zero in every gene: c1, c5; leave them out"));
        prepare(data, {.drop_empty_cells = true});
        EXPECT_EQ(dense_of(data), Matrix::Ones(2, 3));
        EXPECT_THAT(data.cell_names, ElementsAre("c2", "c3", "c4"));
        EXPECT_THAT(std::get<std::vector<std::string>>(data.cell_table[0].values),
                    ElementsAre("q", "r", "s"));
        EXPECT_TRUE(any_contains(data.notices, "2 cells are zero in every gene and left out: c1, c5"));
    }
    Dataset nothing = named(Matrix(Matrix::Zero(2, 2)));
    EXPECT_THAT(complaint_of([&] { prepare(nothing, {.drop_empty_cells = true}); }),
                HasSubstr("zero everywhere"));
}

TEST(Prepare, AnExplicitZeroIsStillAZero) {
    SparseMatrix<double> X = to_sparse(Matrix::Ones(2, 2));
    X.value[0] = X.value[1] = 0.0;
    Dataset data = named(X);
    EXPECT_THAT(complaint_of([&] { prepare(data, {}); }), HasSubstr("1 cell is zero in every gene: c1"));
}

TEST(Prepare, GenesThatAreNotChosenAreSetAsideForPages) {
    Matrix X(4, 5);     // the last cell has nothing but a gene that is not chosen
    X << 9, 0, 5, 1, 0, //
        1, 1, 1, 1, 2,  //
        0, 8, 0, 3, 0,  //
        0, 0, 0, 0, 0;
    for (Dataset data : both_forms(X)) {
        data.feature_names = {"a", "b", "c", "zero"};
        Dataset again = data;
        Dataset original = data;
        prepare(data, {.drop_empty_cells = true, .genes = {.most_variable = 2}});
        ASSERT_TRUE(data.others);
        EXPECT_THAT(data.feature_names, ElementsAre("a", "c"));
        EXPECT_THAT(data.others->names, ElementsAre("b"));
        EXPECT_THAT(data.others->values.value, ElementsAre(1, 1, 1, 1));
        EXPECT_THAT(data.others->values.start, ElementsAre(0, 1, 2, 3, 4));
        apply_steps(again, data.input.steps, {.features = data.feature_names, .drop_empty_cells = true});
        ASSERT_TRUE(again.others);
        EXPECT_EQ(again.others->names, data.others->names);
        EXPECT_EQ(again.others->values.value, data.others->values.value);
        Dataset few = data;
        few.others.reset();
        io::set_others_aside(few, std::vector<bool>{false, true}, 3); // "a" is above zero in 3 cells
        EXPECT_THAT(few.others->names, ElementsAre("a"));
        io::set_others_aside(few, std::vector<bool>{false, true}, 2);
        EXPECT_THAT(few.others->names, testing::IsEmpty());
        Dataset unit = std::move(original); // the same change as that of the genes that are kept
        prepare(unit, {.drop_empty_cells = true,
                       .genes = {.most_variable = 2},
                       .unit_cells = true,
                       .transform = Transform::log_unit});
        for (Index j = 0; j < 4; ++j) {
            const double length = std::hypot(std::log1p(X(0, j) / std::hypot(X(0, j), X(2, j))),
                                             std::log1p(X(2, j) / std::hypot(X(0, j), X(2, j))));
            EXPECT_NEAR(unit.others->values.value[static_cast<std::size_t>(j)],
                        std::log1p(1.0 / std::hypot(X(0, j), X(2, j))) / length, 1e-6);
        }
    }
}

TEST(Prepare, LongListsOfNamesAreAbbreviated) {
    Matrix X = Matrix::Zero(40, 1);
    X(0, 0) = 1.0;
    Dataset data = named(X);
    prepare(data, {});
    EXPECT_TRUE(any_contains(data.notices,
                             "39 genes are zero in every cell and left out: g2, g3, g4, g5, g6 and 34 more"));
}

TEST(Prepare, LogUnitIsTheFormulaAndKeepsSparsity) {
    Random random(4);
    Matrix X(30, 12);
    for (Index k = 0; k < X.size(); ++k) {
        X.data()[k] = random.below(3) == 0 ? static_cast<double>(1 + random.below(5000)) : 0.0;
    }
    X.row(0).setOnes();
    X.col(0).setOnes();
    Matrix expected = (1.0 + X.array()).log10();
    expected.colwise().normalize();
    const std::int64_t entries = to_sparse(X).nonzeros();
    for (Dataset data : both_forms(X)) {
        prepare(data, {.transform = Transform::log_unit});
        EXPECT_LT((dense_of(data) - expected).cwiseAbs().maxCoeff(), 1e-15);
        if (data.is_sparse()) {
            EXPECT_EQ(std::get<SparseMatrix<double>>(data.X).nonzeros(), entries);
        }
    }
}

TEST(Prepare, LogUnitHasUnitColumnsForTinyAndHugeValues) {
    for (const double value : {5e-324, 1e-300, 1e-17, 1.0, 1e300}) {
        for (Dataset data : both_forms(Matrix::Constant(3, 2, value))) {
            prepare(data, {.transform = Transform::log_unit});
            EXPECT_LT((dense_of(data).colwise().norm().array() - 1.0).abs().maxCoeff(), 1e-15) << value;
        }
    }
}

TEST(Labels, ComeFromATableByNameOrByOrder) {
    const TemporaryFolder folder;
    const Dataset data = named(Matrix(Matrix::Ones(2, 3)));
    const auto labels = [&](const std::string& text, const std::string& column = "") {
        return read_labels(write_text(folder / "l.csv", text).string() + column, data);
    };
    const auto abc = ElementsAre("a", "b", "c");
    EXPECT_THAT(labels("a\nb\nc\n"), abc);
    EXPECT_THAT(labels("label\na\nb\nc\n"), abc);
    EXPECT_THAT(labels("c3,c\nc1,a\nc2,b\n"), abc) << "order of the cells, not of the table";
    EXPECT_THAT(labels("cell,type\nc3,c\nc9,z\nc1,a\nc2,b\n"), abc) << "more cells than the data";
    EXPECT_THAT(labels("cell,type,label\nc3,x,c\nc1,x,a\nc2,x,b\n"), abc);
    EXPECT_THAT(labels("cell,type,other\nc3,c,x\nc1,a,x\nc2,b,x\n", ":type"), abc);
    EXPECT_THAT(labels("x,a\ny,b\nz,c\n", ":2"), abc);
    EXPECT_THAT(labels("a\n\nc\n"), ElementsAre("a", "", "c"));
    EXPECT_THAT(labels("a\nb\n\nc\n"), abc) << "a blank line between three labels";
    EXPECT_THAT(labels("type,size\na,1\nb,2\nc,3\n", ":type"), abc);
}

TEST(Labels, WhatIsWrongIsNamed) {
    const TemporaryFolder folder;
    Dataset data = named(Matrix(Matrix::Ones(2, 3)));
    data.cell_table.push_back({.name = "batch", .values = std::vector<double>{1, 2, 3}});
    const auto complaint = [&](const std::string& text, const std::string& column = "") {
        const std::string path = write_text(folder / "l.csv", text).string();
        return complaint_of([&] { read_labels(path + column, data); });
    };
    EXPECT_THAT(complaint("a\nb\n"), HasSubstr("l.csv: expected 3 labels, one for each cell, got 2"));
    EXPECT_THAT(complaint("a\nb\nc\nd\ne\n"), HasSubstr("expected 3 labels, one for each cell, got 5"));
    EXPECT_THAT(complaint("c1,a\nc2,b\n"), HasSubstr("1 of 3 cells have no label: c3"));
    EXPECT_THAT(complaint("c1,a\nc2,b\nc1,a\nc3,c\n"), HasSubstr("cell c1 occurs more than once"));
    EXPECT_THAT(complaint("cell,x,y\nc1,1,2\nc2,1,2\nc3,1,2\n"), HasSubstr("say which one holds the labels"));
    EXPECT_THAT(complaint("cell,x,y\nc1,1,2\nc2,1,2\nc3,1,2\n", ":z"),
                HasSubstr("no column 'z', it has cell, x, y"));
    EXPECT_THAT(complaint("a\nb,c\n"), HasSubstr("expected"));
    EXPECT_THAT(complaint("NA\nnan\nNA\n"), HasSubstr("l.csv': no cell has one"));
    EXPECT_THAT(complaint_of([&] { read_labels("nothing", data); }),
                HasSubstr("labels 'nothing': neither a column of the data nor a file; the data have batch"));
    EXPECT_THAT(complaint_of([&] { read_labels("no.csv:x", data); }), HasSubstr("nor a file no.csv"));
}

} // namespace
} // namespace pnmf::test
