#include "solvers/basis_step.hpp"
#include "solvers/component_shifts.hpp"
#include "solvers/embedding_pass.hpp"
#include "solvers/method.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/solvers/initial.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace pnmf {
namespace {

/// Block coordinate descent on the model with unit columns of W. One sweep:
///
///     every W_t   exact column steps (basis_step.hpp), all scales in parallel, `basis_passes` times
///     every H_t   a pass over the rows (embedding_pass.hpp), then whole components moved along the merge
///     tree
///                 (component_shifts.hpp); `embedding_passes` times
///
/// Each part keeps the objective from rising. Between sweeps (W, H) is extrapolated with Nesterov's momentum,
/// which starts again at a scale whose own terms rose. A sweep from the extrapolated point that ends above
/// the last objective is undone and the momentum starts again everywhere, so the recorded objective never
/// rises by more than rounding is allowed to (`rounding`).
template <class Real>
class Stationary : public Method<Real> {
  public:
    Stationary(const Problem<Real>& problem, const SolverOptions& options)
        : problem_(problem), options_(options), squared_norm_X_(problem.X->squared_norm()),
          products_(problem.epsilon.size()), residual_W_(problem.epsilon.size()),
          terms_(problem.epsilon.size()),
          plateau_(options.tolerance.value_or(default_tolerance(options)) / 100.0) {
        if (options.shift_components) {
            forest_.emplace(*problem.graph, problem.epsilon);
        }
    }

