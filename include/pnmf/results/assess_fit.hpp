#pragma once

#include <pnmf/metrics/assess.hpp>
#include <pnmf/solvers/fit.hpp>

namespace pnmf {

/// `assess_scales` of a fit or a baseline: clusters and scores of every scale, without labels. The
/// recommended scale becomes `result.recommended`.
template <class Real>
Assessment assess_fit(const PreparedFit<Real>& prepared, FitResult<Real>& result,
                      const AssessOptions& options = {});

} // namespace pnmf
