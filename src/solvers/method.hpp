#pragma once

#include "solvers/backend.hpp"

#include <pnmf/solvers/solver.hpp>

#include <memory>

namespace pnmf {

/// What an algorithm does in one sweep; `run_solver` is the loop around it.
template <class Real>
class Method {
  public:
    virtual ~Method() = default;

    /// Takes the factors of the state over, until `store`; the state must outlive the method.
    virtual void load(SolverState<Real>& state) = 0;
    /// Brings the factors of the state that was loaded up to date.
    virtual void store() = 0;
    /// The same where no sweep will follow: `state.current` alone need be up to date.
    virtual void store_last() { store(); }

    /// Evaluates a start that was loaded: its objective is the first of the trace. `judge`: its residuals too
    /// (`start_solver`).
    virtual void begin(SolverState<Real>& state, bool judge) = 0;

    /// One sweep over all scales: moves `state.current` and what belongs to it (not the trace), and reports
    /// the objective, the residuals as far as they come for free, and the inner steps. `step` may be empty.
    virtual SweepReport sweep(SolverState<Real>& state,
                              const std::function<void(const StepReport&)>& step) = 0;

    /// Of every scale at `state.current`, evaluated anew from W and H.
    virtual std::vector<KktResidual> residuals(const SolverState<Real>& state) = 0;
};

template <class Real>
std::unique_ptr<Method<Real>> make_stationary(const Problem<Real>& problem, const SolverOptions& options,
                                              std::unique_ptr<Backend<Real>> backend);

/// `reference` and `paper`: multiplicative steps, scale after scale.
template <class Real>
std::unique_ptr<Method<Real>> make_multiplicative(const Problem<Real>& problem, const SolverOptions& options);

/// `run_solver` with a backend that is not in the table; null for methods that use none.
template <class Real>
Stop run_solver_on(std::unique_ptr<Backend<Real>> backend, const Problem<Real>& problem,
                   const SolverOptions& options, SolverState<Real>& state, const Observer& observer = {});

} // namespace pnmf
