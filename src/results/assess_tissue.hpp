#pragma once

#include <pnmf/assess/domains.hpp>
#include <pnmf/results/assess_fit.hpp>
#include <pnmf/solvers/fit.hpp>

#include <optional>

namespace pnmf {

/// `assess_fit` of cells in a tissue, whose graph joins those that lie together: clusters are types of cells,
/// judged by neighbours in expression, and domains are found too (`find_domains`). X has the order of the
/// data.
template <class Real>
Assessment assess_tissue(const DataView& X, const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                         AssessOptions assessing, const DomainOptions& options,
                         std::optional<Domains>& domains);

} // namespace pnmf
