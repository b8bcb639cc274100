#pragma once

#include <pnmf/solvers/solver.hpp>

#include <memory>

namespace pnmf {

/// What an algorithm does in one sweep; `run_solver` is the loop around it.
template <class Real>
class Method {
  public:
    virtual ~Method() = default;

    /// One sweep over all scales: moves `state.current` and what belongs to it (not the trace), and reports
    /// the objective, the residuals as far as they come for free, and the inner steps. `step` may be empty.
    virtual SweepReport sweep(SolverState<Real>& state,
                              const std::function<void(const StepReport&)>& step) = 0;
};

template <class Real>
std::unique_ptr<Method<Real>> make_stationary(const Problem<Real>& problem, const SolverOptions& options);

/// `reference` and `paper`: multiplicative steps, scale after scale.
template <class Real>
std::unique_ptr<Method<Real>> make_multiplicative(const Problem<Real>& problem, const SolverOptions& options);

} // namespace pnmf
