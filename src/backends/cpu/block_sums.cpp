#include "backends/cpu/block_sums.hpp"

#include "linalg/aligned_room.hpp"
#include "linalg/cell_sums.hpp"
#include "linalg/dense_product.hpp"
#include "linalg/gather_columns.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>

namespace pnmf {
namespace {

constexpr Index sparse_features = 256; ///< that one thread computes at a time

/// `rows` are the columns of Xᵀ.
template <class Real>
DenseMatrix<Real> sparse_times_transposed(const SparseView<Real>& rows, const DenseMatrix<Real>& H,
                                          const BlockSlab& slab, const BlockNode& node) {
    DenseMatrix<Real> result(H.rows(), rows.cols);
    const auto* const cells = rows.row.data();
    parallel_blocks(rows.cols, sparse_features, [&](Index begin, Index end) {
        std::array<std::int64_t, sparse_features> next{};
        std::array<GatherRun<Real>, sparse_features> runs{};
        for (Index i = begin; i < end; ++i) {
            next[i - begin] =
                std::lower_bound(cells + rows.start[i], cells + rows.start[i + 1], slab.begin(node.first)) -
                cells;
        }
        const LinedColumns<Real> columns(H.rows(), std::min(slab.blocks.size, H.cols()));
        BlockSum<DenseMatrix<Real>> sum;
        for (Index b = node.first; b < node.past; ++b) {
            const Index count = slab.end(b) - slab.begin(b);
            for (Index j = 0; j < count; ++j) {
                Eigen::Map<DenseVector<Real>>(columns.column(j), H.rows()) = H.col(slab.begin(b) + j);
            }
            DenseMatrix<Real> part = DenseMatrix<Real>::Zero(H.rows(), end - begin);
            for (Index i = begin; i < end; ++i) {
                const auto first = next[i - begin];
                const auto last =
                    std::lower_bound(cells + first, cells + rows.start[i + 1], slab.end(b)) - cells;
                runs[i - begin] = {cells + first, rows.value.data() + first, last - first,
                                   part.col(i - begin).data()};
                next[i - begin] = last;
            }
            gather_runs<Real>(columns.data(), H.rows(), columns.stride(), count,
                              std::span(runs.data(), static_cast<std::size_t>(end - begin)), slab.begin(b));
            sum.add(b, std::move(part));
        }
        result.middleCols(begin, end - begin) = sum.finish();
    });
    return result.transpose();
}

template <class Real>
DenseMatrix<Real> stacked_rows(std::span<const DenseMatrix<Real>> matrices) {
    const Index d = matrices.front().rows();
    DenseMatrix<Real> stacked(d * std::ssize(matrices), matrices.front().cols());
    for (Index i = 0; i < std::ssize(matrices); ++i) {
        stacked.middleRows(i * d, d) = matrices[i];
    }
    return stacked;
}

/// ⟨A, B⟩ over some columns, summed in double, cell after cell.
template <class Columns, class Others>
double inner_product_of(const Columns& A, const Others& B) {
    double sum = 0.0;
    for (Index j = 0; j < A.cols(); ++j) {
        if constexpr (std::is_same_v<typename Columns::Scalar, double>) {
            sum += A.col(j).dot(B.col(j));
        } else {
            sum += A.col(j).template cast<double>().dot(B.col(j).template cast<double>());
        }
    }
    return sum;
}

template <class Real>
TermSums<Real> terms_of_block(const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                              const DenseMatrix<Real>* before, Index first, Index count) {
    const auto here = H.middleCols(first, count);
    TermSums<Real> sums;
    sums.with_data = inner_product_of(products.WtX.middleCols(first, count), here);
    sums.with_graph = inner_product_of(products.HA.middleCols(first, count), here);
    for (Index j = first; j < first + count; ++j) {
        const double column = H.col(j).template cast<double>().squaredNorm();
        sums.squares += column;
        sums.weighted += static_cast<double>(products.degree[j]) * column;
        if (before != nullptr) {
            sums.steps += (H.col(j) - before->col(j)).template cast<double>().squaredNorm();
        }
    }
    sums.gram.resize(H.rows(), H.rows());
    multiply_by_transposed(here, here, sums.gram);
    return sums;
}

template <class Real>
Movement movement_of_block(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                           const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                           const DenseMatrix<Real>* after, Index first, Index count) {
    const auto here = H.middleCols(first, count);
    const auto degree = products.degree.segment(first, count);
    // The half gradient, as `half_gradient_H` has it.
    DenseMatrix<Real> gradient(H.rows(), count);
    multiply(products.WtW, here, gradient);
    gradient -= products.WtX.middleCols(first, count);
    gradient += static_cast<Real>(penalty.graph) *
                (here * degree.asDiagonal() - products.HA.middleCols(first, count));
    gradient += static_cast<Real>(penalty.anchor) * here;
    double smoothness = 0.0;
    if (before != nullptr) {
        gradient += static_cast<Real>(penalty.before) * (here - before->middleCols(first, count));
        smoothness += penalty.before;
    }
    if (after != nullptr) {
        gradient += static_cast<Real>(penalty.after) * (here - after->middleCols(first, count));
        smoothness += penalty.after;
    }
    Movement result;
    for (Index j = 0; j < count; ++j) {
        const double shared = penalty.graph * static_cast<double>(degree[j]) + smoothness + penalty.anchor;
        for (Index k = 0; k < H.rows(); ++k) {
            const double q = static_cast<double>(products.WtW(k, k)) + shared;
            const double h = here(k, j);
            if (q > 0.0) {
                const double step = h - std::max(0.0, h - static_cast<double>(gradient(k, j)) / q);
                result.moved += q * step * step;
                result.size += q * h * h;
            }
        }
    }
    return result;
}

/// The sum of `value(block)` over the blocks of a node, along the tree; threads without work take some.
template <class Value, class ValueOf>
Value sum_over(const BlockNode& node, const ValueOf& value) {
    return sum_of_node<Value>(node, node.past - node.first, value);
}

} // namespace

template <class Real>
std::vector<DenseMatrix<Real>> times_transposed(const DataMatrix<Real>& X,
                                                std::span<const DenseMatrix<Real>> H, const BlockSlab& slab,
                                                const BlockNode& node) {
    std::vector<DenseMatrix<Real>> result;
    if (X.is_sparse() && slab.blocks.count() == 1) {
        return X.times_transposed(H);
    }
    if (X.is_sparse()) {
        for (const DenseMatrix<Real>& one : H) {
            result.push_back(sparse_times_transposed(X.rows(), one, slab, node));
        }
        return result;
    }
    const DenseMatrix<Real> products =
        dense_times_transposed(X.dense(), H.size() == 1 ? H.front() : stacked_rows(H), slab, node);
    const Index d = H.front().rows();
    for (Index i = 0; i < std::ssize(H); ++i) {
        result.emplace_back(products.middleCols(i * d, d));
    }
    return result;
}

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
Objective objective_from(const ScalePenalty& penalty, double squared_norm_X, const DenseMatrix<Real>& WtW,
                         const TermSums<Real>& sums) {
    Objective result;
    result.fit = penalty.fit * squared_norm_X - 2.0 * sums.with_data + inner_product(WtW, sums.gram);
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
    template std::vector<DenseMatrix<Real>> times_transposed(                                                \
        const DataMatrix<Real>&, std::span<const DenseMatrix<Real>>, const BlockSlab&, const BlockNode&);    \
    template DenseMatrix<Real> gram_of_rows(const DenseMatrix<Real>&, const BlockSlab&, const BlockNode&);   \
    template struct TermSums<Real>;                                                                          \
    template TermSums<Real> term_sums(const ScaleProducts<Real>&, const DenseMatrix<Real>&,                  \
                                      const DenseMatrix<Real>*, const BlockSlab&, const BlockNode&);         \
    template Objective objective_from(const ScalePenalty&, double, const DenseMatrix<Real>&,                 \
                                      const TermSums<Real>&);                                                \
    template Movement movement_H(const ScalePenalty&, const ScaleProducts<Real>&, const DenseMatrix<Real>&,  \
                                 const DenseMatrix<Real>*, const DenseMatrix<Real>*, const BlockSlab&,       \
                                 const BlockNode&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
