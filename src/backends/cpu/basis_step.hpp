#pragma once

#include "linalg/kernels/kernels.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {

/// One exact step on each column of W in turn, for fixed H, on the unit sphere:
///
///     w_k ← v₊ / ‖v₊‖ ,   v = (XHᵀ)_k − W(HHᵀ)_k + w_k (HHᵀ)_kk
///
/// It minimises ‖X − WH‖² over w_k ≥ 0, ‖w_k‖ = 1: on the sphere the squared norm is constant, so the
/// minimiser is the feasible direction nearest to v. Where v₊ = 0 the column stays. W is p × d with unit
/// columns, XHt is p × d, HHt is d × d. The objective cannot rise. Cost 2pd².
///
/// W(HHᵀ)_k is made for a few columns at once, by a product of matrices that reads W once, and mended by what
/// the columns before k among them have moved.
template <class Real>
void update_basis(DenseMatrix<Real>& W, const DenseMatrix<Real>& XHt, const DenseMatrix<Real>& HHt) {
    constexpr Index most_columns = 8;
    const Index d = W.cols();
    DenseMatrix<Real> V(W.rows(), std::min(most_columns, d));
    DenseMatrix<Real> moved(W.rows(), V.cols());
    for (Index first = 0; first < d; first += most_columns) {
        const Index count = std::min(most_columns, d - first);
        multiply(W, HHt.middleCols(first, count), V.leftCols(count));
        for (Index i = 0; i < count; ++i) {
            const Index k = first + i;
            auto v = V.col(i);
            v.array() = XHt.col(k).array() + HHt(k, k) * W.col(k).array() - v.array();
            v.noalias() -= moved.leftCols(i) * HHt.col(k).segment(first, i);
            const auto& steps = kernels().of<Real>();
            const Real norm = std::sqrt(steps.positive_square(v.data(), v.size()));
            if (norm > 0) {
                steps.take_direction(norm, v.size(), v.data(), moved.col(i).data(), W.col(k).data());
            } else {
                moved.col(i).setZero();
            }
        }
    }
}

} // namespace pnmf
