#include "support/clouds.hpp"
#include "support/paths.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/io/write.hpp>

#include <gtest/gtest.h>

#include <cmath>

/// Data sets of which each rank reads and holds some of the cells.
namespace pnmf::test {
namespace {

/// Counts, with a gene and some cells that are empty, and cells with few genes.
Dataset some_cells(Index cells) {
    Dataset data;
    SparseMatrix<double> X = sparse_cloud(60, cells, 0.3, 4);
    for (std::size_t e = 0; e < X.value.size(); ++e) {
        X.value[e] = X.row[e] == 7 ? 0.0 : std::ceil(9.0 * X.value[e]);
    }
    for (Index j = 0; j < cells; j += 97) {
        const auto kept = j % 2 == 0 ? 0 : 3; // entries of this cell
        for (auto e = X.start[j] + kept; e < X.start[j + 1]; ++e) {
            X.value[e] = 0.0;
        }
    }
    data.X = std::move(X);
    for (Index i = 0; i < 60; ++i) {
        data.feature_names.push_back("gene" + std::to_string(i));
    }
    for (Index j = 0; j < cells; ++j) {
        data.cell_names.push_back("cell" + std::to_string(j));
    }
    return data;
}

const SparseMatrix<double>& stored_values(const Dataset& data) {
    return std::get<SparseMatrix<double>>(data.X);
}

void expect_same_values(const Dataset& found, const Dataset& expected) {
    EXPECT_EQ(stored_values(found).start, stored_values(expected).start);
    EXPECT_EQ(stored_values(found).row, stored_values(expected).row);
    EXPECT_EQ(stored_values(found).value, stored_values(expected).value);
    EXPECT_EQ(found.cell_names, expected.cell_names);
    EXPECT_EQ(found.feature_names, expected.feature_names);
    EXPECT_EQ(found.notices, expected.notices);
}

class Divided : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    std::filesystem::path path = folder.path() / "cells.h5ad";
    static constexpr Index cells = 9000; // nine blocks

    void SetUp() override { write_h5ad(path, some_cells(cells)); }
};

TEST_F(Divided, EachRankHoldsItsShareAndTogetherTheyHoldTheFile) {
    const Dataset expected = read_dataset(path);
    for (const int count : {1, 3, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int) {
            Dataset found = read_dataset(path, {.local = true});
            EXPECT_EQ(found.cells(), cells);
            EXPECT_EQ(found.local.has_value(), count > 1);
            if (found.local) {
                EXPECT_EQ(*found.local, local_range(cells, all_processes()));
                EXPECT_EQ(stored_values(found).cols, found.local->count);
                EXPECT_LE(stored_values(found).cols, cells / count + 1200);
            }
            EXPECT_EQ(recognise_values(found).why, recognise_values(expected).why);
            gather_values(found, GatherTo::everyone);
            expect_same_values(found, expected);
        });
    }
}

TEST_F(Divided, OtherFilesAreReadWholeAndEachRankKeepsItsShare) {
    const auto text = folder.path() / "cells.mtx";
    write_matrix_market(text, some_cells(5200));
    const Dataset expected = read_dataset(text);
    ThreadRanks ranks(3);
    ranks.run([&](int) {
        Dataset found = read_dataset(text, {.local = true});
        EXPECT_EQ(*found.local, local_range(5200, all_processes()));
        EXPECT_EQ(stored_values(found).cols, found.local->count);
        gather_values(found, GatherTo::everyone);
        expect_same_values(found, expected);
    });
}

