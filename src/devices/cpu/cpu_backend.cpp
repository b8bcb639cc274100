#include "devices/cpu/cpu_backend.hpp"

#include "cells/devices/own_points.hpp"
#include "devices/cpu/basis_step.hpp"
#include "devices/cpu/component_shifts.hpp"
#include "devices/cpu/embedding_pass.hpp"
#include "devices/cpu/extrapolate.hpp"
#include "devices/cpu/sweep_sums.hpp"
#include "linalg/arrays_on_disk.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace pnmf {
namespace {

template <class Real>
class CpuBackend final : public Backend<Real> {
  public:
    CpuBackend(const Problem<Real>& problem, const CellBlocks& blocks, Processes& processes)
        : problem_(problem), sums_(problem, blocks, processes), penalties_(scale_penalties(problem)),
          products_(problem.epsilon.size()),
          points_(sums_.shares(), processes, sums_.alone() || !problem.X->has_all_cells()) {}

    void load(Factors<Real>& current, Factors<Real>& previous) override {
        points_.load(current, previous);
        current_ = &points_.current();
        previous_ = &points_.previous();
        moving_ = current_;
        for (Factors<Real>* const point : {current_, previous_}) {
            std::for_each(point->H.begin(), point->H.end(), keep_on_disk<Real>);
        }
    }

    void store() override { points_.store(); }

    void store_last() override {
        if (!sums_.alone()) {
            points_.store_last();
        }
    }

    void move_in_place() override { moving_ = current_; }

    void move_copy() override {
        if (current_->file && (frozen_.empty() || previous_->scales() == 0)) {
            *previous_ = *current_;
            std::for_each(previous_->H.begin(), previous_->H.end(), keep_on_disk<Real>);
        } else if (previous_->scales() == 0) {
            previous_->W.resize(current_->W.size());
            previous_->H.resize(current_->H.size());
            parallel_for(problem_.scales(), [&](Index t) { copy_scale(t); });
        } else {
            each_that_moves([&](Index t) { copy_scale(t); });
        }
        moving_ = previous_;
    }

    void extrapolate(const std::vector<double>& beta) override {
        each_that_moves([&](Index t) { extrapolate_scale(t, static_cast<Real>(beta[t])); });
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
        over_scales(1, [&](Index first, Index past) {
            for (Index t = first; t < past; ++t) {
                if (is_frozen(frozen_, t) && !is_frozen(before, t)) {
                    freeze_scale(t);
                }
            }
        });
        sums_.keep_graphs(frozen_);
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
        over_scales(1, [&](Index first, Index past) { make_products(first, past); });
    }

    std::vector<Movement> basis_step(Index passes) override {
        std::vector<Movement> moved = frozen_W_;
        moved.resize(products_.size());
        over_moving(group(), [&](Index first, Index past) { update_bases(first, past, passes, moved); });
        return moved;
    }

    void graph_products() override {
        over_moving(1,
                    [&](Index first, Index past) { sums_.with_graph(first, past, moving_->H, products_); });
    }

    void embedding_pass() override {
        if (sums_.slab().cells() > 0) {
            pass_along_chain(penalties_, products_, moving_->H, frozen_);
        }
    }

    void shift_components() override {
        if (!forest_) {
            forest_.emplace(ComponentForest(problem_.graph->tree(), problem_.epsilon), sums_.shares(),
                            sums_.processes().place());
        }
        pnmf::shift_components(penalties_, *forest_, products_, moving_->H, shift_buffer_, sums_.processes(),
                               frozen_);
    }

    std::vector<Objective> terms() override {
        return once_where_still(still_terms_, [&](Index first, Index past) {
            return sums_.terms(first, past, products_, moving_->H);
        });
    }

    std::vector<Movement> movement_H() override {
        return once_where_still(still_movement_, [&](Index first, Index past) {
            return sums_.movements(first, past, products_, moving_->H);
        });
    }

    Objective objective() override { return evaluate(false).objective; }

    Evaluation evaluate() override { return evaluate(true); }

  private:
    using Range = std::function<void(Index, Index)>;

    template <class Body>
    void each_that_moves(const Body& body) const {
        parallel_for(problem_.scales(), [&](Index t) {
            if (!is_frozen(frozen_, t)) {
                body(t);
            }
        });
    }

    /// How many scales' products with X are made together.
    Index group() const {
        return scales_at_once(problem_.scales(), problem_.cells(), !problem_.X->is_sparse());
    }

