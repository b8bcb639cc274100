#pragma once

#include "linalg/kernels/kernels.hpp"

#include <pnmf/model/objective.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// The terms of the half gradient in H of one scale besides WᵀW·H, as the kernels want them
/// (`half_gradient_H` of the model). Embeddings of the scales beside it are null where there are none.
template <class Real>
HalfGradient<Real> gradient_terms(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                                  const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                                  const DenseMatrix<Real>* after) {
    return {.rank = H.rows(),
            .H = H.data(),
            .WtX = products.WtX.data(),
            .HA = products.HA.data(),
            .degree = products.degree.data(),
            .before = before != nullptr ? before->data() : nullptr,
            .after = after != nullptr ? after->data() : nullptr,
            .graph = static_cast<Real>(penalty.graph),
            .anchor = static_cast<Real>(penalty.anchor),
            .to_before = static_cast<Real>(penalty.before),
            .to_after = static_cast<Real>(penalty.after)};
}

} // namespace pnmf
