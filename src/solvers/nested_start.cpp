#include "solvers/interpolate.hpp"
#include "solvers/solve_level.hpp"

#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

constexpr Index growth = 4;          ///< from level to level
constexpr Index work_per_level = 10; ///< at most the work of this many sweeps over all scales
constexpr Index most_sweeps = 500;

/// A level of scales that stand for all. Where all scales of the problem count alike they are taken to be
/// evenly spaced, though they are so only but for rounding of their positions.
template <class Real>
Problem<Real> at_level(const Problem<Real>& problem, const std::vector<Index>& positions) {
    return problem.even() ? at_even_scales(problem, positions) : at_scales(problem, positions);
}

/// Scales of the coarsest level: at most a dozen.
Index coarsest_count(Index scales) {
    while (scales > most_scales_without_levels) {
        scales = (scales + growth - 1) / growth;
    }
    return scales;
}

} // namespace

template <class Real>
Factors<Real> nested_start(const Problem<Real>& problem, Pair<Real> pair, const LevelOptions& options,
                           const Observer& observer, StartLog<Real> log) {
    const Index T = problem.scales();
    const Index coarsest = coarsest_count(T);
    const auto reached = log.reached;
    StartState<Real> at;
    at.scales = coarsest;
    Factors<Real> factors;
    bool in_level = !log.from.state.trace.empty(); // the chain before the levels makes no sweeps
    if (in_level) {
        at = std::move(log.from);
    } else {
        factors = chained_start(at_level(problem, evenly_spaced(coarsest, T)), std::move(pair), 1e-3,
                                observer, options.bases_in, std::move(log), options.device);
    }
    while (at.scales < T) {
        const SolverOptions rough =
            rough_options(options, std::min(most_sweeps, work_per_level * T / at.scales));
        const std::vector<Index> positions = evenly_spaced(at.scales, T);
        const Problem<Real> level = at_level(problem, positions);
        // A rough fit needs no sweeps at levels where the interpolated factors are good enough already.
        bool solved = false;
        if (!in_level) {
            at.state = start_solver(level, rough, std::move(factors), at.scales > coarsest);
            solved = at.scales > coarsest && !at.state.residuals.empty() &&
                     sum(at.state.residuals).certificate() <= options.tolerance;
        }
        in_level = false;
        if (!solved) {
            solve_level(level, rough, at, observer, reached);
        }
        at.state.previous = {}; // memory for the interpolated factors
        at.scales = std::min(T, at.scales * growth);
        factors = interpolate(at.state.current, positions, evenly_spaced(at.scales, T), problem.features(),
                              options.bases_in);
        at.state = {};
    }
    return factors;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template Factors<Real> nested_start(const Problem<Real>&, Pair<Real>, const LevelOptions&,               \
                                        const Observer&, StartLog<Real>);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
