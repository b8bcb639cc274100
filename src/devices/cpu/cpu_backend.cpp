#include "devices/cpu/cpu_backend.hpp"

#include "devices/cpu/basis_step.hpp"
#include "devices/cpu/block_sums.hpp"
#include "devices/cpu/component_shifts.hpp"
#include "devices/cpu/embedding_pass.hpp"
#include "devices/cpu/extrapolate.hpp"
#include "devices/ranks/rank_backend.hpp"
#include "graphs/scale_forms.hpp"

#include <pnmf/graphs/sparse_graph.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace pnmf {
namespace {

template <class Real>
class CpuBackend final : public Backend<Real> {
  public:
    explicit CpuBackend(const Problem<Real>& problem)
        : problem_(problem), slab_(whole_slab(usual_blocks(problem.cells()))), all_{0, slab_.past},
          penalties_(scale_penalties(problem)), products_(problem.epsilon.size()),
          graphs_(problem.epsilon.size()) {}

    void load(Factors<Real>& current, Factors<Real>& previous) override {
        current_ = &current;
        previous_ = &previous;
        moving_ = current_;
    }

    void store() override {} // the factors are where they were

    void move_in_place() override { moving_ = current_; }

    void move_copy() override {
        if (current_->file && (frozen_.empty() || previous_->scales() == 0)) {
            *previous_ = *current_;
        } else if (previous_->scales() == 0) {
            previous_->W.resize(current_->W.size());
            previous_->H.resize(current_->H.size());
            parallel_for(problem_.scales(), [&](Index t) { copy_scale(t); });
        } else {
            over_moving([&](Index t) { copy_scale(t); });
        }
        moving_ = previous_;
    }

    void extrapolate(const std::vector<double>& beta) override {
        over_moving([&](Index t) { extrapolate_scale(t, static_cast<Real>(beta[t])); });
        moving_ = previous_;
    }

    void accept() override {
        std::swap(*current_, *previous_);
        moving_ = current_;
    }

    void undo() override { moving_ = current_; }

    bool can_freeze() const override { return true; }

    void freeze(const FrozenScales& frozen) override {
        FrozenScales before = std::move(frozen_);
        frozen_ = frozen;
        frozen_W_.resize(products_.size());
        parallel_for(problem_.scales(), [&](Index t) {
            if (is_frozen(frozen_, t) && !is_frozen(before, t)) {
                freeze_scale(t);
            }
        });
        for (Index t = 0; t < problem_.scales(); ++t) {
            if (is_frozen(frozen_, t)) {
                graphs_[t] = nullptr;
            }
        }
        still_terms_.resize(products_.size());
        still_movement_.resize(products_.size());
        for (Index t = 0; t < problem_.scales(); ++t) {
            if (!stands_still(before, t)) { // else what was measured still holds
                still_terms_[t].reset();
                still_movement_[t].reset();
            }
        }
    }

    void make_products() override {
        parallel_for(problem_.scales(), [&](Index t) {
            DenseMatrix<Real> room;
            products_[t] = scale_products(problem_, t, current_->basis(t, room), current_->H[t]);
        });
    }

    std::vector<Movement> basis_step(Index passes) override {
        std::vector<Movement> moved = frozen_W_;
        moved.resize(products_.size());
        const Index group = scales_at_once(problem_.scales(), problem_.cells(), !problem_.X->is_sparse());
        parallel_for((problem_.scales() + group - 1) / group, [&](Index g) {
            const Index past = std::min(problem_.scales(), (g + 1) * group);
            for (Index first = g * group; first < past;) { // scales side by side that move
                Index next = first;
                while (next < past && !is_frozen(frozen_, next)) {
                    ++next;
                }
                if (next > first) {
                    update_bases(first, next - first, passes, moved);
                }
                first = next + 1;
            }
        });
        return moved;
    }

    void graph_products() override {
        over_moving([&](Index t) { multiply_graph(t, moving_->H[t]); });
    }

    void embedding_pass() override { pass_along_chain(penalties_, products_, moving_->H, frozen_); }

