#include "model/objective_of_held.hpp"

#include "graphs/scale_forms.hpp"
#include "linalg/cells_of_all.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/model/objective.hpp>

#include <algorithm>
#include <array>
#include <utility>

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

/// What each cell adds to the terms of a scale, so that any thread may find it.
struct CellTerm {
    enum { data, graph, own, weighted, step, count };
};

template <class Real>
struct CellTerms {
    Matrix terms;           ///< a column for each cell
    DenseMatrix<Real> gram; ///< HHᵀ, of all cells
};

/// Those of the cells that `products` and `before` have, which are cells of H from `first` on.
template <class Real>
CellTerms<Real> terms_of_cells(const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                               const DenseMatrix<Real>* before, Index first) {
    constexpr Index block = 512;
    const Index cells = products.WtX.cols();
    CellTerms<Real> found{Matrix(Index{CellTerm::count}, cells), {}};
    Matrix& terms = found.terms;
    parallel_for(1 + (cells + block - 1) / block, [&](Index item) {
        if (item == 0) {
            found.gram = gram_of_rows(H);
            return;
        }
        const Index begin = (item - 1) * block;
        for (Index i = begin; i < std::min(cells, begin + block); ++i) {
            const Index j = first + i;
            terms(CellTerm::data, i) = column_product(products.WtX, i, H, j);
            terms(CellTerm::graph, i) = column_product(products.HA, i, H, j);
            terms(CellTerm::own, i) = H.col(j).template cast<double>().squaredNorm();
            terms(CellTerm::weighted, i) = static_cast<double>(products.degree[i]) * terms(CellTerm::own, i);
            terms(CellTerm::step, i) =
                before == nullptr ? 0.0 : (H.col(j) - before->col(i)).template cast<double>().squaredNorm();
        }
    });
    return found;
}

/// From the terms of all cells, added up in their order; `gram` is HHᵀ.
template <class Real>
Objective objective_of(const ScalePenalty& penalty, double squared_norm_X, const DenseMatrix<Real>& WtW,
                       const DenseMatrix<Real>& gram, const Matrix& terms) {
    std::array<double, CellTerm::count> sums{};
    for (Index j = 0; j < terms.cols(); ++j) {
        for (std::size_t term = 0; term < sums.size(); ++term) {
            sums[term] += terms(static_cast<Index>(term), j);
        }
    }
    Objective result;
    result.fit = penalty.fit * squared_norm_X - 2.0 * sums[CellTerm::data] + inner_product(WtW, gram);
    result.graph = penalty.graph * (sums[CellTerm::weighted] - sums[CellTerm::graph]);
    result.smoothness = penalty.before * sums[CellTerm::step];
    result.anchor = penalty.anchor * sums[CellTerm::own];
    return result;
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
    DenseMatrix<Real> result(M.rows(), M.rows());
    multiply_by_transposed(M, M, result);
    return result;
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
    const auto graph = problem.graph->at(problem.epsilon[t]);
    const CellRange held = problem.X->held();
    ScaleProducts<Real> products{problem.X->transposed_times(W), gram_of_columns(W),
                                 problem.X->is_part() ? times_adjacency(*graph, H, held.first, held.count)
                                                      : graph->times_adjacency(H),
                                 graph->degrees().segment(held.first, held.count).template cast<Real>()};
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
    const CellTerms<Real> found = terms_of_cells(products, H, before, 0);
    return objective_of(penalty, squared_norm_X, products.WtW, found.gram, found.terms);
}

template <class Real>
Objective objective_of_held(const DataMatrix<Real>& X, const ScalePenalty& penalty, double squared_norm_X,
                            const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                            const DenseMatrix<Real>* before) {
    CellTerms<Real> found = terms_of_cells(products, H, before, X.held().first);
    return objective_of(penalty, squared_norm_X, products.WtW, found.gram,
                        gather_cells(X, std::move(found.terms)));
}

template <class Real>
Objective objective(const Problem<Real>& problem, const Factors<Real>& factors) {
    const double squared_norm_X = problem.X->squared_norm();
    std::vector<Objective> terms(static_cast<std::size_t>(problem.scales()));
    for_each_with_all(*problem.X, problem.scales(), [&](Index t) {
        DenseMatrix<Real> room;
        DenseMatrix<Real> room_of_all;
        const auto& H = cells_of_all(*problem.X, factors.H[t], room_of_all);
        const auto products = scale_products(problem, t, factors.basis(t, room), H);
        terms[t] = objective_of_held(*problem.X, problem.at(t), squared_norm_X, products, H,
                                     scale_before(factors.H, t));
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
    template DenseMatrix<Real> gram_of_columns(const DenseMatrix<Real>&);                                    \
    template ScaleProducts<Real> scale_products(const Problem<Real>&, Index, const DenseMatrix<Real>&,       \
                                                const DenseMatrix<Real>&);                                   \
    template void weigh(ScaleProducts<Real>&, double);                                                       \
    template Objective scale_objective(const ScalePenalty&, double, const ScaleProducts<Real>&,              \
                                       const DenseMatrix<Real>&, const DenseMatrix<Real>*);                  \
    template Objective objective_of_held(const DataMatrix<Real>&, const ScalePenalty&, double,               \
                                         const ScaleProducts<Real>&, const DenseMatrix<Real>&,               \
                                         const DenseMatrix<Real>*);                                          \
    template Objective objective(const Problem<Real>&, const Factors<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