TEST_F(Divided, PreparationHasTheBitsOfOneProcess) {
    const PrepareOptions options{.cells_min = 5,
                                 .genes_min = 4,
                                 .drop_empty_cells = true,
                                 .normalize = Normalize::counts,
                                 .genes = {.most_variable = 30},
                                 .components = 5,
                                 .unit_cells = true};
    Dataset expected = read_dataset(path);
    prepare(expected, options);
    ASSERT_LT(expected.cells(), cells);
    for (const int count : {3, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            Dataset found = read_dataset(path, {.local = true});
            prepare(found, options);
            EXPECT_EQ(found.cells(), expected.cells());
            EXPECT_EQ(*found.local, local_range(expected.cells(), all_processes()));
            EXPECT_EQ(found.space->coordinates,
                      expected.space->coordinates.middleCols(found.local->first, found.local->count));
            EXPECT_EQ(found.space->components->variance, expected.space->components->variance);
            Dataset stored = found;
            gather_space(stored);
            gather_values(found, GatherTo::first);
            if (r == 0) {
                expect_same_values(found, expected);
                EXPECT_EQ(found.space->coordinates, expected.space->coordinates);
                EXPECT_EQ(stored.space->coordinates, expected.space->coordinates);
            } else {
                EXPECT_EQ(stored_values(found).cols, 0);
            }
        });
    }
}

TEST_F(Divided, CoordinatesFollowTheirCells) {
    const Matrix coordinates = uniform_cloud(3, cells, 5);
    const PrepareOptions options{.genes_min = 4, .drop_empty_cells = true};
    Dataset expected = read_dataset(path);
    expected.space = Space{.name = "obsm:X_other", .coordinates = coordinates};
    prepare(expected, options);
    ThreadRanks ranks(3);
    ranks.run([&](int) {
        Dataset found = read_dataset(path, {.local = true});
        found.space = Space{.name = "obsm:X_other",
                            .coordinates = coordinates.middleCols(found.local->first, found.local->count)};
        prepare(found, options);
        EXPECT_EQ(found.space->coordinates,
                  expected.space->coordinates.middleCols(found.local->first, found.local->count));
        gather_values(found, GatherTo::everyone);
        EXPECT_EQ(found.space->coordinates, expected.space->coordinates);
    });
}

TEST_F(Divided, NoticesAreThoseOfOneProcess) {
    Dataset repeated = some_cells(cells);
    auto& X = std::get<SparseMatrix<double>>(repeated.X);
    for (const Index j : {4001, 8001}) { // one on each of two ranks
        const auto e = static_cast<std::size_t>(X.start[static_cast<std::size_t>(j)]);
        X.row[e + 1] = X.row[e];
    }
    write_h5ad(path, repeated);
    const Dataset expected = read_dataset(path);
    ASSERT_NE(expected.notices.back().find("2 entries stand at the place of another"), std::string::npos)
        << expected.notices.back();
    ThreadRanks ranks(2);
    ranks.run([&](int) {
        Dataset found = read_dataset(path, {.local = true});
        EXPECT_EQ(stored_values(found).cols, found.local->count);
        gather_values(found, GatherTo::everyone);
        expect_same_values(found, expected);
    });
}

TEST_F(Divided, WrongValuesAreCountedOverAllRanks) {
    Dataset wrong = some_cells(cells);
    auto& X = std::get<SparseMatrix<double>>(wrong.X);
    X.value[static_cast<std::size_t>(X.start[4001])] = -2.0;
    X.value[static_cast<std::size_t>(X.start[8001])] = -3.0;
    write_h5ad(path, wrong);
    const auto message = [](const std::function<void()>& body) -> std::string {
        try {
            body();
        } catch (const InputError& e) {
            return e.what();
        }
        return "nothing was thrown";
    };
    const std::string expected = message([&] { check_dataset(read_dataset(path)); });
    EXPECT_NE(expected.find("2 are negative; the first is -2 at cell cell4001"), std::string::npos)
        << expected;
    ThreadRanks ranks(3);
    ranks.run([&](int) {
        EXPECT_EQ(message([&] { check_dataset(read_dataset(path, {.local = true})); }), expected);
    });
}

TEST_F(Divided, RanksWithDifferentFilesAreRefused) {
    Dataset other = some_cells(cells);
    for (double& value : std::get<SparseMatrix<double>>(other.X).value) {
        value += 1.0;
    }
    const auto copy = folder.path() / "copy.h5ad";
    write_h5ad(copy, other);
    ThreadRanks ranks(2);
    ranks.run([&](int r) { EXPECT_THROW(read_dataset(r == 0 ? path : copy, {.local = true}), InputError); });
}

} // namespace
} // namespace pnmf::test
