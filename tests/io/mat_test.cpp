#include "io/h5_files.hpp"
#include "support/paths.hpp"

#include "io/mat.hpp"

#include <gmock/gmock.h>

namespace pnmf {
namespace {

using namespace test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class Mat : public H5Files {};

TEST_F(Mat, VariablesOfEveryNumberTypeAndVersionGiveTheSameMatrix) {
    for (const char* name : {"several_v5.mat", "several_v7.mat", "several_v73.mat"}) {
        for (const char* variable : {"X", "I", "F", "S"}) {
            const Dataset data = read_dataset(h5_file(name), {.variable = variable});
            EXPECT_EQ(data.is_sparse(), variable[0] == 'S') << name << variable;
            EXPECT_EQ(dense(data), full()) << name << variable;
            EXPECT_EQ(data.feature_names[4], "feature5");
        }
    }
    const Matrix truth = (full().array() > 0.0).cast<double>();
    EXPECT_EQ(dense(read_dataset(h5_file("several_v5.mat"), {.variable = "L"})), truth);
}

TEST_F(Mat, CellsAsRowsTransposes) {
    for (const char* variable : {"X", "S"}) {
        const Dataset data =
            read_dataset(h5_file("several_v5.mat"), {.cells = CellAxis::rows, .variable = variable});
        EXPECT_EQ(dense(data), full().transpose());
    }
}

TEST_F(Mat, TheOnlyMatrixIsTakenWithANotice) {
    for (const char* name : {"single_v5.mat", "single_v73.mat"}) {
        const Dataset data = read_dataset(h5_file(name));
        EXPECT_EQ(dense(data), full());
        EXPECT_THAT(data.notices, Contains(HasSubstr("took the variable only (5 x 7)"))) << name;
    }
}

TEST_F(Mat, WhatCannotBeReadIsNamed) {
    const auto message = [](const char* name, std::optional<std::string> variable) {
        return input_error([&] { read_dataset(h5_file(name), {.variable = variable}); });
    };
    EXPECT_THAT(message("several_v5.mat", {}), HasSubstr("choose one: X (5 x 7), S (5 x 7), I (5 x 7)"));
    EXPECT_THAT(message("several_v73.mat", {}), HasSubstr("choose one: "));
    EXPECT_THAT(message("several_v5.mat", "Y"), HasSubstr("has no variable 'Y'; it has: X, S"));
    EXPECT_THAT(message("several_v5.mat", "C"), HasSubstr("must be real"));
    EXPECT_THAT(message("several_v5.mat", "words"), HasSubstr("must hold numbers"));
    EXPECT_THAT(message("several_v5.mat", "cube"), HasSubstr("must be a matrix, got 3 axes"));
    EXPECT_THAT(message("words_v5.mat", {}), HasSubstr("has no variable that is a matrix of numbers"));
    EXPECT_THAT(input_error([] { read_mat_array(h5_file("missing_header.mat"), "X"); }),
                HasSubstr("must be a MATLAB file"));
}

TEST_F(Mat, ArraysOfThreeAxesAreColumnMajor) {
    for (const char* name : {"several_v5.mat", "several_v7.mat", "several_v73.mat"}) {
        const MatArray cube = read_mat_array(h5_file(name), "cube");
        EXPECT_THAT(cube.shape, ElementsAre(2, 3, 4)) << name;
        // NumPy counted along the last axis: element (i, j, k) is 12i + 4j + k.
        EXPECT_EQ(cube.values.at(1 + 2 * 2 + 6 * 3), 12 + 4 * 2 + 3) << name;
    }
}

TEST(MatPublished, CirclesAndTheirEmbeddingsAreRead) {
    const auto input = shared_data("circles/input.mat");
    const auto embeddings = shared_data("circles/published_embeddings.mat");
    if (!input || !embeddings) {
        GTEST_SKIP() << missing_data("circles");
    }
    const Dataset data = read_dataset(*input, {.cells = CellAxis::rows, .variable = "X"});
    EXPECT_EQ(data.features(), 100);
    EXPECT_EQ(data.cells(), 80);
    EXPECT_GE(dense(data).minCoeff(), 0.0);
    EXPECT_THAT(input_error([&] { read_dataset(*input); }), HasSubstr("X (80 x 100), Y (1 x 80)"));
    const MatArray published = read_mat_array(*embeddings, "pNMF");
    EXPECT_THAT(published.shape, ElementsAre(80, 2, 80));
    EXPECT_EQ(published.values.size(), 12800U);
}

} // namespace
} // namespace pnmf
