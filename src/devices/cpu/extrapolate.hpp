#pragma once

#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// (W, H) ← [now + β·(now − (W, H))]₊ for one scale, then columns of W to unit length; a column without
/// entries becomes that of `W_now`.
template <class Real>
void extrapolate_scale(const DenseMatrix<Real>& W_now, const DenseMatrix<Real>& H_now, Real beta,
                       DenseMatrix<Real>& W, DenseMatrix<Real>& H) {
    parallel_blocks(H.cols(), 1024, [&](Index begin, Index end) {
        const auto now = H_now.middleCols(begin, end - begin);
        auto here = H.middleCols(begin, end - begin);
        here.array() = (now.array() + beta * (now - here).array()).max(Real{0});
    });
    for (Index k = 0; k < W.cols(); ++k) {
        const auto now = W_now.col(k);
        auto w = W.col(k); // stays at hand from line to line
        w.array() = (now.array() + beta * (now - w).array()).max(Real{0});
        const Real norm = w.norm();
        if (norm > 0) {
            w /= norm;
        } else {
            w = now;
        }
    }
}

} // namespace pnmf
