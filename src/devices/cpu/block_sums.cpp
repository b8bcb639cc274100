#include "devices/cpu/block_sums.hpp"

#include "cells/cell_sums.hpp"
#include "devices/cpu/gradient_terms.hpp"
#include "linalg/kept_buffer.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>

namespace pnmf {
namespace {

template <class Real>
TermSums<Real> terms_of_block(const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                              const DenseMatrix<Real>* before, Index first, Index count) {
    Matrix rows = Matrix::Zero(H.rows(), 5);
    kernels().of<Real>().term_rows(gradient_terms<Real>({}, products, H, before, nullptr), first, count,
                                   rows.data());
    TermSums<Real> sums;
    sums.with_data = rows.col(0).sum();
    sums.with_graph = rows.col(1).sum();
    sums.squares = rows.col(2).sum();
    sums.weighted = rows.col(3).sum();
    sums.steps = rows.col(4).sum();
    const auto here = H.middleCols(first, count);
    sums.gram.resize(H.rows(), H.rows());
    multiply_by_transposed(here, here, sums.gram);
    return sums;
}

template <class Real>
Movement movement_of_block(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                           const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                           const DenseMatrix<Real>* after, Index first, Index count) {
    const HalfGradient<Real> terms = gradient_terms(penalty, products, H, before, after);
    const Vector curvature = products.WtW.diagonal().template cast<double>();
    Vector moved = Vector::Zero(H.rows());
    Vector size = Vector::Zero(H.rows());
    double rest = penalty.anchor;
    rest += before != nullptr ? penalty.before : 0.0;
    rest += after != nullptr ? penalty.after : 0.0;
    constexpr Index cells_at_once = 256; // whose gradient stays at hand
    thread_local DenseMatrix<Real> gradient;
    widen(gradient, H.rows(), cells_at_once);
    for (Index begin = first; begin < first + count; begin += cells_at_once) {
        const Index cells = std::min(cells_at_once, first + count - begin);
        multiply(products.WtW, H.middleCols(begin, cells), gradient.leftCols(cells));
        kernels().of<Real>().half_gradient(terms, begin, cells, gradient.data());
        kernels().of<Real>().step_lengths(terms, begin, cells, gradient.data(),
                                          {curvature.data(), penalty.graph, rest, moved.data(), size.data()});
    }
    return {moved.sum(), size.sum()};
}

/// The sum of `value(block)` over the blocks of a node, along the tree; threads without work take some.
template <class Value, class ValueOf>
Value sum_over(const BlockNode& node, const ValueOf& value) {
    return sum_of_node<Value>(node, node.past - node.first, value);
}

} // namespace

template <class Real>
DenseMatrix<Real> gram_of_rows(const DenseMatrix<Real>& H, const BlockSlab& slab, const BlockNode& node) {
    return sum_over<DenseMatrix<Real>>(node, [&](Index b) {
        const auto here = H.middleCols(slab.begin(b), slab.end(b) - slab.begin(b));
        DenseMatrix<Real> part(H.rows(), H.rows());
        multiply_by_transposed(here, here, part);
        return part;
    });
}

template <class Real>
TermSums<Real>& TermSums<Real>::operator+=(const TermSums& other) {
    with_data += other.with_data;
    with_graph += other.with_graph;
    weighted += other.weighted;
    squares += other.squares;
    steps += other.steps;
    gram += other.gram;
    return *this;
}

template <class Real>
void TermSums<Real>::put(std::vector<double>& numbers) const {
    numbers.insert(numbers.end(), {with_data, with_graph, weighted, squares, steps});
    numbers.insert(numbers.end(), gram.data(), gram.data() + gram.size());
}

template <class Real>
TermSums<Real> TermSums<Real>::take(const double* numbers, Index rank) {
    TermSums sums{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], {}};
    sums.gram = Eigen::Map<const Matrix>(numbers + 5, rank, rank).template cast<Real>();
    return sums;
}

template <class Real>
TermSums<Real> term_sums(const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                         const DenseMatrix<Real>* before, const BlockSlab& slab, const BlockNode& node) {
    return sum_over<TermSums<Real>>(node, [&](Index b) {
        return terms_of_block(products, H, before, slab.begin(b), slab.end(b) - slab.begin(b));
    });
}

template <class Real>
Objective objective_from(const ScalePenalty& penalty, double fit, const TermSums<Real>& sums) {
    Objective result;
    result.fit = fit;
    result.graph = penalty.graph * (sums.weighted - sums.with_graph);
    result.smoothness = penalty.before * sums.steps;
    result.anchor = penalty.anchor * sums.squares;
    return result;
}

template <class Real>
Movement movement_H(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                    const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                    const DenseMatrix<Real>* after, const BlockSlab& slab, const BlockNode& node) {
    return sum_over<Movement>(node, [&](Index b) {
        return movement_of_block(penalty, products, H, before, after, slab.begin(b),
                                 slab.end(b) - slab.begin(b));
    });
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template DenseMatrix<Real> gram_of_rows(const DenseMatrix<Real>&, const BlockSlab&, const BlockNode&);   \
    template struct TermSums<Real>;                                                                          \
    template TermSums<Real> term_sums(const ScaleProducts<Real>&, const DenseMatrix<Real>&,                  \
                                      const DenseMatrix<Real>*, const BlockSlab&, const BlockNode&);         \
    template Objective objective_from(const ScalePenalty&, double, const TermSums<Real>&);                   \
    template Movement movement_H(const ScalePenalty&, const ScaleProducts<Real>&, const DenseMatrix<Real>&,  \
                                 const DenseMatrix<Real>*, const DenseMatrix<Real>*, const BlockSlab&,       \
                                 const BlockNode&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
