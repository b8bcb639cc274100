#include "linalg/cells_of_all.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/model/objective.hpp>

#include <algorithm>

namespace pnmf {

Objective operator+(const Objective& a, const Objective& b) {
    return {a.fit + b.fit, a.graph + b.graph, a.smoothness + b.smoothness, a.anchor + b.anchor};
}

namespace {

/// ⟨a_j, b_j⟩, summed in double.
template <class Real>
double column_product(const DenseMatrix<Real>& A, const DenseMatrix<Real>& B, Index j) {
    if constexpr (std::is_same_v<Real, double>) {
        return A.col(j).dot(B.col(j));
    } else {
        return A.col(j).template cast<double>().dot(B.col(j).template cast<double>());
    }
}

} // namespace

template <class Real>
double inner_product(const DenseMatrix<Real>& A, const DenseMatrix<Real>& B) {
    double sum = 0.0;
    for (Index j = 0; j < A.cols(); ++j) {
        sum += column_product(A, B, j);
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
    ScaleProducts<Real> products{transposed_times_of_all(*problem.X, W), gram_of_columns(W),
                                 graph->times_adjacency(H), graph->degrees().template cast<Real>()};
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
    // What each cell adds, so that any thread may find it; added up in the order of the cells.
    constexpr Index block = 512;
    enum { data, graph, own, step };
    Matrix terms(4, H.cols());
    DenseMatrix<Real> gram;
    parallel_for(1 + (H.cols() + block - 1) / block, [&](Index item) {
        if (item == 0) {
            gram = gram_of_rows(H);
            return;
        }
        const Index begin = (item - 1) * block;
        for (Index j = begin; j < std::min(H.cols(), begin + block); ++j) {
            terms(data, j) = column_product(products.WtX, H, j);
            terms(graph, j) = column_product(products.HA, H, j);
            terms(own, j) = H.col(j).template cast<double>().squaredNorm();
            terms(step, j) =
                before == nullptr ? 0.0 : (H.col(j) - before->col(j)).template cast<double>().squaredNorm();
        }
    });
    double with_data = 0.0;
    double with_graph = 0.0;
    double squared_norm_H = 0.0;
    double weighted = 0.0;
    double steps = 0.0;
    for (Index j = 0; j < H.cols(); ++j) {
        with_data += terms(data, j);
        with_graph += terms(graph, j);
        squared_norm_H += terms(own, j);
        weighted += static_cast<double>(products.degree[j]) * terms(own, j);
        steps += terms(step, j);
    }
    Objective result;
    result.fit = penalty.fit * squared_norm_X - 2.0 * with_data + inner_product(products.WtW, gram);
    result.graph = penalty.graph * (weighted - with_graph);
    result.smoothness = penalty.before * steps;
    result.anchor = penalty.anchor * squared_norm_H;
    return result;
}

template <class Real>
Objective objective(const Problem<Real>& problem, const Factors<Real>& factors) {
    const double squared_norm_X = problem.X->squared_norm();
    std::vector<Objective> terms(static_cast<std::size_t>(problem.scales()));
    for_each_with_all(*problem.X, problem.scales(), [&](Index t) {
        DenseMatrix<Real> room;
        const auto products = scale_products(problem, t, factors.basis(t, room), factors.H[t]);
        terms[t] = scale_objective(problem.at(t), squared_norm_X, products, factors.H[t],
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
    template Objective objective(const Problem<Real>&, const Factors<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
