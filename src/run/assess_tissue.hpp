#pragma once

#include <pnmf/assess/domains.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/solvers/fit.hpp>

#include <optional>

namespace pnmf {

/// `assess_fit` of cells in a tissue, whose graph joins those that lie together: `types` are the clusters of
/// the finest scale, and domains are found too (`find_domains`).
template <class Real>
Assessment assess_tissue(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                         AssessOptions assessing, const Assessment& types, const DomainOptions& options,
                         std::optional<Domains>& domains);

} // namespace pnmf
