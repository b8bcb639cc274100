#include <pnmf/linalg/gemm.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>

namespace pnmf {

Objective operator+(const Objective& a, const Objective& b) {
    return {a.fit + b.fit, a.graph + b.graph, a.smoothness + b.smoothness, a.anchor + b.anchor};
}

template <class Real>
double inner_product(const DenseMatrix<Real>& A, const DenseMatrix<Real>& B) {
    double sum = 0.0;
    for (Index j = 0; j < A.cols(); ++j) {
        if constexpr (std::is_same_v<Real, double>) {
            sum += A.col(j).dot(B.col(j));
        } else {
            sum += A.col(j).template cast<double>().dot(B.col(j).template cast<double>());
        }
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
    ScaleProducts<Real> products{problem.X->transposed_times(W), gram_of_columns(W),
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
    Objective result;
    result.fit = penalty.fit * squared_norm_X - 2.0 * inner_product(products.WtX, H) +
                 inner_product(products.WtW, gram_of_rows(H));
    double squared_norm_H = 0.0;
    double weighted = 0.0;
    double steps = 0.0;
    for (Index j = 0; j < H.cols(); ++j) {
        const double column = H.col(j).template cast<double>().squaredNorm();
        squared_norm_H += column;
        weighted += static_cast<double>(products.degree[j]) * column;
        if (before != nullptr) {
            steps += (H.col(j) - before->col(j)).template cast<double>().squaredNorm();
        }
    }
    result.graph = penalty.graph * (weighted - inner_product(products.HA, H));
    result.smoothness = penalty.before * steps;
    result.anchor = penalty.anchor * squared_norm_H;
    return result;
}

template <class Real>
Objective objective(const Problem<Real>& problem, const Factors<Real>& factors) {
    const double squared_norm_X = problem.X->squared_norm();
    std::vector<Objective> terms(static_cast<std::size_t>(problem.scales()));
    parallel_for(problem.scales(), [&](Index t) {
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
