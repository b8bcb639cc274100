#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/solvers/fit.hpp>

namespace pnmf {

/// `assess_scales` of a fit or a baseline: clusters and scores of every scale and the recommended one,
/// without labels; and the gene programs of that scale.
template <class Real>
Assessment assess_fit(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                      const AssessOptions& options = {});

} // namespace pnmf
