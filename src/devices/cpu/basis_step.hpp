#pragma once

#include "linalg/kernels/kernels.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <type_traits>

namespace pnmf {

/// One exact step on each column of W in turn, for fixed H, on the unit sphere, `passes` times over:
///
///     w_k ← v₊ / ‖v₊‖ ,   v = (XHᵀ)_k − W(HHᵀ)_k + w_k (HHᵀ)_kk
///
/// It minimises ‖X − WH‖² over w_k ≥ 0, ‖w_k‖ = 1: on the sphere the squared norm is constant, so the
/// minimiser is the feasible direction nearest to v. Where v₊ = 0 the column stays. W is p × d with unit
/// columns, XHt is p × d, HHt is d × d. The objective cannot rise. A pass costs 2pd².
///
/// Until the last step W has the columns v₊, and their lengths are in the factors that they are multiplied
/// by. What the columns of other blocks add to v is made for a block of them at once.
template <class Real>
void update_basis(DenseMatrix<Real>& W, std::type_identity_t<ConstBlock<Real>> XHt,
                  const DenseMatrix<Real>& HHt, Index passes = 1) {
    assert(XHt.outerStride() == W.rows()); // no gaps between columns
    const auto& steps = kernels().of<Real>();
    const Index d = W.cols();
    DenseVector<Real> scale = DenseVector<Real>::Ones(d);
    DenseMatrix<Real> factors(basis_columns, d);
    DenseMatrix<Real> rest(W.rows(), std::min<Index>(basis_columns, d));
    for (Index pass = 0; pass < passes; ++pass) {
        for (Index first = 0; first < d; first += basis_columns) {
            const Index count = std::min<Index>(basis_columns, d - first);
            const BasisBlock<Real> block{W.rows(), d,     W.data(),       XHt.data(),
                                         first,    count, factors.data(), rest.data()};
            factors.topRows(count) = -(scale.asDiagonal() * HHt.middleCols(first, count)).transpose();
            steps.basis_rest(block, false);
            for (Index c = 0; c < count; ++c) {
                const Index k = first + c;
                Real square = steps.basis_column(block, c, W.col(k).data());
                if (square < 0) {
                    continue;
                }
                if (square == 0) { // of entries that are too small to be squared
                    W.col(k) /= W.col(k).maxCoeff();
                    square = W.col(k).squaredNorm();
                }
                scale[k] = Real{1} / std::sqrt(square);
                factors.col(k).head(count) = -scale[k] * HHt.row(k).segment(first, count).transpose();
            }
        }
    }
    for (Index k = 0; k < d; ++k) {
        if (scale[k] != Real{1}) {
            W.col(k) *= scale[k];
        }
    }
}

} // namespace pnmf