    SweepReport sweep(SolverState<Real>& state, const std::function<void(const StepReport&)>& step) override {
        if (!options_.extrapolate) { // in place: the point before is not kept, and no part of a sweep need be
                                     // undone
            SweepReport report;
            report.objective = sweep_from(state.current, step, state.trace.size());
            report.residual = residual(state.current);
            return report;
        }
        const Objective before = state.trace.back();
        state.momentum.resize(products_.size());
        const bool extrapolated = std::any_of(state.momentum.begin(), state.momentum.end(),
                                              [](const auto& m) { return m.t > 1.0; });
        if (extrapolated) {
            extrapolate(state);
        } else {
            state.previous = state.current;
        }
        // From here `previous` is the point the sweep moves; `current` is kept until the sweep has paid.
        SweepReport report;
        report.objective = sweep_from(state.previous, step, state.trace.size());
        const double slack = rounding() * before.total();
        if (extrapolated && !(report.objective.total() <= before.total() + slack)) {
            stop(state.momentum);
            report.objective = before;
            report.restarted = true;
            report.residual = last_residual_
                                  ? *last_residual_
                                  : sum(kkt_residuals(problem_, state.current, form_of(options_.algorithm)));
            return report;
        }
        std::swap(state.current, state.previous);
        renew(state.momentum);
        if (before.total() - report.objective.total() <= plateau_ * before.total()) {
            settle(state.momentum);
        }
        report.residual = residual(state.current);
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

    /// previous ← [current + β·(current − previous)]₊, β = (t − 1) / next(t), columns of W unit again.
    void extrapolate(SolverState<Real>& state) const {
        parallel_for(problem_.scales(), [&](Index t) {
            const double momentum = state.momentum[t].t;
            const auto beta = static_cast<Real>((momentum - 1.0) / next(momentum));
            state.previous.bring(t);
            DenseMatrix<Real> room;
            auto& W = state.previous.W[t];
            auto& H = state.previous.H[t];
            const auto& W_now = state.current.basis(t, room);
            const auto& H_now = state.current.H[t];
            W.array() = (W_now.array() + beta * (W_now - W).array()).max(Real{0});
            H.array() = (H_now.array() + beta * (H_now - H).array()).max(Real{0});
            for (Index k = 0; k < W.cols(); ++k) {
                const Real norm = W.col(k).norm();
                if (norm > 0) {
                    W.col(k) /= norm;
                } else {
                    W.col(k) = W_now.col(k);
                }
            }
            state.previous.rest(t);
        });
    }

    Objective sweep_from(Factors<Real>& point, const std::function<void(const StepReport&)>& step,
                         std::size_t sweep) {
        Index number = 0;
        const auto note = [&] {
            if (step) {
                step({static_cast<Index>(sweep), -1, ++number, total_objective(point).total()});
            }
        };
        update_bases(point);
        if (step) {
            refresh_graph_products(point);
        }
        note();
        for (int pass = 0; pass < options_.embedding_passes; ++pass) {
            update_embeddings(point);
            refresh_graph_products(point);
            note();
            if (forest_) {
                shift_components(problem_.penalty, *forest_, products_, point.H, shift_room_);
                note();
            }
        }
        return total_objective(point);
    }

    void update_bases(Factors<Real>& point) {
        const Index passes =
            options_.basis_passes.value_or(default_basis_passes(problem_.X->cells(), point.rank()));
        const Index group = scales_at_once(problem_.scales());
        parallel_for((problem_.scales() + group - 1) / group, [&](Index g) {
            const Index first = g * group;
            const auto count = static_cast<std::size_t>(std::min(group, problem_.scales() - first));
            for (Index t = first; t < first + static_cast<Index>(count); ++t) {
                point.bring(t);
            }
            const std::span<DenseMatrix<Real>> W(point.W.data() + first, count);
            const std::span<const DenseMatrix<Real>> H(point.H.data() + first, count);
            const std::vector<DenseMatrix<Real>> XHt = problem_.X->times_transposed(H);
            for (std::size_t i = 0; i < count; ++i) {
                const DenseMatrix<Real> HHt = gram_of_rows(H[i]);
                residual_W_[first + i] = movement_W(BasisForm::unit_columns, W[i], XHt[i], HHt);
                for (Index pass = 0; pass < passes; ++pass) {
                    update_basis(W[i], XHt[i], HHt);
                }
                products_[first + i].WtW = gram_of_columns(W[i]);
            }
            std::vector<DenseMatrix<Real>> WtX =
                problem_.X->transposed_times(std::span<const DenseMatrix<Real>>(W));
            for (std::size_t i = 0; i < count; ++i) {
                products_[first + i].WtX = std::move(WtX[i]);
            }
            for (Index t = first; t < first + static_cast<Index>(count); ++t) {
                point.rest(t);
            }
        });
    }

    void refresh_graph_product(const Factors<Real>& point, Index t) {
        const auto graph = problem_.graph->at(problem_.epsilon[t]);
        products_[t].HA = graph->times_adjacency(point.H[t]);
        products_[t].degree = graph->degrees().template cast<Real>();
    }

    void refresh_graph_products(const Factors<Real>& point) {
        parallel_for(problem_.scales(), [&](Index t) { refresh_graph_product(point, t); });
    }

    void update_embeddings(Factors<Real>& point) {
        const Index scales = problem_.scales();
        const auto visit = [&](Index t) {
            refresh_graph_product(point, t);
            pass_at_scale(problem_.penalty, products_[t], point.H[t], t > 0 ? &point.H[t - 1] : nullptr,
                          t + 1 < scales ? &point.H[t + 1] : nullptr);
        };
        switch (options_.order) {
        case SweepOrder::chain:
            refresh_graph_products(point);
            pass_along_chain(problem_.penalty, products_, point.H);
            break;
        case SweepOrder::sequential:
            for (Index t = 0; t < scales; ++t) {
                visit(t);
            }
            break;
        case SweepOrder::red_black:
            for (const Index colour : {0, 1}) {
                parallel_for((scales - colour + 1) / 2, [&](Index i) { visit(2 * i + colour); });
            }
            break;
        }
    }

    Objective total_objective(const Factors<Real>& point) {
        parallel_for(problem_.scales(), [&](Index t) {
            terms_[t] = scale_objective(problem_.penalty, squared_norm_X_, products_[t], point.H[t],
                                        t > 0 ? &point.H[t - 1] : nullptr);
        });
        Objective total;
        for (const Objective& term : terms_) {
            total = total + term;
        }
        return total;
    }

    /// For H at the point reached; for W at the point the sweep began, where XHᵀ was at hand.
    KktResidual residual(const Factors<Real>& point) const {
        const Index scales = problem_.scales();
        std::vector<KktResidual> residuals(products_.size());
        parallel_for(scales, [&](Index t) {
            residuals[t].H =
                movement_H(problem_.penalty, products_[t], point.H[t], t > 0 ? &point.H[t - 1] : nullptr,
                           t + 1 < scales ? &point.H[t + 1] : nullptr);
            residuals[t].W = residual_W_[t];
        });
        return sum(residuals);
    }

    const Problem<Real>& problem_;
    SolverOptions options_;
    double squared_norm_X_;
    std::optional<ComponentForest> forest_; ///< none when components are not shifted
    ShiftRoom shift_room_;
    std::vector<ScaleProducts<Real>> products_;
    std::vector<Movement> residual_W_;
    std::vector<Objective> terms_; ///< of each scale, as `total_objective` found them last
    double plateau_;               ///< relative decrease below which momentum is not worth its residual
    std::optional<KktResidual> last_residual_; ///< of `current`; none before the first sweep that paid
};

} // namespace

template <class Real>
std::unique_ptr<Method<Real>> make_stationary(const Problem<Real>& problem, const SolverOptions& options) {
    return std::make_unique<Stationary<Real>>(problem, options);
}

template std::unique_ptr<Method<float>> make_stationary(const Problem<float>&, const SolverOptions&);
template std::unique_ptr<Method<double>> make_stationary(const Problem<double>&, const SolverOptions&);

} // namespace pnmf
