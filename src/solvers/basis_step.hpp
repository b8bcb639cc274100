#pragma once

#include <pnmf/types.hpp>

namespace pnmf {

/// One exact step on each column of W in turn, for fixed H, on the unit sphere:
///
///     w_k ← v₊ / ‖v₊‖ ,   v = (XHᵀ)_k − W(HHᵀ)_k + w_k (HHᵀ)_kk
///
/// It minimises ‖X − WH‖² over w_k ≥ 0, ‖w_k‖ = 1: on the sphere the squared norm is constant, so the
/// minimiser is the feasible direction nearest to v. Where v₊ = 0 the column stays. W is p × d with unit
/// columns, XHt is p × d, HHt is d × d. The objective cannot rise. Cost 2pd².
template <class Real>
void update_basis(DenseMatrix<Real>& W, const DenseMatrix<Real>& XHt, const DenseMatrix<Real>& HHt) {
    DenseVector<Real> v(W.rows());
    for (Index k = 0; k < W.cols(); ++k) {
        v.array() = XHt.col(k).array() + HHt(k, k) * W.col(k).array();
        v.noalias() -= W * HHt.col(k);
        v.array() = v.array().max(Real{0});
        const Real norm = v.norm();
        if (norm > 0) {
            W.col(k) = v / norm;
        }
    }
}

} // namespace pnmf
