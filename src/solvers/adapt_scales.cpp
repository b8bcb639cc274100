#include "solvers/adapt_scales.hpp"
#include "cells/linalg/over_all_cells.hpp"
#include "model/objective_of_held.hpp"
#include "solvers/interpolate.hpp"
#include "solvers/solve_level.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

constexpr Index most_rough_sweeps = 200; ///< on one set of scales, before more are added

/// The scales between two kept ones that are looked at: the middle, and the last before the largest step.
std::vector<Index> probes(const std::vector<double>& epsilon, Index before, Index after) {
    std::vector<Index> result{(before + after) / 2};
    Index largest = before + 1;
    for (Index t = before + 1; t < after; ++t) {
        if (epsilon[t + 1] - epsilon[t] > epsilon[largest + 1] - epsilon[largest]) {
            largest = t;
        }
    }
    if (largest != result.front()) {
        result.push_back(largest);
    }
    return result;
}

/// The certificate of factors that stand alone at scale t, its neighbours lying on a line with it. H has the
/// cells that X holds. Processes share the work.
template <class Real>
double residual_at(const Problem<Real>& all, Index t, const DenseMatrix<Real>& W,
                   const DenseMatrix<Real>& H) {
    DenseMatrix<Real> buffer;
    const DenseMatrix<Real>& of_all = cells_of_all(*all.X, H, buffer);
    const ScaleProducts<Real> products = scale_products(all, t, W, of_all);
    KktResidual residual;
    residual.H = movement_of_held(*all.X, all.at(t), products, H, &H, &H);
    residual.W = movement_W(BasisForm::unit_columns, W, times_transposed_over_cells(*all.X, H),
                            gram_of_held(*all.X, H));
    return residual.certificate();
}

/// The kept scales and those that failed, the worst first where not all may be added.
std::vector<Index> with_failed(const std::vector<Index>& kept, std::vector<LeftOut> failed,
                               std::optional<Index> most) {
    std::stable_sort(failed.begin(), failed.end(),
                     [](const LeftOut& a, const LeftOut& b) { return a.residual > b.residual; });
    const Index buffer = most ? *most - std::ssize(kept) : std::ssize(failed);
    std::vector<Index> result = kept;
    for (Index i = 0; i < std::min<Index>(buffer, std::ssize(failed)); ++i) {
        result.push_back(failed[i].position);
    }
    std::sort(result.begin(), result.end());
    return result;
}

void check_adapt_options(const AdaptOptions& options, Index scales) {
    require(std::isfinite(options.error) && options.error > 0.0,
            "the error allowed at scales that are left out must be a number above 0, got {}", options.error);
    require(!options.most || *options.most >= std::min<Index>(2, scales),
            "at least 2 scales must be kept, got {}", options.most.value_or(0));
}

} // namespace

double largest(const std::vector<LeftOut>& scales) {
    double result = 0.0;
    for (const LeftOut& scale : scales) {
        result = std::max(result, scale.residual);
    }
    return result;
}

template <class Real>
std::vector<LeftOut> left_out_residuals(const Problem<Real>& all, const std::vector<Index>& kept,
                                        const Factors<Real>& factors) {
    require(std::ssize(kept) == factors.scales(), "{} kept scales need as many factors, got {}", kept.size(),
            factors.scales());
    std::vector<LeftOut> gaps;
    for (std::size_t i = 0; i + 1 < kept.size(); ++i) {
        if (kept[i + 1] - kept[i] > 1) {
            gaps.push_back({.position = static_cast<Index>(i)});
        }
    }
    for_each_with_all(*all.X, std::ssize(gaps), [&](Index g) {
        LeftOut& gap = gaps[g];
        const auto i = static_cast<std::size_t>(gap.position);
        for (const Index t : probes(all.epsilon, kept[i], kept[i + 1])) {
            const Factors<Real> there = interpolate(factors, kept, {t}, all.features());
            const double residual = residual_at(all, t, there.W.front(), there.H.front());
            if (gap.residual <= residual) {
                gap = {.position = t, .residual = residual};
            }
        }
    });
    return gaps;
}

template <class Real>
AdaptedScales<Real> adapt_scales(const Problem<Real>& all, Pair<Real> pair, const AdaptOptions& options,
                                 const Observer& observer, StartLog<Real> log) {
    check_adapt_options(options, all.scales());
    const auto reached = log.reached;
    const SolverOptions rough = rough_options(options.level, most_rough_sweeps);
    StartState<Real> at;
    if (!log.from.state.trace.empty()) { // the chain before the levels makes no sweeps
        at = std::move(log.from);
    } else {
        if (log.from.kept.empty()) {
            const Index first = options.first + std::ssize(options.wanted);
            log.from.kept = few_positions(all.scales(), options.wanted,
                                          std::min({first, options.most.value_or(first), all.scales()}));
        }
        at.kept = log.from.kept;
        at.state.current = chained_start(at_scales(all, at.kept), std::move(pair), 1e-3, observer,
                                         options.level.bases_in, std::move(log), options.level.device);
    }
    while (true) {
        at.scales = std::ssize(at.kept);
        const Problem<Real> level = at_scales(all, at.kept);
        if (at.state.trace.empty()) { // else it goes on with solving it
            at.state = start_solver(level, rough, std::move(at.state.current));
        }
        solve_level(level, rough, at, observer, reached);
        at.state.previous = {}; // memory for the interpolated factors
        std::vector<LeftOut> judged = left_out_residuals(all, at.kept, at.state.current);
        const double error = largest(judged);
        std::erase_if(judged, [&](const LeftOut& scale) { return scale.residual <= options.error; });
        const std::vector<Index> next = with_failed(at.kept, std::move(judged), options.most);
        if (next.size() == at.kept.size()) {
            return {.kept = std::move(at.kept), .factors = std::move(at.state.current), .error = error};
        }
        Factors<Real> drawn =
            interpolate(at.state.current, at.kept, next, all.features(), options.level.bases_in);
        at.state = {};
        at.state.current = std::move(drawn);
        at.kept = next;
    }
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template std::vector<LeftOut> left_out_residuals(const Problem<Real>&, const std::vector<Index>&,        \
                                                     const Factors<Real>&);                                  \
    template AdaptedScales<Real> adapt_scales(const Problem<Real>&, Pair<Real>, const AdaptOptions&,         \
                                              const Observer&, StartLog<Real>);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
