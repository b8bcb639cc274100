#include "solvers/method.hpp"
#include "solvers/settled_scales.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
///
/// A scale that has settled is frozen: sweeps leave it out until its neighbours have moved too far
/// (`mark_settled`). The certificate counts it all the same.
template <class Real>
class Stationary : public Method<Real> {
  public:
    Stationary(const Problem<Real>& problem, const SolverOptions& options,
               std::unique_ptr<Backend<Real>> backend)
        : backend_(std::move(backend)), options_(options), cells_(problem.cells()),
          tolerance_(options.tolerance.value_or(default_tolerance(options))) {}

    void load(SolverState<Real>& state) override {
        basis_passes_ = options_.basis_passes.value_or(default_basis_passes(cells_, state.current.rank()));
        backend_->load(state.current, state.previous);
        if (std::any_of(state.momentum.begin(), state.momentum.end(), frozen)) {
            freeze(state.momentum);
        }
    }

    void store() override { backend_->store(); }
    void store_last() override { backend_->store_last(); }

    std::vector<KktResidual> residuals(const SolverState<Real>&) override {
        return backend_->evaluate().residuals;
    }

    void begin(SolverState<Real>& state, bool judge) override {
        if (!backend_->can_freeze() || options_.max_sweeps == 0) {
            Evaluation found = judge ? backend_->evaluate() : Evaluation{backend_->objective(), {}};
            state.trace.push_back(found.objective);
            state.residuals = std::move(found.residuals);
            return;
        }
        backend_->make_products();
        state.trace.push_back(total_objective());
        moved_H_ = backend_->movement_H();
        moved_W_.assign(moved_H_.size(), {}); // as if W had settled everywhere
        const KktResidual of_H = sum_of_moved();
        if (judge && of_H.certificate() <= tolerance_) {
            state.residuals = backend_->evaluate().residuals;
        }
        if (options_.extrapolate && may_freeze()) {
            std::vector<ScaleMomentum> momentum = without_momentum();
            if (!mark_at_start(momentum, of_H)) { // nor would any scale settle if W counted
                state.momentum = std::move(momentum);
            }
        }
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
        if (state.momentum.empty()) {
            state.momentum.resize(static_cast<std::size_t>(state.current.scales()));
            if (may_freeze()) {
                judge_start(state.momentum);
            }
        }
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
        const std::vector<double> fallen = renew(state.momentum);
        const double plateau = tolerance_ / 100.0; // below, momentum is not worth its residual
        if (before.total() - report.objective.total() <= plateau * before.total()) {
            settle(state.momentum);
        }
        report.residual = residual();
        last_residual_ = report.residual;
        constexpr double most_freezing = 0.07; // of what the tolerance allows to move
        if (may_freeze() && mark_settled(state.momentum, fallen, report.residual, most_freezing)) {
            freeze(state.momentum);
        }
        return report;
    }

  private:
    /// How much of the objective rounding alone may add.
    static constexpr double rounding() { return std::is_same_v<Real, float> ? 1e-7 : 1e-13; }

