#include "io/files.hpp"
#include "support/paths.hpp"

#include <pnmf/io/preparation.hpp>

#include <gmock/gmock.h>

namespace pnmf::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Matrix counts() {
    Matrix X(4, 3);
    X << 1, 2, 3, //
        0, 0, 0,  //
        4, 0, 1,  //
        2, 5, 0;
    return X;
}

TEST(InputRecord, ComesBackFromItsJson) {
    InputRecord record{.format = "h5ad",
                       .cells = CellAxis::rows,
                       .layer = "counts \"raw\"",
                       .steps = {{.name = step::genes, .names = {"a", "b"}, .count = 2},
                                 {.name = step::empty_cells},
                                 {.name = step::log_unit}},
                       .known = true};
    const InputRecord back = input_record_from_json(to_json(record));
    EXPECT_EQ(back.format, record.format);
    EXPECT_EQ(back.cells, record.cells);
    EXPECT_EQ(back.layer, record.layer);
    EXPECT_EQ(back.variable, std::nullopt);
    EXPECT_EQ(back.steps, record.steps);
    EXPECT_TRUE(back.known);
    EXPECT_EQ(transform_of(back), Transform::log_unit);
    EXPECT_THAT(complaint_of([] { input_record_from_json("{"); }), HasSubstr("cannot be understood"));
    EXPECT_THAT(complaint_of([] { input_record_from_json(R"({"steps": [{"name": "later"}]})"); }),
                HasSubstr("'later' is no step"));
}

TEST(Preparation, DoesToOtherCellsWhatItDidToThoseOfTheFit) {
    for (Dataset data : {named(counts()), named(to_sparse(counts()))}) {
        Dataset again = data;
        prepare(data, {.transform = Transform::log_unit});
        EXPECT_THAT(data.feature_names, ElementsAre("g1", "g3", "g4"));
        // A gene that was empty in the fit is not empty here: it must not change the length of a cell.
        if (auto* dense = std::get_if<Matrix>(&again.X)) {
            dense->row(1).setConstant(100.0);
        }
        const FeatureMatch match = apply_steps(again, data.input.steps, {.features = data.feature_names});
        EXPECT_EQ(dense_of(again), dense_of(data));
        EXPECT_THAT(match.extra, ElementsAre("g2"));
    }
}

TEST(Preparation, LeavesGenesOutThatAreKeptForTheirPlaceOnly) {
    Dataset data = named(counts());
    Matrix more = counts();
    more.row(1).setConstant(100.0);
    Dataset other = named(more);
    prepare(data, {.transform = Transform::log_unit});
    apply_steps(other, data.input.steps, {.features = {"g1", "g2", "g3", "g4"}});
    const Matrix X = dense_of(other);
    EXPECT_EQ(X.row(1).norm(), 0.0);
    EXPECT_EQ(X.row(2), dense_of(data).row(1));
}

TEST(Preparation, ACellThatHoldsNoGeneOfTheFitIsEmpty) {
    Dataset data = named(counts());
    prepare(data, {});
    Matrix X = counts();
    X.col(1) << 0, 7, 0, 0;
    Dataset other = named(X);
    EXPECT_THAT(complaint_of([&] { apply_steps(other, data.input.steps, {.features = data.feature_names}); }),
                HasSubstr("1 cell is zero in every gene: c2"));
    other = named(X);
    apply_steps(other, data.input.steps, {.features = data.feature_names, .drop_empty_cells = true});
    EXPECT_THAT(other.cell_names, ElementsAre("c1", "c3"));
}

TEST(Labels, KeepTheOrderOfTheirCategories) {
    Dataset data = named(counts());
    data.cell_table.push_back({.name = "label", .values = std::vector<std::string>{"x", "x", "x"}});
    data.cell_table.push_back({.name = "type",
                               .values = std::vector<std::string>{"b", "a", "c"},
                               .categorical = true,
                               .categories = {"c", "b", "a", "unused"},
                               .ordered = true});
    add_labels(data, "type");
    ASSERT_EQ(data.cell_table.size(), 2U);
    EXPECT_EQ(data.cell_table[1].name, "label");
    EXPECT_THAT(data.cell_table[1].categories, ElementsAre("c", "b", "a", "unused"));
    EXPECT_TRUE(data.cell_table[1].ordered);
    EXPECT_EQ(data.cell_table[1].values, data.cell_table[0].values);
}

} // namespace
} // namespace pnmf::test
