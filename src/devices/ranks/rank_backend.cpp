#include "devices/ranks/rank_backend.hpp"

#include "devices/cpu/basis_step.hpp"
#include "devices/cpu/block_sums.hpp"
#include "devices/cpu/component_shifts.hpp"
#include "devices/cpu/embedding_pass.hpp"
#include "devices/cpu/extrapolate.hpp"
#include "devices/ranks/columns_of.hpp"
#include "devices/ranks/halo.hpp"
#include "devices/ranks/rank_points.hpp"
#include "linalg/node_sums.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace pnmf {
namespace {

template <class Real>
class RankBackend final : public Backend<Real> {
  public:
    RankBackend(const Problem<Real>& problem, Communicator& ranks, const CellBlocks& blocks)
        : problem_(problem), ranks_(ranks), shares_(share(blocks, ranks.size())),
          slab_(shares_.slab(ranks.rank())), nodes_(shares_.nodes_of(ranks.rank())),
          X_(columns_of(*problem.X, slab_)), squared_norm_X_(problem.X->squared_norm()),
          penalties_(scale_penalties(problem)), products_(problem.epsilon.size()),
          points_(shares_, ranks, problem.X->is_part()) {
        if (const auto* lists = dynamic_cast<const SparseMultiscaleGraph*>(problem.graph)) {
            halo_.emplace(*lists, problem.epsilon, shares_, ranks.rank());
        }
    }

    void load(Factors<Real>& current, Factors<Real>& previous) override {
        points_.load(current, previous);
        current_ = &points_.current();
        previous_ = &points_.previous();
        moving_ = current_;
    }

    void store() override { points_.store(); }
    void store_last() override { points_.store_last(); }

    void move_in_place() override { moving_ = current_; }

    void move_copy() override {
        *previous_ = *current_;
        moving_ = previous_;
    }

    void extrapolate(const std::vector<double>& beta) override {
        parallel_for(problem_.scales(), [&](Index t) {
            if (is_frozen(frozen_, t)) {
                return;
            }
            extrapolate_scale(current_->W[t], current_->H[t], static_cast<Real>(beta[t]), previous_->W[t],
                              previous_->H[t]);
        });
        moving_ = previous_;
    }

    void accept() override {
        std::swap(*current_, *previous_);
        moving_ = current_;
    }

    void undo() override { moving_ = current_; }
    bool can_freeze() const override { return true; }

    void freeze(const FrozenScales& frozen) override {
        const FrozenScales before = std::move(frozen_);
        frozen_ = frozen;
        frozen_W_.resize(products_.size());
        for (Index t = 0; t < problem_.scales(); ++t) { // one by one: all ranks take part
            if (is_frozen(frozen_, t) && !is_frozen(before, t)) {
                freeze_scale(t);
            }
        }
    }

    void make_products() override {
        over_parts([&](Index first, Index past) { make_products(first, past, products_); });
    }

    std::vector<Movement> basis_step(Index passes) override {
        std::vector<Movement> moved = frozen_W_;
        moved.resize(products_.size());
        over_moving_parts([&](Index first, Index past) { update_bases(first, past, passes, moved); });
        return moved;
    }

    void graph_products() override {
        if (frozen_.empty()) {
            graph_products(0, problem_.scales(), moving_->H, products_);
            return;
        }
        over_moving_parts(
            [&](Index first, Index past) { graph_products(first, past, moving_->H, products_); });
    }

    void embedding_pass() override {
        if (slab_.cells() > 0) {
            pass_along_chain(penalties_, products_, moving_->H, frozen_);
        }
    }

    void shift_components() override {
        if (!forest_) {
            forest_.emplace(ComponentForest(problem_.graph->tree(), problem_.epsilon), shares_,
                            ranks_.rank());
        }
        pnmf::shift_components(penalties_, *forest_, products_, moving_->H, shift_room_, ranks_, frozen_);
    }

    std::vector<Objective> terms() override { return terms_of(0, problem_.scales(), products_, moving_->H); }

    std::vector<Movement> movement_H() override {
        return movements_of(0, problem_.scales(), products_, moving_->H);
    }

    Objective objective() override { return evaluate(false).objective; }

    Evaluation evaluate() override { return evaluate(true); }

  private:
    using Part = std::vector<DenseMatrix<Real>>;