    void shift_components() override {
        if (!forest_) {
            forest_.emplace(ComponentForest(problem_.graph->tree(), problem_.epsilon), share(slab_.blocks, 1),
                            0);
        }
        pnmf::shift_components(penalties_, *forest_, products_, moving_->H, shift_room_, alone_, frozen_);
    }

    std::vector<Objective> terms() override {
        std::vector<Objective> terms(products_.size());
        const double squared_norm_X = squared_norm();
        parallel_for(problem_.scales(), [&](Index t) {
            terms[t] = once_where_still(t, still_terms_,
                                        [&] { return term(squared_norm_X, products_[t], moving_->H, t); });
        });
        return terms;
    }

    std::vector<Movement> movement_H() override {
        std::vector<Movement> moved(products_.size());
        parallel_for(problem_.scales(), [&](Index t) {
            moved[t] =
                once_where_still(t, still_movement_, [&] { return movement(products_[t], moving_->H, t); });
        });
        return moved;
    }

    Objective objective() override { return evaluate(false).objective; }

    Evaluation evaluate() override { return evaluate(true); }

  private:
    template <class Body>
    void over_moving(const Body& body) const {
        parallel_for(problem_.scales(), [&](Index t) {
            if (!is_frozen(frozen_, t)) {
                body(t);
            }
        });
    }

    void multiply_graph(Index t, const DenseMatrix<Real>& H) {
        if (const auto* neighbors = dynamic_cast<const SparseMultiscaleGraph*>(problem_.graph)) {
            multiply_lists(neighbors->lists(), EdgeWeight(problem_.epsilon[t], neighbors->alpha()), H, 0,
                           problem_.cells(), products_[t].HA, products_[t].degree);
            return;
        }
        const auto graph = graph_at(t);
        products_[t].HA = graph->times_adjacency(H);
        products_[t].degree = graph->degrees().template cast<Real>();
    }

    /// Held for the steps to come where those of all scales that move take little room.
    std::shared_ptr<const MultiscaleGraph::Scale> graph_at(Index t) {
        if (graphs_[t]) {
            return graphs_[t];
        }
        std::shared_ptr<const MultiscaleGraph::Scale> graph = problem_.graph->at(problem_.epsilon[t]);
        const Index moving = problem_.scales() - std::count(frozen_.begin(), frozen_.end(), char{1});
        if (moving <= graphs_held(problem_.cells())) {
            graphs_[t] = graph;
        }
        return graph;
    }

    /// A measure of scale t, taken once while nothing it depends on can move.
    template <class Value, class Measure>
    Value once_where_still(Index t, std::vector<std::optional<Value>>& known, const Measure& measure) const {
        if (!stands_still(frozen_, t)) {
            return measure();
        }
        if (!known[t]) {
            known[t] = measure();
        }
        return *known[t];
    }

    void copy_scale(Index t) {
        DenseMatrix<Real> room;
        previous_->W[t] = current_->basis(t, room);
        previous_->H[t] = current_->H[t];
        previous_->rest(t);
    }

    void freeze_scale(Index t) {
        DenseMatrix<Real> room;
        const auto& W = current_->basis(t, room);
        if (problem_.X->is_sparse() && products_[t].WtX.size() > 0) {
            multiply_graph(t, current_->H[t]); // WᵀX is at hand, and has the bits it has alone
        } else {
            products_[t] = scale_products(problem_, t, W, current_->H[t]);
        }
        frozen_W_[t] = movement_of_W(t, W);
        if (previous_->scales() > 0) {
            copy_scale(t);
        }
    }

    Movement movement_of_W(Index t, const DenseMatrix<Real>& W) const {
        const std::span<const DenseMatrix<Real>> H(&current_->H[t], 1);
        return penalties_[t].fit * movement_W(BasisForm::unit_columns, W,
                                              times_transposed(*problem_.X, H, slab_, all_)[0],
                                              gram_of_rows(H.front(), slab_, all_));
    }

    double squared_norm() {
        if (!squared_norm_X_) {
            squared_norm_X_ = problem_.X->squared_norm();
        }
        return *squared_norm_X_;
    }

