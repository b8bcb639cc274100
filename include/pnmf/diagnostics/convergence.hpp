#pragma once

#include <pnmf/diagnostics/finding.hpp>
#include <pnmf/model/kkt.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/solvers/solver.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <vector>

namespace pnmf {

/// What theorems (global_nonincreasing) and (subproblem_kkt), eq. (normalize) and W, H ≥ 0 say of a result.
struct Convergence {
    Index sweeps = 0;
    Index rises = 0;             ///< sweeps after which the objective was larger, beyond rounding
    double largest_rise = 0.0;   ///< relative to the objective before it; rounding included
    double smallest_entry = 0.0; ///< of all H, and of all W where given
    double normalisation = 0.0; ///< largest |‖w_k‖ − 1|, ℓ1 for `paper`, ℓ2 otherwise; NaN without W
    std::vector<double> kkt;    ///< of each scale; empty when not known
    double kkt_all = 0.0;       ///< of all scales together; NaN when not known
    bool evaluated = false;     ///< from W, H and the data, not as recorded
};

/// What rounding may add to what a fit promises, by the numbers it computed with.
struct RoundingBounds {
    double objective = 1e-11;    ///< rises of at most this, relative, are rounding
    double normalisation = 1e-9; ///< of |‖w_k‖ − 1|
    double certificate = 1e-6;   ///< of a KKT residual, relative
};
RoundingBounds rounding_of(Precision precision);

/// What a result's KKT residual is held against: the tolerance it stopped at where it stopped on the
/// certificate, else the default of a run that does.
double certificate_bound(const SolverOptions& options);

/// Of a recorded trace: fills sweeps, rises and largest_rise.
Convergence trace_convergence(const std::vector<double>& objective, Precision precision = Precision::full);

/// Adds what the factors show; `basis` may be empty.
void look_at_factors(Convergence& convergence, Algorithm algorithm, Index scales,
                     const std::function<Matrix(Index)>& embedding,
                     const std::function<Matrix(Index)>& basis);

/// The certificate of all scales from W, H and the data alone. The form of W is that of the algorithm.
void evaluate_kkt(Convergence& convergence, Algorithm algorithm, const Problem<double>& problem,
                  const Factors<double>& factors);

/// `tolerance` is `certificate_bound` of the fit.
Findings findings(const Convergence& convergence, Algorithm algorithm, double tolerance,
                  Precision precision = Precision::full);

} // namespace pnmf