    /// Scales [first, past), `together` of them at a time, on threads. Several
    /// processes go one after the other through parts that keep all of them busy,
    /// so that what waits to be sent stays small.
    void over_scales(Index together, const Range& body) const {
        const Index scales = problem_.scales();
        if (sums_.alone()) {
            parallel_for((scales + together - 1) / together,
                         [&](Index g) { body(g * together, std::min(scales, (g + 1) * together)); });
            return;
        }
        const Index busy = std::max<Index>({4, sums_.processes().count(), thread_count()});
        const Index part = (busy + together - 1) / together * together;
        for (Index first = 0; first < scales; first += part) {
            body(first, std::min(scales, first + part));
        }
    }

    /// Of scales [first, past) those side by side that move, and are not parted
    /// by the groups of others.
    void runs_that_move(Index first, Index past, Index together, const Range& body) const {
        for (Index begin = first; begin < past;) {
            Index end = begin;
            while (end < past && !is_frozen(frozen_, end) &&
                   (frozen_.empty() || together == 1 || end == begin || end % together != 0)) {
                ++end;
            }
            if (end > begin) {
                body(begin, end);
            }
            begin = std::max(end, begin + 1);
        }
    }

    void over_moving(Index together, const Range& body) const {
        over_scales(together, [&](Index first, Index past) { runs_that_move(first, past, together, body); });
    }

    /// A measure of every scale, taken once while nothing it depends on can move.
    template <class Value, class Measure>
    std::vector<Value> once_where_still(std::vector<std::optional<Value>>& known, const Measure& measure) {
        if (!sums_.alone()) {
            return measure(0, problem_.scales());
        }
        std::vector<Value> values(products_.size());
        parallel_for(problem_.scales(), [&](Index t) {
            if (!stands_still(frozen_, t)) {
                values[t] = measure(t, t + 1).front();
                return;
            }
            if (!known[t]) {
                known[t] = measure(t, t + 1).front();
            }
            values[t] = *known[t];
        });
        return values;
    }

    void copy_scale(Index t) {
        DenseMatrix<Real> buffer;
        previous_->W[t] = current_->basis(t, buffer);
        resize_on_disk(previous_->H[t], current_->H[t].rows(), current_->H[t].cols());
        previous_->H[t] = current_->H[t];
        previous_->rest(t);
    }

    /// Of the current point, from W and H alone.
    void make_products(Index first, Index past) {
        sums_.with_graph(first, past, current_->H, products_);
        parallel_for(past - first, [&](Index i) {
            const Index t = first + i;
            DenseMatrix<Real> buffer;
            const auto& W = current_->basis(t, buffer);
            products_[t].WtX = std::move(sums_.fit().transposed_times({&W, 1}, {&current_->H[t], 1}).front());
            keep_on_disk(products_[t].WtX);
            products_[t].WtW = gram_of_columns(W);
            weigh(products_[t], penalties_[t].fit);
        });
    }

    void freeze_scale(Index t) {
        if (problem_.X->is_sparse() && products_[t].WtX.size() > 0) {
            sums_.with_graph(t, t + 1, current_->H,
                             products_); // WᵀX is at hand: it has the bits it has alone
        } else {
            make_products(t, t + 1);
        }
        frozen_W_[t] = movement_of_W(t, t + 1).front();
        if (previous_->scales() > 0) {
            copy_scale(t);
        }
    }

    /// How far W would move at scales [first, past) of the current point.
    std::vector<Movement> movement_of_W(Index first, Index past) const {
        const auto sums = sums_.with_data(first, past, *current_, 1);
        std::vector<Movement> moved(static_cast<std::size_t>(past - first));
        parallel_for(past - first, [&](Index i) {
            if (sums_.moves_basis(first + i)) {
                DenseMatrix<Real> buffer;
                moved[i] = penalties_[first + i].fit * movement_W(BasisForm::unit_columns,
                                                                  current_->basis(first + i, buffer),
                                                                  sums[2 * i], sums[2 * i + 1]);
            }
        });
        sums_.share_movements(first, moved);
        return moved;
    }

