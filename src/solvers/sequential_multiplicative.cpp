#include "solvers/method.hpp"
#include "solvers/multiplicative.hpp"

#include <pnmf/error.hpp>

namespace pnmf {
namespace {

// ν and μ of eq. (update_modify), the published default.
constexpr double nu = 1e-9;
constexpr double mu = 1e-9;

/// Sequential alternating optimisation: each scale in turn, its neighbours fixed, multiplicative steps until
/// the subproblem's loss settles. Two forms of the step:
///
/// `paper` (Algorithm 1, eq. (update_modify)): H, then W. Its gradients and denominators carry a factor 2, so
/// that ν there is ν/2 here, where both are halved. Never raises the objective (theorems
/// subproblem_nonincreasing, global_nonincreasing).
///
/// `reference` (the published protocol): W, then H, then columns of W to unit length with H rescaled. The
/// rescaling may raise the objective.
template <class Real>
class SequentialMultiplicative : public Method<Real> {
  public:
    SequentialMultiplicative(const Problem<Real>& problem, const SolverOptions& options)
        : problem_(problem), options_(options), squared_norm_X_(problem.X->squared_norm()) {
        require(problem.X->has_all_cells(), "the published protocols need all cells in every process");
    }

    void load(SolverState<Real>&) override {} // the state's factors are worked on in place
    void store() override {}

    void begin(SolverState<Real>& state, bool judge) override {
        if (!judge) {
            state.trace.push_back(objective(problem_, state.current));
            return;
        }
        Evaluation found = evaluate(problem_, state.current, form_of(options_.algorithm));
        state.trace.push_back(found.objective);
        state.residuals = std::move(found.residuals);
    }

    std::vector<KktResidual> residuals(const SolverState<Real>& state) override {
        return kkt_residuals(problem_, state.current, form_of(options_.algorithm));
    }

    SweepReport sweep(SolverState<Real>& state, const std::function<void(const StepReport&)>& step) override {
        Factors<Real>& factors = state.current;
        double total = state.trace.back().total();
        SweepReport report;
        for (Index t = 0; t < problem_.scales(); ++t) {
            const auto graph = problem_.graph->at(problem_.epsilon[t]);
            const Subproblem<Real> sub{problem_.X,
                                       squared_norm_X_,
                                       graph.get(),
                                       divided(problem_.at(t)),
                                       scale_before(factors.H, t),
                                       scale_after(factors.H, t)};
            const double weight = problem_.at(t).fit;
            factors.bring(t);
            ScalePair<Real> scale(sub, factors.W[t], factors.H[t]);
            double loss = scale.loss();
            const Index count =
                iterate_to_tolerance(loss, options_.inner_tolerance, options_.inner_limit, [&](Index number) {
                    update(scale);
                    const double next = scale.loss();
                    total += weight * (next - loss);
                    loss = next;
                    if (step) {
                        step({static_cast<Index>(state.trace.size()), t, number, total});
                    }
                    return loss;
                });
            factors.rest(t);
            state.inner_steps.push_back(count);
            report.inner_steps += count;
        }
        report.objective = objective(problem_, factors);
        return report;
    }

  private:
    /// The penalty of a scale over its weight: `Subproblem`.
    static ScalePenalty divided(const ScalePenalty& penalty) {
        return {.fit = 1.0,
                .graph = penalty.graph / penalty.fit,
                .anchor = penalty.anchor / penalty.fit,
                .before = penalty.before / penalty.fit,
                .after = penalty.after / penalty.fit};
    }

    void update(ScalePair<Real>& scale) const {
        if (options_.algorithm == Algorithm::paper) {
            scale.lin_embedding_step(nu / 2, mu);
            scale.lin_basis_step(nu / 2, mu);
            scale.refresh_basis_products();
            scale.refresh_graph_product();
        } else {
            scale.lin_basis_step(nu, mu);
            scale.refresh_basis_products();
            scale.lin_embedding_step(nu, mu);
            scale.refresh_graph_product();
            scale.make_unit();
        }
    }

    const Problem<Real>& problem_;
    SolverOptions options_;
    double squared_norm_X_;
};

} // namespace

template <class Real>
std::unique_ptr<Method<Real>> make_multiplicative(const Problem<Real>& problem,
                                                  const SolverOptions& options) {
    return std::make_unique<SequentialMultiplicative<Real>>(problem, options);
}

template std::unique_ptr<Method<float>> make_multiplicative(const Problem<float>&, const SolverOptions&);
template std::unique_ptr<Method<double>> make_multiplicative(const Problem<double>&, const SolverOptions&);

} // namespace pnmf
