#include "cells/cell_sums.hpp"
#include "cells/linalg/over_all_cells.hpp"
#include "graphs/scale_forms.hpp"
#include "graphs/sparse_graph.hpp"
#include "model/objective_of_held.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/model/objective.hpp>

#include <algorithm>

namespace pnmf {

Objective operator+(const Objective& a, const Objective& b) {
    return {a.fit + b.fit, a.graph + b.graph, a.smoothness + b.smoothness, a.anchor + b.anchor};
}

namespace {

/// ⟨a_i, b_j⟩, summed in double.
template <class Real>
double column_product(const DenseMatrix<Real>& A, Index i, const DenseMatrix<Real>& B, Index j) {
    if constexpr (std::is_same_v<Real, double>) {
        return A.col(i).dot(B.col(j));
    } else {
        return A.col(i).template cast<double>().dot(B.col(j).template cast<double>());
    }
}

/// What the cells of a block add to the terms of a scale.
struct CellTerms {
    double data = 0.0;     ///< ⟨WᵀX, H⟩
    double graph = 0.0;    ///< ⟨HA, H⟩
    double own = 0.0;      ///< ‖H‖²
    double weighted = 0.0; ///< the same, cells weighted by their degrees
    double step = 0.0;     ///< to the scale before

    CellTerms& operator+=(const CellTerms& other) {
        data += other.data;
        graph += other.graph;
        own += other.own;
        weighted += other.weighted;
        step += other.step;
        return *this;
    }
};

/// Cells [begin, end) of `products` and `before`, which are those of H from `first` on.
template <class Real>
CellTerms terms_of_cells(const ScaleProducts<Real>& products, const DenseMatrix<Real>& H, Index first,
                         const DenseMatrix<Real>* before, Index begin, Index end) {
    CellTerms terms;
    for (Index i = begin; i < end; ++i) {
        const Index j = first + i;
        const double own = H.col(j).template cast<double>().squaredNorm();
        terms.data += column_product(products.WtX, i, H, j);
        terms.graph += column_product(products.HA, i, H, j);
        terms.own += own;
        terms.weighted += static_cast<double>(products.degree[i]) * own;
        if (before != nullptr) {
            terms.step += (H.col(j) - before->col(i)).template cast<double>().squaredNorm();
        }
    }
    return terms;
}

/// Those of the cells of all processes, along the tree of blocks.
template <class Real>
CellTerms terms_of_all(Processes& processes, Index cells, const ScaleProducts<Real>& products,
                       const DenseMatrix<Real>& H, Index first, const DenseMatrix<Real>* before) {
    const Matrix sums =
        sum_over_cells<double>(processes, cells, 5, 1, [&](const BlockSlab& slab, const BlockNode& node) {
            const auto terms = sum_of_node<CellTerms>(node, pieces_for_threads(1), [&](Index b) {
                return terms_of_cells(products, H, first, before, slab.begin(b), slab.end(b));
            });
            return Matrix{{terms.data}, {terms.graph}, {terms.own}, {terms.weighted}, {terms.step}};
        });
    return {sums(0), sums(1), sums(2), sums(3), sums(4)};
}

template <class Real>
Objective objective_of(const ScalePenalty& penalty, double squared_norm_X, const DenseMatrix<Real>& WtW,
                       const DenseMatrix<Real>& gram, const CellTerms& terms) {
    Objective result;
    result.fit = penalty.fit * squared_norm_X - 2.0 * terms.data + inner_product(WtW, gram);
    result.graph = penalty.graph * (terms.weighted - terms.graph);
    result.smoothness = penalty.before * terms.step;
    result.anchor = penalty.anchor * terms.own;
    return result;
}

/// HHᵀ over the cells of all processes, along the tree of blocks; those of this process stand from `first`
/// on.
template <class Real>
DenseMatrix<Real> gram_of_cells(Processes& processes, Index cells, const DenseMatrix<Real>& H, Index first) {
    const Index d = H.rows();
    return sum_over_cells<Real>(processes, cells, d, d, [&](const BlockSlab& slab, const BlockNode& node) {
        return sum_of_node<DenseMatrix<Real>>(node, pieces_for_threads(1), [&](Index b) {
            const auto block = H.middleCols(first + slab.begin(b), slab.end(b) - slab.begin(b));
            DenseMatrix<Real> gram(d, d);
            multiply_by_transposed(block, block, gram);
            return gram;
        });
    });
}

template <class Real>
Processes& processes_of(const DataMatrix<Real>& X) {
    return !X.has_all_cells() ? X.processes() : one_process();
}

} // namespace

template <class Real>
double inner_product(const DenseMatrix<Real>& A, const DenseMatrix<Real>& B) {
    double sum = 0.0;
    for (Index j = 0; j < A.cols(); ++j) {
        sum += column_product(A, j, B, j);
    }
    return sum;
}

template <class Real>
DenseMatrix<Real> gram_of_rows(const DenseMatrix<Real>& M) {
    return gram_of_cells(one_process(), M.cols(), M, 0);
}

template <class Real>
DenseMatrix<Real> gram_of_held(const DataMatrix<Real>& X, const DenseMatrix<Real>& H, Index first) {
    return gram_of_cells(processes_of(X), X.cells(), H, first);
}

template <class Real>
DenseMatrix<Real> gram_of_columns(const DenseMatrix<Real>& M) {
    DenseMatrix<Real> result(M.cols(), M.cols());
    multiply_transposed(M, M, result);
    return result;
}

template <class Real>
ScaleProducts<Real> scale_products(const Problem<Real>& problem, Index t, const DenseMatrix<Real>& W,
                                   const DenseMatrix<Real>& H) {
    const CellRange held = problem.X->local();
    ScaleProducts<Real> products{problem.X->transposed_times(W), gram_of_columns(W), {}, {}};
    if (const auto* neighbors = dynamic_cast<const SparseMultiscaleGraph*>(problem.graph)) {
        multiply_lists(neighbors->lists(), EdgeWeight(problem.epsilon[t], neighbors->alpha()), H, held.first,
                       held.count, products.HA, products.degree);
    } else {
        const auto graph = problem.graph->at(problem.epsilon[t]);
        products.HA = graph->times_adjacency(H).middleCols(held.first, held.count);
        products.degree = graph->degrees().segment(held.first, held.count).template cast<Real>();
    }
    weigh(products, problem.at(t).fit);
    return products;
}

template <class Real>
void weigh(ScaleProducts<Real>& products, double weight) {
    if (weight != 1.0) {
        products.WtX *= static_cast<Real>(weight);
        products.WtW *= static_cast<Real>(weight);
    }
}

template <class Real>
Objective scale_objective(const ScalePenalty& penalty, double squared_norm_X,
                          const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                          const DenseMatrix<Real>* before) {
    return objective_of(penalty, squared_norm_X, products.WtW, gram_of_rows(H),
                        terms_of_all(one_process(), H.cols(), products, H, 0, before));
}

template <class Real>
Objective objective_of_held(const DataMatrix<Real>& X, const ScalePenalty& penalty, double squared_norm_X,
                            const ScaleProducts<Real>& products, const DenseMatrix<Real>& H, Index first,
                            const DenseMatrix<Real>* before, const DenseMatrix<Real>& gram) {
    return objective_of(penalty, squared_norm_X, products.WtW, gram,
                        terms_of_all(processes_of(X), X.cells(), products, H, first, before));
}

template <class Real>
Objective objective(const Problem<Real>& problem, const Factors<Real>& factors) {
    const double squared_norm_X = problem.X->squared_norm();
    std::vector<Objective> terms(static_cast<std::size_t>(problem.scales()));
    for_each_with_all(*problem.X, problem.scales(), [&](Index t) {
        DenseMatrix<Real> buffer;
        DenseMatrix<Real> buffer_of_all;
        const auto& H = cells_of_all(*problem.X, factors.H[t], buffer_of_all);
        const auto products = scale_products(problem, t, factors.basis(t, buffer), H);
        terms[t] = objective_of_held(*problem.X, problem.at(t), squared_norm_X, products, factors.H[t], 0,
                                     scale_before(factors.H, t), gram_of_held(*problem.X, factors.H[t]));
    });
    Objective total;
    for (const Objective& term : terms) {
        total = total + term;
    }
    return total;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template double inner_product(const DenseMatrix<Real>&, const DenseMatrix<Real>&);                       \
    template DenseMatrix<Real> gram_of_rows(const DenseMatrix<Real>&);                                       \
    template DenseMatrix<Real> gram_of_held(const DataMatrix<Real>&, const DenseMatrix<Real>&, Index);       \
    template DenseMatrix<Real> gram_of_columns(const DenseMatrix<Real>&);                                    \
    template ScaleProducts<Real> scale_products(const Problem<Real>&, Index, const DenseMatrix<Real>&,       \
                                                const DenseMatrix<Real>&);                                   \
    template void weigh(ScaleProducts<Real>&, double);                                                       \
    template Objective scale_objective(const ScalePenalty&, double, const ScaleProducts<Real>&,              \
                                       const DenseMatrix<Real>&, const DenseMatrix<Real>*);                  \
    template Objective objective_of_held(const DataMatrix<Real>&, const ScalePenalty&, double,               \
                                         const ScaleProducts<Real>&, const DenseMatrix<Real>&, Index,        \
                                         const DenseMatrix<Real>*, const DenseMatrix<Real>&);                \
    template Objective objective(const Problem<Real>&, const Factors<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