    Index scales_at_once() const {
        return pnmf::scales_at_once(problem_.scales(), problem_.cells(), !problem_.X->is_sparse());
    }

    /// Scales a part at a time: as many as keep ranks and threads busy, so that what waits to be sent stays
    /// small.
    void over_parts(const std::function<void(Index, Index)>& body) const {
        const Index group = scales_at_once();
        const Index busy = std::max<Index>({4, ranks_.size(), thread_count()});
        const Index part = (busy + group - 1) / group * group;
        for (Index first = 0; first < problem_.scales(); first += part) {
            body(first, std::min(problem_.scales(), first + part));
        }
    }

    /// The same without frozen scales: then scales side by side that move, of one group whose products are
    /// made together.
    void over_moving_parts(const std::function<void(Index, Index)>& body) const {
        const Index group = scales_at_once();
        over_parts([&](Index first, Index past) {
            if (frozen_.empty()) {
                body(first, past);
                return;
            }
            Index begin = first;
            for (Index t = first; t <= past; ++t) {
                const bool ends = t == past || is_frozen(frozen_, t) || (group > 1 && t % group == 0);
                if (ends && begin < t) {
                    body(begin, t);
                }
                begin = ends ? (t < past && is_frozen(frozen_, t) ? t + 1 : t) : begin;
            }
        });
    }

    void freeze_scale(Index t) {
        if (X_->is_sparse() && products_[t].WtX.size() > 0) {
            graph_products(t, t + 1, current_->H, products_); // WᵀX is at hand, and has the bits it has alone
        } else {
            make_products(t, t + 1, products_);
        }
        frozen_W_[t] = movement_of_W(t, products_with_X(t, t + 1, current_->H), 0);
        if (!previous_->H.empty()) {
            previous_->W[t] = current_->W[t];
            previous_->H[t] = current_->H[t];
        }
    }

    /// `sums`: XHᵀ and HHᵀ of scales, that of t the i-th.
    Movement movement_of_W(Index t, const Part& sums, Index i) const {
        Movement moved;
        if (owner(t) == ranks_.rank()) {
            moved = penalties_[t].fit *
                    movement_W(BasisForm::unit_columns, current_->W[t], sums[2 * i], sums[2 * i + 1]);
        }
        broadcast(ranks_, std::span(&moved, 1), owner(t));
        return moved;
    }

    int owner(Index t) const { return static_cast<int>(t % ranks_.size()); }

    /// XHᵀ and HHᵀ of scales [first, past), those of a scale together: on the rank that owns it.
    Part products_with_X(Index first, Index past, const Part& H) const {
        const Index p = problem_.features();
        const Index d = H.front().rows();
        const Index group = scales_at_once();
        NodeSums<Real> sums(shares_, ranks_, first, past, p * d + d * d, [&](Index t) { return owner(t); });
        parallel_for((past - first + group - 1) / group, [&](Index g) {
            const Index begin = first + g * group;
            const Index count = std::min(group, past - begin);
            const std::span<const DenseMatrix<Real>> together(H.data() + begin,
                                                              static_cast<std::size_t>(count));
            for (Index i = 0; i < std::ssize(nodes_); ++i) {
                const ScalesOfProduct<Real> XHt = times_transposed(*X_, together, slab_, nodes_[i]);
                for (Index t = 0; t < count; ++t) {
                    Real* const numbers = sums.mine(begin + t, i);
                    Eigen::Map<DenseMatrix<Real>>(numbers, p, d) = XHt[t];
                    Eigen::Map<DenseMatrix<Real>>(numbers + p * d, d, d) =
                        gram_of_rows(together[t], slab_, nodes_[i]);
                }
            }
        });
        sums.exchange();
        Part result(static_cast<std::size_t>(2 * (past - first)));
        parallel_for(past - first, [&](Index i) {
            if (owner(first + i) == ranks_.rank()) {
                const Real* const numbers = sums.total(first + i);
                result[2 * i] = Eigen::Map<const DenseMatrix<Real>>(numbers, p, d);
                result[2 * i + 1] = Eigen::Map<const DenseMatrix<Real>>(numbers + p * d, d, d);
            }
        });
        return result;
    }

