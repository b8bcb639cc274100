#include "solvers/multiplicative.hpp"

#include "cells/linalg/over_all_cells.hpp"
#include "graphs/scale_forms.hpp"
#include "model/objective_of_held.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <cmath>

namespace pnmf {
namespace {

constexpr Index rows_at_a_time = 1024;

/// value − safe ⊘ (denominator(safe) + ν) ⊙ gradient, with safe = max(value, μ) where the gradient is
/// negative and value elsewhere (Lin 2007, eq. (H_modify_rewrite)). `value_term` is denominator(value): it
/// serves unless an entry was lifted.
template <class Real, class Block, class Denominator>
void lin_step(Block value, const DenseMatrix<Real>& gradient, const DenseMatrix<Real>& value_term, double nu,
              double mu, const Denominator& denominator) {
    const auto small = static_cast<Real>(nu);
    const auto lift = static_cast<Real>(mu);
    const auto lifted = (gradient.array() < 0) && (value.array() < lift);
    if (lifted.any()) {
        const DenseMatrix<Real> safe =
            lifted.select(DenseMatrix<Real>::Constant(value.rows(), value.cols(), lift), value);
        const DenseMatrix<Real> term = denominator(safe);
        value.array() -= safe.array() / (term.array() + small) * gradient.array();
    } else {
        value.array() -= value.array() / (value_term.array() + small) * gradient.array();
    }
    // The step cannot cross zero in exact arithmetic; rounding may.
    value = value.cwiseMax(Real{0});
}

} // namespace

template <class Real>
ScalePair<Real>::ScalePair(const Subproblem<Real>& subproblem, DenseMatrix<Real>& W, DenseMatrix<Real>& H)
    : sub_(subproblem), W_(W), H_(H), held_(subproblem.X->local()), panel_(usual_blocks(held_.all).panel()) {
    products_.degree = sub_.graph->degrees().segment(held_.first, held_.count).template cast<Real>();
    refresh_basis_products();
    if (sub_.share_neighbors) {
        share_embedding();
    }
    refresh_graph_product();
}

template <class Real>
void ScalePair<Real>::refresh_basis_products() {
    products_.WtX = sub_.X->transposed_times(W_);
    products_.WtW = gram_of_columns(W_);
}

template <class Real>
void ScalePair<Real>::refresh_graph_product() {
    products_.HA = times_adjacency(*sub_.graph, H_, held_.first, held_.count);
}

template <class Real>
void ScalePair<Real>::share_embedding() {
    gram_.resize(0, 0);
    if (sub_.share_neighbors) {
        sub_.share_neighbors(H_);
    } else {
        share_columns(*sub_.X, H_);
    }
}

template <class Real>
const DenseMatrix<Real>& ScalePair<Real>::gram() const {
    if (gram_.size() == 0) {
        gram_ = gram_of_held(*sub_.X, H_, held_.first);
    }
    return gram_;
}

template <class Real>
void ScalePair<Real>::lin_basis_step(double nu, double mu) {
    const DenseMatrix<Real> XHt = times_transposed_of_all(*sub_.X, H_);
    const DenseMatrix<Real>& HHt = gram();
    parallel_blocks(W_.rows(), rows_at_a_time, [&](Index begin, Index end) {
        const Index rows = end - begin;
        const auto term_of = [&](const DenseMatrix<Real>& block) {
            DenseMatrix<Real> term(rows, HHt.cols());
            multiply(block, HHt, term);
            return term;
        };
        const DenseMatrix<Real> value = W_.middleRows(begin, rows);
        const DenseMatrix<Real> term = term_of(value);
        const DenseMatrix<Real> gradient = term - XHt.middleRows(begin, rows);
        lin_step<Real>(W_.middleRows(begin, rows), gradient, term, nu, mu, term_of);
    });
}

template <class Real>
void ScalePair<Real>::lin_embedding_step(double nu, double mu) {
    const ScalePenalty& penalty = sub_.penalty;
    const auto graph = static_cast<Real>(penalty.graph);
    const auto diagonal = static_cast<Real>(penalty.before + penalty.after + penalty.anchor);
    parallel_blocks(held_.count, panel_, [&](Index begin, Index end) {
        const Index cells = end - begin;
        const Index first = held_.first + begin;
        const auto degree = products_.degree.segment(begin, cells);
        const auto term_of = [&](const DenseMatrix<Real>& block) {
            DenseMatrix<Real> term = products_.WtW * block;
            term += graph * (block * degree.asDiagonal()) + diagonal * block;
            return term;
        };
        const DenseMatrix<Real> value = H_.middleCols(first, cells);
        const DenseMatrix<Real> term = term_of(value);
        DenseMatrix<Real> gradient = term - products_.WtX.middleCols(begin, cells);
        gradient -= graph * products_.HA.middleCols(begin, cells);
        if (sub_.before != nullptr) {
            gradient -= static_cast<Real>(penalty.before) * sub_.before->middleCols(first, cells);
        }
        if (sub_.after != nullptr) {
            gradient -= static_cast<Real>(penalty.after) * sub_.after->middleCols(first, cells);
        }
        lin_step<Real>(H_.middleCols(first, cells), gradient, term, nu, mu, term_of);
    });
    share_embedding();
}

template <class Real>
void ScalePair<Real>::plain_basis_step(double nu) {
    const DenseMatrix<Real> XHt = times_transposed_of_all(*sub_.X, H_);
    const DenseMatrix<Real>& HHt = gram();
    const auto small = static_cast<Real>(nu);
    parallel_blocks(W_.rows(), rows_at_a_time, [&](Index begin, Index end) {
        DenseMatrix<Real> term(end - begin, HHt.cols());
        multiply(W_.middleRows(begin, end - begin), HHt, term);
        W_.middleRows(begin, end - begin).array() *=
            XHt.middleRows(begin, end - begin).array() / (term.array() + small);
    });
}

template <class Real>
void ScalePair<Real>::plain_embedding_step(double nu) {
    const auto graph = static_cast<Real>(sub_.penalty.graph);
    parallel_blocks(held_.count, panel_, [&](Index begin, Index end) {
        const Index cells = end - begin;
        auto here = H_.middleCols(held_.first + begin, cells);
        thread_local DenseMatrix<Real> above; // these two keep their memory
        thread_local DenseMatrix<Real> below;
        above = products_.WtX.middleCols(begin, cells) + graph * products_.HA.middleCols(begin, cells);
        below.noalias() =
            products_.WtW * here + graph * (here * products_.degree.segment(begin, cells).asDiagonal());
        here.array() *= above.array() / (below.array() + static_cast<Real>(nu));
    });
    share_embedding();
}

template <class Real>
void ScalePair<Real>::make_unit() {
    const DenseVector<Real> norms =
        W_.colwise().norm().transpose().unaryExpr([](Real norm) { return norm > 0 ? norm : Real{1}; });
    const DenseVector<Real> inverse = norms.cwiseInverse();
    W_ = W_ * inverse.asDiagonal();
    products_.WtW = inverse.asDiagonal() * products_.WtW * inverse.asDiagonal();
    const auto scale = [](auto&& columns, const DenseVector<Real>& factors) {
        columns = factors.asDiagonal() * columns;
    };
    gram_.resize(0, 0);
    const Index first = sub_.share_neighbors ? held_.first : 0;
    parallel_blocks(sub_.share_neighbors ? held_.count : H_.cols(), panel_,
                    [&](Index begin, Index end) { scale(H_.middleCols(first + begin, end - begin), norms); });
    parallel_blocks(held_.count, panel_, [&](Index begin, Index end) {
        scale(products_.WtX.middleCols(begin, end - begin), inverse);
        scale(products_.HA.middleCols(begin, end - begin), norms);
    });
}

template <class Real>
double ScalePair<Real>::loss() const {
    double loss = terms().total();
    if (sub_.after != nullptr) {
        loss += sub_.penalty.after * (*sub_.after - H_).template cast<double>().squaredNorm();
    }
    return loss;
}

template <class Real>
Objective ScalePair<Real>::terms() const {
    return objective_of_held(*sub_.X, sub_.penalty, sub_.squared_norm_X, products_, H_, held_.first,
                             sub_.before, gram());
}

Index iterate_to_tolerance(double first_loss, double tolerance, Index limit,
                           const std::function<double(Index step)>& step) {
    double previous = 1e9;
    double current = first_loss;
    Index count = 0;
    while (count < limit && std::abs(previous - current) / previous > tolerance) {
        previous = current;
        current = step(++count);
    }
    return count;
}

template <class Real>
Index fit_graph_regularized(const DataMatrix<Real>& X, double squared_norm_X,
                            const MultiscaleGraph::Scale& graph, double lambda, Pair<Real>& pair,
                            double tolerance, Index limit,
                            const std::function<bool(const RescaledStep&)>& watch,
                            const std::function<void(DenseMatrix<Real>&)>& share_neighbors) {
    const Subproblem<Real> sub{.X = &X,
                               .squared_norm_X = squared_norm_X,
                               .graph = &graph,
                               .penalty = single_scale({lambda, 0.0, 0.0}),
                               .share_neighbors = share_neighbors};
    ScalePair<Real> scale(sub, pair.W, pair.H);
    double loss = scale.loss();
    return iterate_to_tolerance(loss, tolerance, limit, [&](Index) {
        scale.plain_basis_step(multiplicative_tiny);
        scale.refresh_basis_products();
        scale.plain_embedding_step(multiplicative_tiny);
        scale.refresh_graph_product();
        RescaledStep step;
        if (watch) {
            step.before = scale.terms();
        }
        scale.make_unit();
        step.after = scale.terms();
        // A run that is to end is one whose loss no longer changes.
        loss = !watch || watch(step) ? step.after.total() : loss;
        return loss;
    });
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template class ScalePair<Real>;                                                                          \
    template Index fit_graph_regularized(                                                                    \
        const DataMatrix<Real>&, double, const MultiscaleGraph::Scale&, double, Pair<Real>&, double, Index,  \
        const std::function<bool(const RescaledStep&)>&, const std::function<void(DenseMatrix<Real>&)>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
