#include "linalg/gather_columns.hpp"

#include <pnmf/linalg/random.hpp>

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace pnmf {
namespace {

template <class Real>
void expect_plain_sums(Index columns) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<Real> uniform(-1, 1);
    std::uniform_int_distribution<std::int32_t> any_column(0, static_cast<std::int32_t>(columns - 1));
    for (Index d = 1; d <= 70; ++d) {
        const DenseMatrix<Real> M =
            DenseMatrix<Real>::NullaryExpr(d, columns, [&] { return uniform(random); });
        for (const std::size_t count : {0, 1, 5, 40}) {
            std::vector<std::int32_t> row(count);
            std::vector<Real> value(count);
            DenseVector<Real> sum = DenseVector<Real>::NullaryExpr(d, [&] { return uniform(random); });
            DenseVector<Real> plain = sum;
            for (std::size_t e = 0; e < count; ++e) {
                row[e] = any_column(random);
                value[e] = uniform(random);
                for (Index r = 0; r < d; ++r) {
                    const Real product = value[e] * M(r, row[e]);
                    plain[r] = plain[r] + product;
                }
            }
            gather_columns(M.data(), d, columns, row.data(), value.data(), static_cast<Index>(count),
                           sum.data());
            EXPECT_EQ(sum, plain) << "d = " << d << ", " << count << " entries";
        }
    }
}

TEST(GatherColumns, HasTheBitsOfPlainSumsNearAndFar) {
    expect_plain_sums<float>(20);
    expect_plain_sums<double>(20);
    expect_plain_sums<double>(20000); // beyond the nearest cache for most d
}

} // namespace
} // namespace pnmf