    void update_bases(Index first, Index past, Index passes, std::vector<Movement>& moved) {
        const Part sums = products_with_X(first, past, moving_->H);
        parallel_for(past - first, [&](Index i) {
            const Index t = first + i;
            if (owner(t) != ranks_.rank()) {
                return;
            }
            auto& W = moving_->W[t];
            const DenseMatrix<Real>& XHt = sums[2 * i];
            const DenseMatrix<Real>& HHt = sums[2 * i + 1];
            moved[t] = penalties_[t].fit * movement_W(BasisForm::unit_columns, W, XHt, HHt);
            update_basis(W, XHt, HHt, passes);
            products_[t].WtW = gram_of_columns(W);
        });
        send_bases(first, past, moved);
        const Index group = scales_at_once();
        parallel_for((past - first + group - 1) / group, [&](Index g) {
            const Index begin = first + g * group;
            const auto count = static_cast<std::size_t>(std::min(group, past - begin));
            Part WtX =
                X_->transposed_times(std::span<const DenseMatrix<Real>>(moving_->W.data() + begin, count));
            for (std::size_t i = 0; i < count; ++i) {
                products_[begin + i].WtX = std::move(WtX[i]);
                weigh(products_[begin + i], penalties_[begin + i].fit);
            }
        });
    }

    /// W, WᵀW and movements of scales [first, past), from the ranks that own them to all.
    void send_bases(Index first, Index past, std::vector<Movement>& moved) {
        const Index p = problem_.features();
        const Index d = moving_->H.front().rows();
        for (Index t = first; t < past; ++t) {
            products_[t].WtW.resize(d, d);
        }
        std::vector<Communicator::Outgoing> sends;
        std::vector<Communicator::Incoming> receives;
        for (Index t = first; t < past; ++t) {
            const std::span<Real> W(moving_->W[t].data(), static_cast<std::size_t>(p * d));
            const std::span<Real> WtW(products_[t].WtW.data(), static_cast<std::size_t>(d * d));
            const std::span<Movement> movement(&moved[t], 1);
            if (owner(t) != ranks_.rank()) {
                receives.push_back({owner(t), std::as_writable_bytes(W)});
                receives.push_back({owner(t), std::as_writable_bytes(WtW)});
                receives.push_back({owner(t), std::as_writable_bytes(movement)});
                continue;
            }
            for (int r = 0; r < ranks_.size(); ++r) {
                if (r != ranks_.rank()) {
                    sends.push_back({r, std::as_bytes(W)});
                    sends.push_back({r, std::as_bytes(WtW)});
                    sends.push_back({r, std::as_bytes(movement)});
                }
            }
        }
        ranks_.exchange(sends, receives);
    }

    void graph_products(Index first, Index past, const Part& H,
                        std::vector<ScaleProducts<Real>>& products) const {
        if (halo_) {
            halo_->products(first, past, H, products, ranks_);
            return;
        }
        // Of a graph of all pairs every cell needs every other.
        for (Index t = first; t < past; ++t) {
            const DenseMatrix<Real> all = points_.all_columns(H[t]);
            const auto graph = problem_.graph->at(problem_.epsilon[t]);
            products[t].HA = graph->times_adjacency(all).middleCols(slab_.first_cell(), slab_.cells());
            products[t].degree =
                graph->degrees().segment(slab_.first_cell(), slab_.cells()).template cast<Real>();
        }
    }

    /// Rank 0 adds up and tells the others, so that all decide alike.
    std::vector<Objective> terms_of(Index first, Index past, const std::vector<ScaleProducts<Real>>& products,
                                    const Part& H) const {
        const Index d = H.front().rows();
        NodeSums<double> sums(shares_, ranks_, first, past, 5 + d * d, [](Index) { return 0; });
        parallel_for(past - first, [&](Index i) {
            const Index t = first + i;
            for (Index node = 0; node < std::ssize(nodes_); ++node) {
                std::vector<double> numbers;
                term_sums(products[t], H[t], scale_before(H, t), slab_, nodes_[node]).put(numbers);
                std::copy(numbers.begin(), numbers.end(), sums.mine(t, node));
            }
        });
        sums.exchange();
        std::vector<Objective> terms(static_cast<std::size_t>(past - first));
        if (ranks_.rank() == 0) {
            for (Index t = first; t < past; ++t) {
                BlockSum<TermSums<Real>> sum;
                for (Index node = 0; node < std::ssize(shares_.nodes); ++node) {
                    sum.add(shares_.nodes[node].first, TermSums<Real>::take(sums.part(t, node), d));
                }
                terms[t - first] =
                    objective_from(penalties_[t], squared_norm_X_, products[t].WtW, sum.finish());
            }
        }
        broadcast(ranks_, std::span(terms), 0);
        return terms;
    }

