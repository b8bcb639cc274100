#include "solvers/method.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace pnmf {
namespace {

/// Block coordinate descent on the model with unit columns of W. One sweep:
///
///     every W_t   exact column steps, `basis_passes` times
///     every H_t   a pass over the rows, then whole components moved along the merge tree;
///                 `embedding_passes` times
///
/// The backend does them (backend.hpp); here are only momentum and decisions.
///
/// Each part keeps the objective from rising. Between sweeps (W, H) is extrapolated with Nesterov's momentum,
/// which starts again at a scale whose own terms rose. A sweep from the extrapolated point that ends above
/// the last objective is undone and the momentum starts again everywhere, so the recorded objective never
/// rises by more than rounding is allowed to (`rounding`).
template <class Real>
class Stationary : public Method<Real> {
  public:
    Stationary(const Problem<Real>& problem, const SolverOptions& options,
               std::unique_ptr<Backend<Real>> backend)
        : backend_(std::move(backend)), options_(options), cells_(problem.cells()),
          plateau_(options.tolerance.value_or(default_tolerance(options)) / 100.0) {}

    void load(SolverState<Real>& state) override {
        basis_passes_ = options_.basis_passes.value_or(default_basis_passes(cells_, state.current.rank()));
        backend_->load(state.current, state.previous);
    }

    void store() override { backend_->store(); }
    void store_last() override { backend_->store_last(); }

    std::vector<KktResidual> residuals(const SolverState<Real>&) override {
        return backend_->evaluate().residuals;
    }

    SweepReport sweep(SolverState<Real>& state, const std::function<void(const StepReport&)>& step) override {
        SweepReport report;
        if (!options_.extrapolate) { // the point before is not kept, and no part of a sweep need be undone
            backend_->move_in_place();
            report.objective = sweep_moving_point(step, state.trace.size());
            report.residual = residual();
            return report;
        }
        const Objective before = state.trace.back();
        state.momentum.resize(static_cast<std::size_t>(state.current.scales()));
        const bool extrapolated = std::any_of(state.momentum.begin(), state.momentum.end(),
                                              [](const auto& m) { return m.t > 1.0; });
        if (extrapolated) {
            backend_->extrapolate(steps(state.momentum));
        } else {
            backend_->move_copy();
        }
        report.objective = sweep_moving_point(step, state.trace.size());
        const double slack = rounding() * before.total();
        if (extrapolated && !(report.objective.total() <= before.total() + slack)) {
            backend_->undo();
            stop(state.momentum);
            report.objective = before;
            report.restarted = true;
            report.residual = last_residual_ ? *last_residual_ : sum(backend_->evaluate().residuals);
            return report;
        }
        backend_->accept();
        renew(state.momentum);
        if (before.total() - report.objective.total() <= plateau_ * before.total()) {
            settle(state.momentum);
        }
        report.residual = residual();
        last_residual_ = report.residual;
        return report;
    }

  private:
    /// How much of the objective rounding alone may add.
    static constexpr double rounding() { return std::is_same_v<Real, float> ? 1e-7 : 1e-13; }

    static double next(double t) { return 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t)); }

    static void stop(std::vector<ScaleMomentum>& momentum) {
        for (ScaleMomentum& scale : momentum) {
            scale.t = 1.0;
        }
    }

    /// Where the objective hardly falls any more, momentum built up over many sweeps is what keeps the
    /// residual up: without it the point settles, to be certified or to gather momentum anew.
    static void settle(std::vector<ScaleMomentum>& momentum) {
        const double built_up = 10.0; // after some 17 sweeps
        if (std::any_of(momentum.begin(), momentum.end(),
                        [&](const ScaleMomentum& scale) { return scale.t > built_up; })) {
            stop(momentum);
        }
    }

    /// After a sweep that paid: momentum grows, but starts again at scales whose terms rose.
    void renew(std::vector<ScaleMomentum>& momentum) const {
        for (std::size_t t = 0; t < momentum.size(); ++t) {
            const double now = terms_[t].total();
            momentum[t].t = now > momentum[t].objective ? 1.0 : next(momentum[t].t);
            momentum[t].objective = now;
        }
    }

    /// β = (t − 1) / next(t) of each scale.
    static std::vector<double> steps(const std::vector<ScaleMomentum>& momentum) {
        std::vector<double> beta;
        for (const ScaleMomentum& scale : momentum) {
            beta.push_back((scale.t - 1.0) / next(scale.t));
        }
        return beta;
    }

    /// All parts of a sweep, at the point that moves.
    Objective sweep_moving_point(const std::function<void(const StepReport&)>& step, std::size_t sweep) {
        Index number = 0;
        const auto note = [&] {
            if (step) {
                step({static_cast<Index>(sweep), -1, ++number, total_objective().total()});
            }
        };
        moved_W_ = backend_->basis_step(basis_passes_);
        if (step) {
            backend_->graph_products();
        }
        note();
        for (int pass = 0; pass < options_.embedding_passes; ++pass) {
            backend_->graph_products();
            backend_->embedding_pass();
            backend_->graph_products();
            note();
            if (options_.shift_components) {
                backend_->shift_components();
                note();
            }
        }
        return total_objective();
    }

    Objective total_objective() {
        terms_ = backend_->terms();
        Objective total;
        for (const Objective& term : terms_) {
            total = total + term;
        }
        return total;
    }

    /// For H at the point reached; for W at the point the sweep began, where XHᵀ was at hand.
    KktResidual residual() const {
        KktResidual total;
        const std::vector<Movement> moved_H = backend_->movement_H();
        for (std::size_t t = 0; t < moved_H.size(); ++t) {
            total += {moved_H[t], moved_W_[t]};
        }
        return total;
    }

    std::unique_ptr<Backend<Real>> backend_;
    SolverOptions options_;
    Index cells_;
    Index basis_passes_ = 0;
    std::vector<Movement> moved_W_;
    std::vector<Objective> terms_; ///< of each scale, as `total_objective` found them last
    double plateau_;               ///< relative decrease below which momentum is not worth its residual
    std::optional<KktResidual> last_residual_; ///< of `current`; none before the first sweep that paid
};

} // namespace

template <class Real>
std::unique_ptr<Method<Real>> make_stationary(const Problem<Real>& problem, const SolverOptions& options,
                                              std::unique_ptr<Backend<Real>> backend) {
    return std::make_unique<Stationary<Real>>(problem, options, std::move(backend));
}

template std::unique_ptr<Method<float>> make_stationary(const Problem<float>&, const SolverOptions&,
                                                        std::unique_ptr<Backend<float>>);
template std::unique_ptr<Method<double>> make_stationary(const Problem<double>&, const SolverOptions&,
                                                         std::unique_ptr<Backend<double>>);

} // namespace pnmf
