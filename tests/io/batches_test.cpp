#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/io/preparation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace pnmf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Dataset six_cells() {
    Dataset data;
    data.X = Matrix(Matrix::Constant(2, 6, 1.0));
    data.feature_names = {"g1", "g2"};
    data.cell_names = {"c1", "c2", "c3", "c4", "c5", "c6"};
    data.cell_table.push_back({.name = "donor",
                               .values = std::vector<std::string>{"b", "a", "b", "a", "b", "a"},
                               .categorical = true,
                               .categories = {"b", "unused", "a"}});
    data.cell_table.push_back({.name = "lane", .values = std::vector<double>{10, 2, 10, 2, 10, 2}});
    return data;
}

template <class Call>
void refused(Call call, const char* reason) {
    EXPECT_THAT(call, ThrowsMessage<InputError>(HasSubstr(reason)));
}

TEST(Batches, AreReadFromAColumnOfCategoriesOrNumbers) {
    Dataset data = six_cells();
    add_batches(data, "donor");
    const Batches donors = *batches_of(data);
    EXPECT_EQ(donors.column, "donor");
    EXPECT_THAT(donors.names, ElementsAre("b", "a")) << "the order of the categories, without unused ones";
    EXPECT_THAT(donors.of_cell, ElementsAre(0, 1, 0, 1, 0, 1));
    EXPECT_THAT(donors.cells(), ElementsAre(3, 3));
    EXPECT_EQ(data.input.batch, "donor");
    add_batches(data, "lane");
    const Batches lanes = *batches_of(data);
    EXPECT_THAT(lanes.names, ElementsAre("2", "10")) << "numbers by their size";
    EXPECT_THAT(lanes.of_cell, ElementsAre(1, 0, 1, 0, 1, 0));
}

TEST(Batches, FollowTheCellsThatAreKept) {
    Dataset data = six_cells();
    std::get<Matrix>(data.X).col(1).setZero();
    add_batches(data, "donor");
    prepare(data, {.drop_empty_cells = true});
    EXPECT_THAT(batches_of(data)->of_cell, ElementsAre(0, 0, 1, 0, 1));
}

TEST(Batches, AreNoneWhereNoneWereAdded) {
    EXPECT_FALSE(batches_of(six_cells()).has_value());
}

TEST(Batches, RefuseAColumnThatIsNotThereAndNameThoseThatAre) {
    Dataset data = six_cells();
    refused([&] { add_batches(data, "sample"); }, "batches 'sample'");
    refused([&] { add_batches(data, "sample"); }, "the data have donor, lane");
}

TEST(Batches, RefuseCellsWithoutABatch) {
    Dataset data = six_cells();
    data.cell_table.push_back(
        {.name = "text", .values = std::vector<std::string>{"a", "a", "", "b", "b", "NA"}});
    refused([&] { add_batches(data, "text"); }, "2 of 6 cells have none, the first is c3");
    const double missing = std::numeric_limits<double>::quiet_NaN();
    data.cell_table.push_back({.name = "number", .values = std::vector<double>{1, 1, 2, 2, missing, 1}});
    refused([&] { add_batches(data, "number"); }, "1 of 6 cells have none, the first is c5");
    refused([&] { add_batches(data, "batch", {"a", "b"}); }, "each of the 6 cells, got 2");
}

TEST(Batches, RefuseOneBatchAloneAndABatchOfOneCell) {
    Dataset data = six_cells();
    add_batches(data, "run", {"a", "a", "a", "a", "a", "a"});
    refused([&] { batches_of(data); }, "batches 'run': all cells are of batch 'a'");
    add_batches(data, "run", {"a", "a", "a", "a", "b", "c"});
    refused([&] { batches_of(data); }, "2 of 3 have 1: b, c");
}

TEST(Batches, AreKeptInTheRecordOfTheInput) {
    InputRecord record{.format = "h5ad", .batch = "donor"};
    EXPECT_EQ(input_record_from_json(to_json(record)).batch, "donor");
    EXPECT_EQ(input_record_from_json(to_json(InputRecord{})).batch, std::nullopt);
}

} // namespace
} // namespace pnmf
