#include "linalg/kernels/kernels.hpp"

#include <pnmf/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

/// Steps on the basis, on every instruction set of this processor: the bits of a plain loop.
namespace pnmf {
namespace {

/// As in lanes.hpp.
template <class Real>
Real fused(Real a, Real b, Real c) {
#ifdef __aarch64__
    return std::fma(a, b, c);
#else
    return a * b + c;
#endif
}

/// Sums side by side, then these one after the other, then the last ones.
template <class Number, class Term>
Number plain_sum(Index count, Index lanes, const Term& term) {
    std::vector<Number> side(static_cast<std::size_t>(lanes), Number{0});
    const Index even = count / lanes * lanes;
    for (Index i = 0; i < even; ++i) {
        side[static_cast<std::size_t>(i % lanes)] += term(i);
    }
    Number sum{0};
    for (const Number one : side) {
        sum += one;
    }
    for (Index i = even; i < count; ++i) {
        sum += term(i);
    }
    return sum;
}

template <class Real>
class PlainBasis {
  public:
    PlainBasis(DenseMatrix<Real> W, DenseMatrix<Real> XHt, DenseMatrix<Real> factors)
        : W(std::move(W)), XHt(std::move(XHt)), factors(std::move(factors)) {}

    BasisBlock<Real> block(Index first, Index count, Real* rest) const {
        return {W.rows(), W.cols(), W.data(), XHt.data(), first, count, factors.data(), rest};
    }

    Real sum(Real start, Index i, Index c, const std::vector<Index>& over) const {
        for (const Index j : over) {
            start = fused(factors(c, j), W(i, j), start);
        }
        return start;
    }

    DenseMatrix<Real> rest(Index first, Index count, bool over_all) const {
        std::vector<Index> over;
        for (Index j = 0; j < W.cols(); ++j) {
            if (over_all || j < first || j >= first + count) {
                over.push_back(j);
            }
        }
        return DenseMatrix<Real>::NullaryExpr(
            W.rows(), count, [&](Index i, Index c) { return sum(XHt(i, first + c), i, c, over); });
    }

    DenseVector<Real> column(const DenseMatrix<Real>& rest, Index first, Index c) const {
        std::vector<Index> over;
        for (Index j = 0; j < rest.cols(); ++j) {
            if (j != c) {
                over.push_back(first + j);
            }
        }
        return DenseVector<Real>::NullaryExpr(
            W.rows(), [&](Index i) { return std::max(sum(rest(i, c), i, c, over), Real{0}); });
    }

    DenseMatrix<Real> W, XHt, factors;
};

template <class Real>
void expect_plain_basis(PlainBasis<Real> plain, Index first, Index count) {
    const Index rows = plain.W.rows();
    for (const Kernels* set : kernels_of_processor()) {
        const auto& of = set->of<Real>();
        DenseMatrix<Real> rest(rows, count);
        of.basis_rest(plain.block(first, count, rest.data()), true);
        ASSERT_EQ(rest, plain.rest(first, count, true)) << set->name << ", " << rows;
        of.basis_rest(plain.block(first, count, rest.data()), false);
        ASSERT_EQ(rest, plain.rest(first, count, false)) << set->name << ", " << rows;
        for (Index c = 0; c < count; ++c) {
            const DenseVector<Real> expected = plain.column(rest, first, c);
            const DenseMatrix<Real> before = plain.W;
            const Real square =
                of.basis_column(plain.block(first, count, rest.data()), c, plain.W.col(first + c).data());
            if ((expected.array() > 0).any()) {
                EXPECT_EQ(plain.W.col(first + c), expected) << set->name << ", " << rows;
                const Index lanes = 128 / static_cast<Index>(sizeof(Real));
                EXPECT_EQ(square,
                          plain_sum<Real>(rows, lanes, [&](Index i) { return expected[i] * expected[i]; }))
                    << set->name << ", " << rows;
            } else {
                EXPECT_EQ(square, Real{-1});
                EXPECT_EQ(plain.W.col(first + c), before.col(first + c)) << "it must stay";
            }
            const auto w = [&](Index i) { return static_cast<double>(before(i, first + c)); };
            const auto r = [&](Index i) { return static_cast<double>(rest(i, c)); };
            double sums[2];
            of.basis_products(before.col(first + c).data(), rest.col(c).data(), rows, sums);
            EXPECT_EQ(sums[0], plain_sum<double>(rows, 8, [&](Index i) { return w(i) * w(i); }));
            EXPECT_EQ(sums[1], plain_sum<double>(rows, 8, [&](Index i) { return w(i) * r(i); }));
            EXPECT_EQ(of.basis_movement(before.col(first + c).data(), rest.col(c).data(), rows, 0.3, 0.7),
                      plain_sum<double>(rows, 8, [&](Index i) {
                          const double step = w(i) - std::max(0.0, w(i) + 0.7 * (r(i) - 0.3 * w(i)));
                          return step * step;
                      }));
        }
    }
}

TEST(EveryKernelSetOfBases, StepsOnColumnsOfTheBasisLikeAPlainLoop) {
    std::mt19937_64 random(9);
    const auto uniform = [&]<class Real>(Real, Index rows, Index cols, double least) {
        std::uniform_real_distribution<double> draw(least, 1.0);
        return DenseMatrix<Real>(
            DenseMatrix<Real>::NullaryExpr(rows, cols, [&] { return static_cast<Real>(draw(random)); }));
    };
    const auto compare = [&]<class Real>(Real, Index rows, Index rank, Index first) {
        PlainBasis<Real> plain(uniform(Real{}, rows, rank, 0.0), uniform(Real{}, rows, rank, -1.0),
                               uniform(Real{}, basis_columns, rank, -1.0));
        const Index count = std::min<Index>(basis_columns, rank - first);
        expect_plain_basis(plain, first, count);
        plain.factors.setConstant(Real{-1}); // hardly an entry stays positive, then none
        expect_plain_basis(plain, first, count);
        plain.XHt.setConstant(Real{-1});
        expect_plain_basis(plain, first, count);
        plain.XHt(rows - 1, first) = Real{100};
        expect_plain_basis(plain, first, count);
    };
    for (const Index rows : {1, 2, 3, 7, 8, 9, 15, 16, 31, 32, 33, 64, 101, 200}) {
        for (const auto& [rank, first] :
             {std::pair{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 4}, {7, 4}, {9, 4}, {20, 16}}) {
            compare(float{}, rows, rank, first);
            compare(double{}, rows, rank, first);
        }
    }
}

} // namespace
} // namespace pnmf
