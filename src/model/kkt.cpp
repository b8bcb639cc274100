#include "cells/cell_blocks.hpp"
#include "cells/linalg/over_all_cells.hpp"
#include "linalg/kernels/kernels.hpp"
#include "model/objective_of_held.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/model/objective.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pnmf {

double Movement::ratio() const {
    if (moved == 0.0) {
        return 0.0;
    }
    return size > 0.0 ? std::sqrt(moved / size) : 1.0;
}

Movement operator*(double weight, const Movement& movement) {
    return {weight * movement.moved, weight * movement.size};
}

Movement& Movement::operator+=(const Movement& other) {
    moved += other.moved;
    size += other.size;
    return *this;
}

KktResidual& KktResidual::operator+=(const KktResidual& other) {
    H += other.H;
    W += other.W;
    return *this;
}

KktResidual sum(const std::vector<KktResidual>& residuals) {
    KktResidual total;
    for (const KktResidual& residual : residuals) {
        total += residual;
    }
    return total;
}

namespace {

/// `half_gradient_H` of `count` cells, from `first` on.
template <class Real>
DenseMatrix<Real> gradient_of_cells(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                                    const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                                    const DenseMatrix<Real>* after, Index first, Index count) {
    const auto here = H.middleCols(first, count);
    DenseMatrix<Real> gradient(H.rows(), count);
    multiply(products.WtW, here, gradient);
    gradient -= products.WtX.middleCols(first, count);
    gradient +=
        static_cast<Real>(penalty.graph) *
        (here * products.degree.segment(first, count).asDiagonal() - products.HA.middleCols(first, count));
    gradient += static_cast<Real>(penalty.anchor) * here;
    if (before != nullptr) {
        gradient += static_cast<Real>(penalty.before) * (here - before->middleCols(first, count));
    }
    if (after != nullptr) {
        gradient += static_cast<Real>(penalty.after) * (here - after->middleCols(first, count));
    }
    return gradient;
}

} // namespace

template <class Real>
DenseMatrix<Real> half_gradient_H(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                                  const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                                  const DenseMatrix<Real>* after) {
    return gradient_of_cells(penalty, products, H, before, after, 0, H.cols());
}

template <class Real>
DenseMatrix<Real> half_gradient_W(const DenseMatrix<Real>& W, const DenseMatrix<Real>& XHt,
                                  const DenseMatrix<Real>& HHt) {
    DenseMatrix<Real> gradient(W.rows(), W.cols());
    multiply(W, HHt, gradient);
    gradient -= XHt;
    return gradient;
}

namespace {

/// Of `count` cells, from `first` on.
template <class Real>
Movement movement_of_cells(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                           const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                           const DenseMatrix<Real>* after, Index first, Index count) {
    const DenseMatrix<Real> gradient = gradient_of_cells(penalty, products, H, before, after, first, count);
    const double smoothness =
        (before != nullptr ? penalty.before : 0.0) + (after != nullptr ? penalty.after : 0.0);
    Movement sum;
    for (Index j = 0; j < count; ++j) {
        const double shared =
            penalty.graph * static_cast<double>(products.degree[first + j]) + smoothness + penalty.anchor;
        for (Index k = 0; k < H.rows(); ++k) {
            const double q = static_cast<double>(products.WtW(k, k)) + shared;
            const double h = H(k, first + j);
            if (q > 0.0) {
                const double step = h - std::max(0.0, h - static_cast<double>(gradient(k, j)) / q);
                sum.moved += q * step * step;
                sum.size += q * h * h;
            }
        }
    }
    return sum;
}

} // namespace

template <class Real>
Movement movement_of_held(const DataMatrix<Real>& X, const ScalePenalty& penalty,
                          const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                          const DenseMatrix<Real>* before, const DenseMatrix<Real>* after) {
    const Matrix sum = sum_over_cells<double>(
        X.processes(), X.cells(), 2, 1, [&](const BlockSlab& slab, const BlockNode& node) {
            const auto of_node = sum_of_node<Movement>(node, pieces_for_threads(1), [&](Index b) {
                return movement_of_cells(penalty, products, H, before, after, slab.begin(b),
                                         slab.end(b) - slab.begin(b));
            });
            return Matrix{{of_node.moved}, {of_node.size}};
        });
    return {sum(0, 0), sum(1, 0)};
}

template <class Real>
Movement movement_H(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                    const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                    const DenseMatrix<Real>* after) {
    return movement_of_cells(penalty, products, H, before, after, 0, H.cols());
}

