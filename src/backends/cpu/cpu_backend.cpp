#include "backends/cpu/cpu_backend.hpp"

#include "backends/cpu/basis_step.hpp"
#include "backends/cpu/component_shifts.hpp"
#include "backends/cpu/embedding_pass.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace pnmf {
namespace {

template <class Real>
class CpuBackend final : public Backend<Real> {
  public:
    explicit CpuBackend(const Problem<Real>& problem)
        : problem_(problem), penalties_(scale_penalties(problem)), products_(problem.epsilon.size()) {}

    void load(Factors<Real>& current, Factors<Real>& previous) override {
        current_ = &current;
        previous_ = &previous;
        moving_ = current_;
    }

    void store() override {} // the factors are where they were

    void move_in_place() override { moving_ = current_; }

    void move_copy() override {
        *previous_ = *current_;
        moving_ = previous_;
    }

    void extrapolate(const std::vector<double>& beta) override {
        parallel_for(problem_.scales(), [&](Index t) { extrapolate_scale(t, static_cast<Real>(beta[t])); });
        moving_ = previous_;
    }

    void accept() override {
        std::swap(*current_, *previous_);
        moving_ = current_;
    }

    void undo() override { moving_ = current_; }

    std::vector<Movement> basis_step(Index passes) override {
        std::vector<Movement> moved(products_.size());
        const Index group = scales_at_once(problem_.scales());
        parallel_for((problem_.scales() + group - 1) / group, [&](Index g) {
            const Index first = g * group;
            update_bases(first, std::min(group, problem_.scales() - first), passes, moved);
        });
        return moved;
    }

    void graph_products() override {
        parallel_for(problem_.scales(), [&](Index t) {
            const auto graph = problem_.graph->at(problem_.epsilon[t]);
            products_[t].HA = graph->times_adjacency(moving_->H[t]);
            products_[t].degree = graph->degrees().template cast<Real>();
        });
    }

    void embedding_pass() override { pass_along_chain(penalties_, products_, moving_->H); }

    void shift_components() override {
        if (!forest_) {
            forest_.emplace(problem_.graph->tree(), problem_.epsilon);
        }
        pnmf::shift_components(penalties_, *forest_, products_, moving_->H, shift_room_);
    }

    std::vector<Objective> terms() override {
        if (!squared_norm_X_) {
            squared_norm_X_ = problem_.X->squared_norm();
        }
        std::vector<Objective> terms(products_.size());
        parallel_for(problem_.scales(), [&](Index t) {
            terms[t] = scale_objective(penalties_[t], *squared_norm_X_, products_[t], moving_->H[t],
                                       scale_before(moving_->H, t));
        });
        return terms;
    }

    std::vector<Movement> movement_H() override {
        std::vector<Movement> moved(products_.size());
        parallel_for(problem_.scales(), [&](Index t) {
            moved[t] = pnmf::movement_H(penalties_[t], products_[t], moving_->H[t],
                                        scale_before(moving_->H, t), scale_after(moving_->H, t));
        });
        return moved;
    }

    Objective objective() override { return pnmf::objective(problem_, *current_); }

    Evaluation evaluate() override { return pnmf::evaluate(problem_, *current_, BasisForm::unit_columns); }

  private:
    void extrapolate_scale(Index t, Real beta) {
        previous_->bring(t);
        DenseMatrix<Real> room;
        auto& W = previous_->W[t];
        auto& H = previous_->H[t];
        const auto& W_now = current_->basis(t, room);
        const auto& H_now = current_->H[t];
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
        previous_->rest(t);
    }

    /// Scales [first, first + count), whose products with X are made together.
    void update_bases(Index first, Index count, Index passes, std::vector<Movement>& moved) {
        for (Index t = first; t < first + count; ++t) {
            moving_->bring(t);
        }
        const auto size = static_cast<std::size_t>(count);
        const std::span<DenseMatrix<Real>> W(moving_->W.data() + first, size);
        const std::span<const DenseMatrix<Real>> H(moving_->H.data() + first, size);
        const std::vector<DenseMatrix<Real>> XHt = problem_.X->times_transposed(H);
        for (std::size_t i = 0; i < size; ++i) {
            const double weight = penalties_[first + i].fit;
            const DenseMatrix<Real> HHt = gram_of_rows(H[i]);
            moved[first + i] = weight * movement_W(BasisForm::unit_columns, W[i], XHt[i], HHt);
            for (Index pass = 0; pass < passes; ++pass) {
                update_basis(W[i], XHt[i], HHt);
            }
            products_[first + i].WtW = gram_of_columns(W[i]);
        }
        std::vector<DenseMatrix<Real>> WtX =
            problem_.X->transposed_times(std::span<const DenseMatrix<Real>>(W));
        for (std::size_t i = 0; i < size; ++i) {
            products_[first + i].WtX = std::move(WtX[i]);
            weigh(products_[first + i], penalties_[first + i].fit);
        }
        for (Index t = first; t < first + count; ++t) {
            moving_->rest(t);
        }
    }

    const Problem<Real>& problem_;
    std::vector<ScalePenalty> penalties_;
    std::vector<ScaleProducts<Real>> products_;
    std::optional<double> squared_norm_X_;  ///< once it was needed
    std::optional<ComponentForest> forest_; ///< once components were shifted
    ShiftRoom shift_room_;
    Factors<Real>* current_ = nullptr;
    Factors<Real>* previous_ = nullptr;
    Factors<Real>* moving_ = nullptr;
};

} // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_cpu_backend(const Problem<Real>& problem) {
    return std::make_unique<CpuBackend<Real>>(problem);
}

template std::unique_ptr<Backend<float>> make_cpu_backend(const Problem<float>&);
template std::unique_ptr<Backend<double>> make_cpu_backend(const Problem<double>&);

} // namespace pnmf
