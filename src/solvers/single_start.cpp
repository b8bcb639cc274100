#include "solvers/single_start.hpp"

#include "cells/processes.hpp"
#include "linalg/parallel_copy.hpp"
#include "solvers/fit_data.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace pnmf {
namespace {

/// Dense or sparse as X is, and the same part of it.
std::unique_ptr<const DataMatrix<float>> in_single(const DataMatrix<double>& X) {
    const std::optional<CellRange> local = !X.has_all_cells() ? std::optional(X.local()) : std::nullopt;
    return data_of<float>(X.is_sparse() ? DataView(X.columns()) : DataView(X.dense()), true, local);
}

/// Of all cells.
double largest_value(const DataMatrix<double>& X) {
    double largest = 0.0;
    if (X.is_sparse()) {
        for (const double value : X.columns().value) {
            largest = std::max(largest, value);
        }
    } else if (X.dense().size() > 0) {
        largest = X.dense().maxCoeff();
    }
    return !X.has_all_cells() ? most_of(X.processes(), largest) : largest;
}

template <class To, class From>
void convert_scale(const Factors<From>& from, Index t, Factors<To>& to) {
    DenseMatrix<From> buffer;
    to.W[t] = converted<To>(from.basis(t, buffer));
    to.H[t] = converted<To>(from.H[t]);
    to.rest(t);
}

/// Factors of as many scales, without numbers. The coarsest scale is the first that has some.
template <class To, class From>
Factors<To> buffer_for(const Factors<From>& from, const std::filesystem::path& bases_in, Index features) {
    return from.H.empty() ? Factors<To>{}
                          : empty_factors<To>(from.scales(), features, from.H.back().rows(), bases_in);
}

/// Those of the scales from `first` on; the others have none.
template <class To, class From>
Factors<To> copied_to(const Factors<From>& from, Index first, const std::filesystem::path& bases_in,
                      Index features) {
    Factors<To> to = buffer_for<To>(from, bases_in, features);
    parallel_for(std::ssize(from.H) - first, [&](Index i) { convert_scale(from, first + i, to); });
    return to;
}

/// Each scale is let go as soon as it is converted.
template <class To, class From>
Factors<To> moved_to(Factors<From> from, const std::filesystem::path& bases_in, Index features) {
    Factors<To> to = buffer_for<To>(from, bases_in, features);
    parallel_for(from.scales(), [&](Index t) {
        convert_scale(from, t, to);
        from.W[t].resize(0, 0);
        from.H[t].resize(0, 0);
    });
    return to;
}

/// All but the factors.
template <class To, class From>
StartState<To> without_factors(const StartState<From>& from) {
    StartState<To> to{.scales = from.scales, .unchained = from.unchained, .kept = from.kept, .state = {}};
    to.state.momentum = from.state.momentum;
    to.state.residuals = from.state.residuals;
    to.state.trace = from.state.trace;
    to.state.inner_steps = from.state.inner_steps;
    return to;
}

template <class To, class From>
StartState<To> copied_to(const StartState<From>& from, const std::filesystem::path& bases_in,
                         Index features) {
    StartState<To> to = without_factors<To>(from);
    to.state.current = copied_to<To>(from.state.current, from.unchained, bases_in, features);
    to.state.previous = copied_to<To>(from.state.previous, 0, bases_in, features);
    return to;
}

/// Of local cells all processes must ask.
bool single_precision_serves(const Problem<double>& problem) {
    constexpr double least = 1e-10;
    constexpr double most = 1e10; // the squares of 10¹⁸ such values still have a sum
    if (problem.scales() <= most_scales_without_levels) {
        return false;
    }
    const double largest = largest_value(*problem.X);
    const Penalty& penalty = problem.penalty;
    return largest >= least && largest <= most &&
           std::max({penalty.graph, penalty.smoothness, penalty.anchor}) <= most;
}

Factors<double> single_nested_start(const Problem<double>& problem, Pair<double> pair,
                                    const LevelOptions& options, const Observer& observer,
                                    StartLog<double> log) {
    const std::filesystem::path& folder = options.bases_in;
    const Index p = problem.features();
    StartLog<float> single_log{.from = copied_to<float>(log.from, folder, p), .reached = {}};
    log.from = {};
    if (log.reached) {
        single_log.reached = [&](const StartState<float>& at, const std::function<void()>& bring_factors) {
            StartState<double> seen = without_factors<double>(at);
            return log.reached(seen, [&] {
                bring_factors();
                seen = copied_to<double>(at, folder, p);
            });
        };
    }
    const auto X = in_single(*problem.X);
    const Problem<float> single{.X = X.get(),
                                .graph = problem.graph,
                                .epsilon = problem.epsilon,
                                .penalty = problem.penalty,
                                .weight = problem.weight,
                                .smoothness = problem.smoothness,
                                .data_on_host = problem.data_on_host};
    Pair<float> first{converted<float>(pair.W), converted<float>(pair.H)};
    pair = {};
    return moved_to<double>(nested_start(single, std::move(first), options, observer, std::move(single_log)),
                            folder, p);
}

} // namespace

template <RealNumber Real>
Factors<Real> quick_nested_start(const Problem<Real>& problem, Pair<Real> pair, const LevelOptions& options,
                                 const Observer& observer, StartLog<Real> log) {
    if constexpr (std::is_same_v<Real, double>) {
        if (single_precision_serves(problem)) {
            return single_nested_start(problem, std::move(pair), options, observer, std::move(log));
        }
    }
    return nested_start(problem, std::move(pair), options, observer, std::move(log));
}

template Factors<float> quick_nested_start(const Problem<float>&, Pair<float>, const LevelOptions&,
                                           const Observer&, StartLog<float>);
template Factors<double> quick_nested_start(const Problem<double>&, Pair<double>, const LevelOptions&,
                                            const Observer&, StartLog<double>);

} // namespace pnmf
