#include <pnmf/linalg/sampling.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

constexpr Index coarsest_level = 12; ///< scales to begin with
constexpr Index growth = 4;          ///< from level to level
constexpr Index work_per_level = 10; ///< at most the work of this many sweeps over all scales
constexpr Index most_sweeps = 500;

/// The factors at `wanted` positions from those at `known` ones, linear in between, columns of W unit.
template <class Real>
Factors<Real> draw_out(const Factors<Real>& factors, const std::vector<Index>& known,
                       const std::vector<Index>& wanted, Index features,
                       const std::filesystem::path& bases_in) {
    auto result = empty_factors<Real>(std::ssize(wanted), features, factors.rank(), bases_in);
    parallel_for(static_cast<Index>(wanted.size()), [&](Index i) {
        const auto after = std::lower_bound(known.begin(), known.end(), wanted[i]);
        const Index b = after - known.begin();
        DenseMatrix<Real> room_before;
        DenseMatrix<Real> room_after;
        if (known[b] == wanted[i]) {
            result.W[i] = factors.basis(b, room_after);
            result.H[i] = factors.H[b];
            result.rest(i);
            return;
        }
        const auto share =
            static_cast<Real>(wanted[i] - known[b - 1]) / static_cast<Real>(known[b] - known[b - 1]);
        result.W[i] =
            (Real{1} - share) * factors.basis(b - 1, room_before) + share * factors.basis(b, room_after);
        result.H[i] = (Real{1} - share) * factors.H[b - 1] + share * factors.H[b];
        make_columns_unit(result.W[i], result.H[i]);
        result.rest(i);
    });
    return result;
}

/// A level of scales that stand for all. Where all scales of the problem count alike they are taken to be
/// evenly spaced, though they are so only but for rounding of their positions.
template <class Real>
Problem<Real> at_level(const Problem<Real>& problem, const std::vector<Index>& positions) {
    return problem.even() ? at_even_scales(problem, positions) : at_scales(problem, positions);
}

} // namespace

template <class Real>
Factors<Real> nested_start(const Problem<Real>& problem, Pair<Real> pair, const LevelOptions& options,
                           const Observer& observer) {
    const Index T = problem.scales();
    Index count = T;
    while (count > coarsest_level) {
        count = (count + growth - 1) / growth;
    }
    const Index coarsest = count;
    std::vector<Index> positions = evenly_spaced(count, T);
    Factors<Real> factors =
        chained_start(at_level(problem, positions), std::move(pair), 1e-3, observer, options.bases_in);
    while (count < T) {
        const SolverOptions rough{.extrapolate = options.extrapolate,
                                  .shift_components = options.shift_components,
                                  .tolerance = options.tolerance,
                                  .max_sweeps = std::min(most_sweeps, work_per_level * T / count)};
        const Problem<Real> level = at_level(problem, positions);
        auto state = start_solver(level, rough, std::move(factors), count > coarsest);
        const auto go_on = [&](const SweepReport&) { return !observer.starting || observer.starting(); };
        // A rough fit needs no sweeps at levels that what was drawn out already solves well enough.
        const bool solved = count > coarsest && sum(state.residuals).certificate() <= options.tolerance;
        if (!solved && run_solver(level, rough, state, {.sweep = go_on}) == Stop::interrupted) {
            throw Interrupted();
        }
        state.previous = {}; // room for what is drawn out
        count = std::min(T, count * growth);
        const std::vector<Index> next = evenly_spaced(count, T);
        factors = draw_out(state.current, positions, next, problem.features(), options.bases_in);
        positions = next;
    }
    return factors;
}

template Factors<float> nested_start(const Problem<float>&, Pair<float>, const LevelOptions&,
                                     const Observer&);
template Factors<double> nested_start(const Problem<double>&, Pair<double>, const LevelOptions&,
                                      const Observer&);

} // namespace pnmf
