#include "diagnostics/unknown.hpp"

#include <pnmf/diagnostics/theorems.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pnmf {
RoundingBounds rounding_of(Precision precision) {
    // Single precision has 29 bits less. Norms and objectives are sums of many products, which lose some of
    // the 24 it has; measured on the fits of tests/diagnostics/check_test.cpp, with memory.
    return precision == Precision::single
               ? RoundingBounds{.objective = 1e-5, .normalisation = 1e-5, .certificate = 1e-2}
               : RoundingBounds{};
}

double certificate_bound(const SolverOptions& options) {
    const bool on_certificate =
        options.algorithm == Algorithm::stationary && options.stop == StopRule::certificate;
    return on_certificate ? options.tolerance.value_or(default_tolerance(options))
                          : default_tolerance(SolverOptions{});
}

Convergence trace_convergence(const std::vector<double>& objective, Precision precision) {
    const double rounding = rounding_of(precision).objective;
    Convergence result;
    result.sweeps = std::max<Index>(static_cast<Index>(objective.size()) - 1, 0);
    result.largest_rise = -std::numeric_limits<double>::infinity();
    result.normalisation = unknown;
    result.kkt_all = unknown;
    for (std::size_t s = 1; s < objective.size(); ++s) {
        const double rise = (objective[s] - objective[s - 1]) / objective[s - 1];
        result.largest_rise = std::max(result.largest_rise, rise);
        result.rises += rise > rounding ? 1 : 0;
    }
    return result;
}

void look_at_factors(Convergence& convergence, Algorithm algorithm, Index scales,
                     const std::function<Matrix(Index)>& embedding,
                     const std::function<Matrix(Index)>& basis) {
    convergence.smallest_entry = std::numeric_limits<double>::infinity();
    convergence.normalisation = basis ? 0.0 : unknown;
    for (Index t = 0; t < scales; ++t) {
        const Matrix H = embedding(t);
        convergence.smallest_entry = std::min(convergence.smallest_entry, H.minCoeff());
        if (!basis) {
            continue;
        }
        const Matrix W = basis(t);
        convergence.smallest_entry = std::min(convergence.smallest_entry, W.minCoeff());
        for (Index k = 0; k < W.cols(); ++k) {
            const double norm = algorithm == Algorithm::paper ? W.col(k).lpNorm<1>() : W.col(k).norm();
            convergence.normalisation = std::max(convergence.normalisation, std::abs(norm - 1.0));
        }
    }
}

void evaluate_kkt(Convergence& convergence, Algorithm algorithm, const Problem<double>& problem,
                  const Factors<double>& factors) {
    const auto residuals = kkt_residuals(problem, factors, form_of(algorithm));
    convergence.kkt.clear();
    for (const KktResidual& residual : residuals) {
        convergence.kkt.push_back(residual.certificate());
    }
    convergence.kkt_all = sum(residuals).certificate();
    convergence.evaluated = true;
}

Findings findings(const Convergence& convergence, Algorithm algorithm, double tolerance,
                  Precision precision) {
    const RoundingBounds rounding = rounding_of(precision);
    const double bound = tolerance * (1.0 + rounding.certificate);
    const bool promised = algorithm != Algorithm::reference;
    Findings result;
    result.push_back({.statement = "thm:global_nonincreasing",
                      .what = "no sweep raises the objective",
                      .measured = std::max(convergence.largest_rise, 0.0),
                      .bound = rounding.objective,
                      .verdict = verdict_of(convergence.rises == 0),
                      .note = fmt::format("largest rise, relative; {} of {} sweeps rise{}", convergence.rises,
                                          convergence.sweeps,
                                          promised ? ""
                                                   : "; this algorithm rescales after each step and "
                                                     "promises nothing")});
    const double residual =
        convergence.kkt_all; // of all scales together where it was evaluated, else the largest recorded
    const double shown = !std::isnan(residual) ? residual
                         : convergence.kkt.empty()
                             ? unknown
                             : *std::max_element(convergence.kkt.begin(), convergence.kkt.end());
    result.push_back({.statement = "thm:subproblem_kkt",
                      .what = "the point is stationary: its KKT residual meets the tolerance",
                      .measured = shown,
                      .bound = bound,
                      .verdict = std::isnan(shown) ? Verdict::not_checked : verdict_of(shown <= bound),
                      .note = convergence.evaluated
                                  ? "evaluated anew from W, H and the data, all scales together"
                                  : "the largest that was recorded for a scale; with the data, and bases in "
                                    "the result, it is evaluated anew"});
    result.push_back(
        {.statement = "eq:pnmf_model",
         .what = "no entry of H or W is negative",
         .measured = convergence.smallest_entry,
         .bound = 0.0,
         .verdict = verdict_of(convergence.smallest_entry >= 0.0),
         .note = std::isnan(convergence.normalisation) ? "H alone: the result has no bases" : ""});
    result.push_back(
        {.statement = "eq:normalize",
         .what = algorithm == Algorithm::paper ? "columns of W sum to 1" : "columns of W have length 1",
         .measured = convergence.normalisation,
         .bound = rounding.normalisation,
         .verdict = std::isnan(convergence.normalisation)
                        ? Verdict::not_checked
                        : verdict_of(convergence.normalisation <= rounding.normalisation),
         .note = std::isnan(convergence.normalisation) ? "the result has no bases" : ""});
    return result;
}

} // namespace pnmf