template <class Real>
Movement movement_W(BasisForm form, const DenseMatrix<Real>& W, std::type_identity_t<ConstBlock<Real>> XHt,
                    const DenseMatrix<Real>& HHt) {
    assert(XHt.outerStride() == W.rows());
    const auto& sums = kernels().of<Real>();
    const Index p = W.rows();
    const Index d = W.cols();
    DenseMatrix<Real> factors(basis_columns, d);
    DenseMatrix<Real> rest(p, std::min<Index>(basis_columns, d)); // XHᵀ − W·HHᵀ of some columns
    Movement result;
    for (Index first = 0; first < d; first += basis_columns) {
        const Index count = std::min<Index>(basis_columns, d - first);
        factors.topRows(count) = -HHt.middleCols(first, count).transpose();
        sums.basis_rest({p, d, W.data(), XHt.data(), first, count, factors.data(), rest.data()}, true);
        for (Index c = 0; c < count; ++c) {
            const Index k = first + c;
            const double q = HHt(k, k);
            if (q <= 0.0) {
                continue; // the row of H is zero: the column of W does not matter
            }
            double products[2];
            sums.basis_products(W.col(k).data(), rest.col(c).data(), p, products);
            const double along = form == BasisForm::unit_columns ? products[1] : 0.0;
            result.moved += q * sums.basis_movement(W.col(k).data(), rest.col(c).data(), p, along, 1.0 / q);
            result.size += q * products[0];
        }
    }
    return result;
}

template <class Real>
Evaluation evaluate(const Problem<Real>& problem, const Factors<Real>& factors, BasisForm form) {
    const Index scales = problem.scales();
    const double squared_norm_X = problem.X->squared_norm();
    std::vector<Objective> terms(static_cast<std::size_t>(scales));
    Evaluation result{{}, std::vector<KktResidual>(terms.size())};
    for_each_with_all(*problem.X, scales, [&](Index t) {
        DenseMatrix<Real> buffer;
        const auto& W = factors.basis(t, buffer);
        DenseMatrix<Real> buffer_of_all;
        const auto& H = factors.H[t];
        const auto& all = cells_of_all(*problem.X, H, buffer_of_all);
        const ScalePenalty penalty = problem.at(t);
        const ScaleProducts<Real> products = scale_products(problem, t, W, all);
        const DenseMatrix<Real> gram = gram_of_held(*problem.X, H);
        terms[t] = objective_of_held(*problem.X, penalty, squared_norm_X, products, H, 0,
                                     scale_before(factors.H, t), gram);
        result.residuals[t].H = movement_of_held(*problem.X, penalty, products, H, scale_before(factors.H, t),
                                                 scale_after(factors.H, t));
        result.residuals[t].W =
            penalty.fit * movement_W(form, W, times_transposed_over_cells(*problem.X, H), gram);
    });
    for (const Objective& term : terms) {
        result.objective = result.objective + term;
    }
    return result;
}

template <class Real>
std::vector<KktResidual> kkt_residuals(const Problem<Real>& problem, const Factors<Real>& factors,
                                       BasisForm form) {
    return evaluate(problem, factors, form).residuals;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template DenseMatrix<Real> half_gradient_H(const ScalePenalty&, const ScaleProducts<Real>&,              \
                                               const DenseMatrix<Real>&, const DenseMatrix<Real>*,           \
                                               const DenseMatrix<Real>*);                                    \
    template DenseMatrix<Real> half_gradient_W(const DenseMatrix<Real>&, const DenseMatrix<Real>&,           \
                                               const DenseMatrix<Real>&);                                    \
    template Movement movement_H(const ScalePenalty&, const ScaleProducts<Real>&, const DenseMatrix<Real>&,  \
                                 const DenseMatrix<Real>*, const DenseMatrix<Real>*);                        \
    template Movement movement_of_held(const DataMatrix<Real>&, const ScalePenalty&,                         \
                                       const ScaleProducts<Real>&, const DenseMatrix<Real>&,                 \
                                       const DenseMatrix<Real>*, const DenseMatrix<Real>*);                  \
    template Movement movement_W(BasisForm, const DenseMatrix<Real>&,                                        \
                                 std::type_identity_t<ConstBlock<Real>>, const DenseMatrix<Real>&);          \
    template Evaluation evaluate(const Problem<Real>&, const Factors<Real>&, BasisForm);                     \
    template std::vector<KktResidual> kkt_residuals(const Problem<Real>&, const Factors<Real>&, BasisForm);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
