#pragma once

#include <pnmf/metrics/assess.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

#include <optional>

namespace pnmf {

struct RunOptions {
    FitOptions fit{};
    std::optional<Index> clusters{}; ///< k at each scale, 1 ≤ k ≤ n; default: chosen by stability
};

/// A fit and what its embeddings say.
template <class Real>
struct Run {
    PreparedFit<Real> prepared;
    FitResult<Real> result;
    Assessment assessment;

    /// The embedding at the recommended scale, d × n.
    const DenseMatrix<Real>& embedding() const {
        return result.factors.H[static_cast<std::size_t>(assessment.recommended)];
    }
};

/// The whole: prepares, fits, clusters the cells at each scale and recommends one.
///
///     const auto run = run_fit<double>(X, {.fit = {.rank = 10}});
///     const Matrix& embedding = run.embedding(); // rank × cells, at the recommended scale
///
/// X, features × cells, is not copied in double precision: it must outlive the run.
template <class Real = double>
Run<Real> run_fit(const DataView& X, const RunOptions& options = {}, const Observer& observer = {});
template <class Real = double>
Run<Real> run_fit(const DataValues& X, const RunOptions& options = {}, const Observer& observer = {});

} // namespace pnmf