    Objective term(double squared_norm_X, const ScaleProducts<Real>& products,
                   const std::vector<DenseMatrix<Real>>& H, Index t) const {
        return objective_from(penalties_[t], squared_norm_X, products.WtW,
                              term_sums(products, H[t], scale_before(H, t), slab_, all_));
    }

    Movement movement(const ScaleProducts<Real>& products, const std::vector<DenseMatrix<Real>>& H,
                      Index t) const {
        return pnmf::movement_H(penalties_[t], products, H[t], scale_before(H, t), scale_after(H, t), slab_,
                                all_);
    }

    /// Of the current point, from W and H alone. The products of scales that move are those of this point
    /// afterwards.
    Evaluation evaluate(bool residuals) {
        const double squared_norm_X = squared_norm();
        std::vector<Objective> terms(products_.size());
        Evaluation result{{}, std::vector<KktResidual>(residuals ? terms.size() : 0)};
        parallel_for(problem_.scales(), [&](Index t) {
            if (is_frozen(frozen_, t)) { // its products are those of W and H alone
                terms[t] = term(squared_norm_X, products_[t], current_->H, t);
                if (residuals) {
                    result.residuals[t] = {movement(products_[t], current_->H, t), frozen_W_[t]};
                }
                return;
            }
            DenseMatrix<Real> room;
            const auto& W = current_->basis(t, room);
            products_[t] = {}; // a sweep makes them anew: two need not be held at once
            products_[t] = scale_products(problem_, t, W, current_->H[t]);
            terms[t] = term(squared_norm_X, products_[t], current_->H, t);
            if (residuals) {
                result.residuals[t] = {movement(products_[t], current_->H, t), movement_of_W(t, W)};
            }
        });
        for (const Objective& one : terms) {
            result.objective = result.objective + one;
        }
        return result;
    }

    void extrapolate_scale(Index t, Real beta) {
        previous_->bring(t);
        DenseMatrix<Real> room;
        pnmf::extrapolate_scale(current_->basis(t, room), current_->H[t], beta, previous_->W[t],
                                previous_->H[t]);
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
        const ScalesOfProduct<Real> XHt = times_transposed(*problem_.X, H, slab_, all_);
        parallel_for(count, [&](Index i) {
            const double weight = penalties_[first + i].fit;
            const DenseMatrix<Real> HHt = gram_of_rows(H[i], slab_, all_);
            moved[first + i] = weight * movement_W(BasisForm::unit_columns, W[i], XHt[i], HHt);
            update_basis(W[i], XHt[i], HHt, passes);
            products_[first + i].WtW = gram_of_columns(W[i]);
        });
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
    BlockSlab slab_; ///< all cells
    BlockNode all_;
    Communicator& alone_ = single_rank();
    std::vector<ScalePenalty> penalties_;
    std::vector<ScaleProducts<Real>> products_;
    std::vector<std::shared_ptr<const MultiscaleGraph::Scale>> graphs_; ///< those that are held
    FrozenScales frozen_;
    std::vector<Movement> frozen_W_;                    ///< of W at frozen scales
    std::vector<std::optional<Objective>> still_terms_; ///< where nothing moves, once measured
    std::vector<std::optional<Movement>> still_movement_;
    std::optional<double> squared_norm_X_; ///< once it was needed
    std::optional<ShiftForest> forest_;    ///< once components were shifted
    ShiftRoom shift_room_;
    Factors<Real>* current_ = nullptr;
    Factors<Real>* previous_ = nullptr;
    Factors<Real>* moving_ = nullptr;
};

} // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_cpu_backend(const Problem<Real>& problem, const CellBlocks& blocks) {
    if (communicator().size() > 1) {
        return make_rank_backend(problem, communicator(), blocks);
    }
    return std::make_unique<CpuBackend<Real>>(problem);
}

template std::unique_ptr<Backend<float>> make_cpu_backend(const Problem<float>&, const CellBlocks&);
template std::unique_ptr<Backend<double>> make_cpu_backend(const Problem<double>&, const CellBlocks&);

} // namespace pnmf
