#include "solvers/device.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace pnmf::test {
namespace {

/// Entries beyond what 32 bits can count, in places and with values that make every product known:
/// cell j holds `of_cell` entries of the value 1 + j mod 3, one in each pair of features 2e and 2e + 1. It is
/// in the second of them for e below j mod (of_cell + 1).
struct ManyEntries {
    static constexpr Index of_cell = 2000;
    static constexpr Index cells = 1'100'000;
    static constexpr Index features = 2 * of_cell;

    static Index seconds(Index j) { return j % (of_cell + 1); }
    static float value(Index j) { return static_cast<float>(1 + j % 3); }

    static SparseMatrix<float> data() {
        SparseMatrix<float> X;
        X.rows = features;
        X.cols = cells;
        X.start.resize(static_cast<std::size_t>(cells) + 1);
        X.row.resize(static_cast<std::size_t>(cells * of_cell));
        X.value.resize(X.row.size());
        parallel_blocks(cells, 1024, [&](Index begin, Index end) {
            for (Index j = begin; j < end; ++j) {
                X.start[j + 1] = (j + 1) * of_cell;
                for (Index e = 0; e < of_cell; ++e) {
                    X.row[j * of_cell + e] = static_cast<std::int32_t>(2 * e + (e < seconds(j) ? 1 : 0));
                    X.value[j * of_cell + e] = value(j);
                }
            }
        });
        return X;
    }

    /// The first column takes all features, the second those of odd places.
    static Matrix columns() {
        Matrix Y = Matrix::Ones(features, 2);
        for (Index e = 0; e < of_cell; ++e) {
            Y(2 * e, 1) = 0.0;
        }
        return Y;
    }

    /// YᵀX.
    static Matrix transposed_times() {
        Matrix product(2, cells);
        for (Index j = 0; j < cells; ++j) {
            product.col(j) << value(j) * of_cell, value(j) * static_cast<float>(seconds(j));
        }
        return product;
    }

    /// X·(XᵀY): the second feature of a pair e belongs to cells with more than e entries in second features.
    static Matrix normal_times(const Matrix& YtX) {
        Matrix by_seconds = Matrix::Zero(of_cell + 1, 2);
        for (Index j = 0; j < cells; ++j) {
            by_seconds.row(seconds(j)) += value(j) * YtX.col(j).transpose();
        }
        Matrix product(features, 2);
        for (Index e = 0; e < of_cell; ++e) {
            product.row(2 * e) = by_seconds.topRows(e + 1).colwise().sum();
            product.row(2 * e + 1) = by_seconds.bottomRows(of_cell - e).colwise().sum();
        }
        return product;
    }
};

/// 2.2·10⁹ entries: 36 GB on the host and as much on the device, half a minute.
TEST(CudaOnManyEntries, MultipliesMoreEntriesThan32BitsCount) {
    if (std::getenv("PNMF_TEST_LARGE") == nullptr) {
        GTEST_SKIP() << "takes 36 GB of memory, on the device too; set PNMF_TEST_LARGE=1";
    }
    const DataMatrix<float> X(ManyEntries::data());
    ASSERT_GT(X.nonzeros(), std::int64_t{1} << 31);
    const Matrix Y = ManyEntries::columns();
    const Matrix YtX = ManyEntries::transposed_times();
    const Matrix XXtY = ManyEntries::normal_times(YtX);
    // Sums over a million cells in float; the device adds those of blocks of cells in double.
    constexpr double rounding_of_cpu = 2e-2;
    constexpr double rounding_of_device = 1e-3;

    const DenseMatrix<float> by_cpu = X.transposed_times(Y.cast<float>());
    EXPECT_EQ(by_cpu.cast<double>(), YtX); // whole numbers below 2²⁴
    EXPECT_LE((X.times_transposed(by_cpu).cast<double>() - XXtY).norm(), rounding_of_cpu * XXtY.norm());

    if (!facts_of(Device::cuda).found) {
        GTEST_SKIP() << "right on the CPU; there is no CUDA device";
    }
    const auto products = device_row(Device::cuda).in<float>().products(X);
    EXPECT_EQ(products->transposed_times(Y), YtX);
    EXPECT_LE((products->normal_times(Y) - XXtY).norm(), rounding_of_device * XXtY.norm());
}

} // namespace
} // namespace pnmf::test