    static double next(double t) { return 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t)); }

    static bool frozen(const ScaleMomentum& scale) { return scale.t == 0.0; }

    static void stop(std::vector<ScaleMomentum>& momentum) {
        for (ScaleMomentum& scale : momentum) {
            scale.t = std::min(scale.t, 1.0);
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

    /// After a sweep that paid: momentum grows, but starts again at scales whose terms rose. Returns how much
    /// the terms of each scale fell, relative to themselves.
    std::vector<double> renew(std::vector<ScaleMomentum>& momentum) const {
        std::vector<double> fallen;
        for (std::size_t t = 0; t < momentum.size(); ++t) {
            const double now = terms_[t].total();
            fallen.push_back(now > 0.0 ? (momentum[t].objective - now) / now : 0.0);
            if (!frozen(momentum[t])) {
                momentum[t].t = now > momentum[t].objective ? 1.0 : next(momentum[t].t);
            }
            momentum[t].objective = now;
        }
        return fallen;
    }

    /// β = (t − 1) / next(t) of each scale.
    static std::vector<double> steps(const std::vector<ScaleMomentum>& momentum) {
        std::vector<double> beta;
        for (const ScaleMomentum& scale : momentum) {
            beta.push_back(frozen(scale) ? 0.0 : (scale.t - 1.0) / next(scale.t));
        }
        return beta;
    }

    bool may_freeze() const {
        // A looser tolerance is reached in few sweeps, and what is frozen would move more in them.
        constexpr double worth_freezing = 1e-3;
        return options_.stop == StopRule::certificate && tolerance_ > 0.0 && tolerance_ <= worth_freezing &&
               backend_->can_freeze();
    }

    /// A start is made at few scales and then carried over to all: it may have settled at most of them. To
    /// freeze a scale is to make its products, so freezing all of them and measuring is how they are judged.
    void judge_start(std::vector<ScaleMomentum>& momentum) {
        backend_->freeze(FrozenScales(momentum.size(), 1));
        moved_W_ = backend_->basis_step(0);
        const KktResidual total = residual();
        total_objective();
        momentum = without_momentum();
        mark_at_start(momentum, total);
        if (std::all_of(momentum.begin(), momentum.end(), frozen)) { // one sweep at least moves something
            std::fill(momentum.begin(), momentum.end(), ScaleMomentum{});
        }
        freeze(momentum);
    }

    /// Of every scale, with its terms as they were found last.
    std::vector<ScaleMomentum> without_momentum() const {
        std::vector<ScaleMomentum> momentum;
        for (const Objective& term : terms_) {
            momentum.push_back({.objective = term.total()});
        }
        return momentum;
    }

    bool mark_at_start(std::vector<ScaleMomentum>& momentum, const KktResidual& total) const {
        constexpr double most_freezing = 0.02; // the first sweep of a scale pays most
        return mark_settled(momentum, std::vector<double>(momentum.size(), 0.0), total, most_freezing);
    }

    /// Marks scales whose share in the residual is negligible as frozen, and wakes those where it no longer
    /// is (`settled_scales`). Returns whether any mark has changed.
    bool mark_settled(std::vector<ScaleMomentum>& momentum, const std::vector<double>& fallen,
                      const KktResidual& total, double most_freezing) const {
        std::vector<char> at_rest;
        for (const double fall : fallen) {
            at_rest.push_back(fall <= tolerance_ / 3.0 ? 1 : 0);
        }
        const FrozenChange change = settled_scales(marks_of(momentum), shares(total), at_rest, most_freezing);
        for (const Index t : change.freeze) {
            momentum[t].t = 0.0;
        }
        for (const Index t : change.wake) {
            momentum[t].t = 1.0;
        }
        return !change.empty();
    }

    /// The part of each scale in what the tolerance allows to move, in H or in W, whichever is larger.
    std::vector<double> shares(const KktResidual& total) const {
        const auto part = [](double moved, double allowed) {
            return moved == 0.0 ? 0.0 : allowed > 0.0 ? moved / allowed : std::numeric_limits<double>::max();
        };
        const double square = tolerance_ * tolerance_;
        std::vector<double> result;
        for (std::size_t t = 0; t < moved_W_.size(); ++t) {
            result.push_back(std::max(part(moved_H_[t].moved, square * total.H.size),
                                      part(moved_W_[t].moved, 100.0 * square * total.W.size)));
        }
        return result;
    }

    static FrozenScales marks_of(const std::vector<ScaleMomentum>& momentum) {
        FrozenScales marks;
        for (const ScaleMomentum& scale : momentum) {
            marks.push_back(frozen(scale) ? 1 : 0);
        }
        return marks;
    }

    void freeze(const std::vector<ScaleMomentum>& momentum) {
        const bool any = std::any_of(momentum.begin(), momentum.end(), frozen);
        backend_->freeze(any ? marks_of(momentum) : FrozenScales{});
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
        backend_->graph_products(); // shifts keep them up to date
        note();
        for (int pass = 0; pass < options_.embedding_passes; ++pass) {
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
    KktResidual residual() {
        moved_H_ = backend_->movement_H();
        return sum_of_moved();
    }

    KktResidual sum_of_moved() const {
        KktResidual total;
        for (std::size_t t = 0; t < moved_H_.size(); ++t) {
            total += {moved_H_[t], moved_W_[t]};
        }
        return total;
    }

    std::unique_ptr<Backend<Real>> backend_;
    SolverOptions options_;
    Index cells_;
    Index basis_passes_ = 0;
    std::vector<Movement> moved_W_;
    std::vector<Movement> moved_H_;
    std::vector<Objective> terms_; ///< of each scale, as `total_objective` found them last
    double tolerance_;
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