    std::vector<Movement> movements_of(Index first, Index past,
                                       const std::vector<ScaleProducts<Real>>& products,
                                       const Part& H) const {
        NodeSums<double> sums(shares_, ranks_, first, past, 2, [](Index) { return 0; });
        parallel_for(past - first, [&](Index i) {
            const Index t = first + i;
            for (Index node = 0; node < std::ssize(nodes_); ++node) {
                const Movement movement =
                    pnmf::movement_H(penalties_[t], products[t], H[t], scale_before(H, t), scale_after(H, t),
                                     slab_, nodes_[node]);
                sums.mine(t, node)[0] = movement.moved;
                sums.mine(t, node)[1] = movement.size;
            }
        });
        sums.exchange();
        std::vector<Movement> moved(static_cast<std::size_t>(past - first));
        for (Index t = first; ranks_.rank() == 0 && t < past; ++t) {
            const double* const total = sums.total(t);
            moved[t - first] = {total[0], total[1]};
        }
        broadcast(ranks_, std::span(moved), 0);
        return moved;
    }

    /// Of the current point, from W and H alone.
    Evaluation evaluate(bool residuals) {
        Evaluation result{{}, std::vector<KktResidual>(residuals ? products_.size() : 0)};
        std::vector<ScaleProducts<Real>> products(products_.size());
        over_parts([&](Index first, Index past) {
            make_products(first, past, products);
            for (const Objective& term : terms_of(first, past, products, current_->H)) {
                result.objective = result.objective + term;
            }
            if (residuals) {
                find_residuals(first, past, products, result.residuals);
            }
            for (Index t = first; t < past; ++t) {
                products[t] = {};
            }
        });
        return result;
    }

    /// Of scales [first, past) of the current point.
    void make_products(Index first, Index past, std::vector<ScaleProducts<Real>>& products) const {
        graph_products(first, past, current_->H, products);
        parallel_for(past - first, [&](Index i) {
            const Index t = first + i;
            products[t].WtX = X_->transposed_times(current_->W[t]);
            products[t].WtW = gram_of_columns(current_->W[t]);
            weigh(products[t], penalties_[t].fit);
        });
    }

    void find_residuals(Index first, Index past, const std::vector<ScaleProducts<Real>>& products,
                        std::vector<KktResidual>& residuals) const {
        const std::vector<Movement> moved = movements_of(first, past, products, current_->H);
        const Part sums = products_with_X(first, past, current_->H);
        for (Index t = first; t < past; ++t) {
            residuals[t] = {moved[t - first], movement_of_W(t, sums, t - first)};
        }
    }

    const Problem<Real>& problem_;
    Communicator& ranks_;
    BlockShares shares_;
    BlockSlab slab_;
    std::span<const BlockNode> nodes_;          ///< of this rank
    std::shared_ptr<const DataMatrix<Real>> X_; ///< of the slab
    double squared_norm_X_;                     ///< of all cells
    std::vector<ScalePenalty> penalties_;
    std::vector<ScaleProducts<Real>> products_;
    FrozenScales frozen_;
    std::vector<Movement> frozen_W_;    ///< of W at frozen scales
    std::optional<Halo> halo_;          ///< for graphs of neighbours
    std::optional<ShiftForest> forest_; ///< once components were shifted
    ShiftRoom shift_room_;
    RankPoints<Real> points_;
    Factors<Real>* current_ = nullptr; ///< all of W, the slab's part of H
    Factors<Real>* previous_ = nullptr;
    Factors<Real>* moving_ = nullptr;
};

} // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_rank_backend(const Problem<Real>& problem, Communicator& ranks,
                                                 const CellBlocks& blocks) {
    return std::make_unique<RankBackend<Real>>(problem, ranks, blocks);
}

template std::unique_ptr<Backend<float>> make_rank_backend(const Problem<float>&, Communicator&,
                                                           const CellBlocks&);
template std::unique_ptr<Backend<double>> make_rank_backend(const Problem<double>&, Communicator&,
                                                            const CellBlocks&);

} // namespace pnmf
