#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

std::vector<std::string> numbered(const std::string& word, Index count) {
    std::vector<std::string> names;
    for (Index i = 0; i < count; ++i) {
        names.push_back(word + std::to_string(i));
    }
    return names;
}

TEST(H5adWriter, WritesInBlocksWhatIsWrittenWhole) {
    const test::TemporaryFolder folder;
    const CellModel model = make_cell_model({.cells = 2500, .genes = 300, .depth = 200.0, .seed = 3});
    for (const bool compress : {false, true}) {
        H5adWriter writer(folder / "blocks.h5ad", numbered("g", 300), 2500, {.compress = compress});
        std::vector<std::string> labels;
        for (const auto& [begin, end] :
             {std::pair<Index, Index>{0, 1000}, {1000, 1000}, {1000, 1001}, {1001, 2500}}) {
            const SimulatedCells cells = simulate_cells(model, begin, end);
            writer.append(cells.counts);
            for (const Index type : cells.types) {
                labels.push_back("type" + std::to_string(type));
            }
        }
        EXPECT_FALSE(std::filesystem::exists(folder / "blocks.h5ad")) << "before it is whole";
        const std::vector<TableColumn> table{{.name = "label", .values = labels, .categorical = true}};
        writer.finish(numbered("c", 2500), table);
        const Dataset blocks = read_dataset(folder / "blocks.h5ad");
        const auto& X = std::get<SparseMatrix<double>>(blocks.X);
        const SparseMatrix<double> whole = simulate_cells(model, 0, 2500).counts;
        EXPECT_EQ(X.start, whole.start);
        EXPECT_EQ(X.row, whole.row);
        EXPECT_EQ(X.value, whole.value);
        EXPECT_EQ(writer.entries(), whole.nonzeros());
        EXPECT_EQ(blocks.feature_names, numbered("g", 300));
        EXPECT_EQ(blocks.cell_names, numbered("c", 2500));
        EXPECT_EQ(std::get<std::vector<std::string>>(blocks.cell_table.at(0).values), labels);
        std::filesystem::remove(folder / "blocks.h5ad");
    }
}

TEST(H5adWriter, RefusesOtherShapesThanAnnouncedAndLeavesNothingBehind) {
    const test::TemporaryFolder folder;
    SparseMatrix<double> two{.rows = 4, .cols = 2, .start = {0, 0, 1}, .row = {3}, .value = {1.0}};
    {
        H5adWriter writer(folder / "a.h5ad", numbered("g", 4), 3);
        writer.append(two);
        EXPECT_THROW(writer.append(two), InputError);
        EXPECT_THROW(writer.finish(numbered("c", 3), {}), InputError);
        two.rows = 5;
        EXPECT_THROW(writer.append(two), InputError);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

} // namespace
} // namespace pnmf