    /// Of the current point, from W and H alone; products of frozen scales are
    /// those already. The products of scales that move are those of this point
    /// afterwards.
    Evaluation evaluate(bool residuals) {
        std::vector<Objective> terms(products_.size());
        Evaluation result{{}, std::vector<KktResidual>(residuals ? terms.size() : 0)};
        over_scales(1, [&](Index first, Index past) {
            runs_that_move(first, past, 1, [&](Index begin, Index end) {
                for (Index t = begin; t < end; ++t) {
                    products_[t] = {}; // a sweep makes them anew: two need not be kept at once
                }
                make_products(begin, end);
            });
            const auto found = sums_.terms(first, past, products_, current_->H);
            std::copy(found.begin(), found.end(), terms.begin() + first);
            if (residuals) {
                find_residuals(first, past, result.residuals);
            }
        });
        for (const Objective& one : terms) {
            result.objective = result.objective + one;
        }
        return result;
    }

    void find_residuals(Index first, Index past, std::vector<KktResidual>& residuals) const {
        const std::vector<Movement> moved_H = sums_.movements(first, past, products_, current_->H);
        for (Index t = first; t < past; ++t) {
            residuals[t] = {moved_H[t - first], is_frozen(frozen_, t) ? frozen_W_[t] : Movement{}};
        }
        runs_that_move(first, past, 1, [&](Index begin, Index end) {
            const std::vector<Movement> moved_W = movement_of_W(begin, end);
            for (Index t = begin; t < end; ++t) {
                residuals[t] = {moved_H[t - first], moved_W[t - begin]};
            }
        });
    }

    void extrapolate_scale(Index t, Real beta) {
        previous_->bring(t);
        DenseMatrix<Real> buffer;
        pnmf::extrapolate_scale(current_->basis(t, buffer), current_->H[t], beta, previous_->W[t],
                                previous_->H[t]);
        previous_->rest(t);
    }

    /// Scales [first, past), whose products with X are made together.
    void update_bases(Index first, Index past, Index passes, std::vector<Movement>& moved) {
        for (Index t = first; t < past; ++t) {
            moving_->bring(t);
        }
        const auto sums = sums_.with_data(first, past, *moving_, group());
        parallel_for(past - first, [&](Index i) {
            const Index t = first + i;
            if (sums_.moves_basis(t)) {
                auto& W = moving_->W[t];
                moved[t] =
                    penalties_[t].fit * movement_W(BasisForm::unit_columns, W, sums[2 * i], sums[2 * i + 1]);
                update_basis(W, sums[2 * i], sums[2 * i + 1], passes);
                products_[t].WtW = gram_of_columns(W);
            }
        });
        sums_.share_bases(first, past, moving_->W, products_, moved);
        parallel_for((past - first + group() - 1) / group(), [&](Index g) {
            const Index begin = first + g * group();
            const auto count = static_cast<std::size_t>(std::min(group(), past - begin));
            std::vector<DenseMatrix<Real>> WtX = sums_.fit().transposed_times(
                {moving_->W.data() + begin, count}, {moving_->H.data() + begin, count});
            for (std::size_t i = 0; i < count; ++i) {
                products_[begin + i].WtX = std::move(WtX[i]);
                keep_on_disk(products_[begin + i].WtX);
                weigh(products_[begin + i], penalties_[begin + i].fit);
            }
        });
        for (Index t = first; t < past; ++t) {
            moving_->rest(t);
        }
    }

    const Problem<Real>& problem_;
    SweepSums<Real> sums_;
    std::vector<ScalePenalty> penalties_;
    std::vector<ScaleProducts<Real>> products_;
    FrozenScales frozen_;
    std::vector<Movement> frozen_W_;                    ///< of W at frozen scales
    std::vector<std::optional<Objective>> still_terms_; ///< where nothing moves, once measured
    std::vector<std::optional<Movement>> still_movement_;
    std::optional<ShiftForest> forest_; ///< once components were shifted
    ShiftBuffer shift_buffer_;
    OwnPoints<Real> points_;
    Factors<Real>* current_ = nullptr; ///< all of W, H of the cells of this process
    Factors<Real>* previous_ = nullptr;
    Factors<Real>* moving_ = nullptr;
};

} // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_cpu_backend(const Problem<Real>& problem, const CellBlocks& blocks) {
    return std::make_unique<CpuBackend<Real>>(problem, blocks, all_processes());
}

template std::unique_ptr<Backend<float>> make_cpu_backend(const Problem<float>&, const CellBlocks&);
template std::unique_ptr<Backend<double>> make_cpu_backend(const Problem<double>&, const CellBlocks&);

} // namespace pnmf
