#include "linalg/parallel_copy.hpp"
#include "support/clouds.hpp"

#include <gtest/gtest.h>

namespace pnmf {
namespace {

TEST(ParallelCopy, IsTheCopyOfOneThread) {
    for (const auto& [rows, cols] :
         {std::pair<Index, Index>{3, 20000}, {20000, 3}, {1, cells_of_copy}, {5, 5}, {0, 4}}) {
        const Matrix from = test::uniform_cloud(rows, cols, 1);
        EXPECT_EQ(converted<float>(from), DenseMatrix<float>(from.cast<float>())) << rows;
        EXPECT_EQ(converted_transpose<double>(from), Matrix(from.transpose())) << rows;
        EXPECT_EQ(converted_transpose<float>(from), DenseMatrix<float>(from.transpose().cast<float>()))
            << rows;
    }
}

} // namespace
} // namespace pnmf
