#include "cells/cell_sums.hpp"
#include "linalg/dense_product.hpp"
#include "linalg/sparse_block_product.hpp"
#include "linalg/sparse_product.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

/// M·S for M d × rows(S).
template <class Real, class Values>
DenseMatrix<Real> times_sparse(const Values& M, const SparseView<Real>& sparse) {
    DenseMatrix<Real> result;
    SparseProduct<Real>(M, sparse).assign(result);
    return result;
}

template <class Real>
Index rows_of_all(std::span<const DenseMatrix<Real>> matrices) {
    return std::accumulate(matrices.begin(), matrices.end(), Index{0},
                           [](Index sum, const auto& one) { return sum + one.rows(); });
}

template <class Real>
Index cols_of_all(std::span<const DenseMatrix<Real>> matrices) {
    return std::accumulate(matrices.begin(), matrices.end(), Index{0},
                           [](Index sum, const auto& one) { return sum + one.cols(); });
}

/// Σ of squares, in double, in blocks of fixed size.
template <class Real>
double squared_sum(const Real* values, Index count) {
    constexpr Index block = 1 << 16; // entries that are summed one after the other
    std::vector<double> partial(static_cast<std::size_t>((count + block - 1) / block), 0.0);
    parallel_blocks(count, block, [&](Index begin, Index end) {
        double sum = 0.0;
        for (Index i = begin; i < end; ++i) {
            sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
        }
        partial[static_cast<std::size_t>(begin / block)] = sum;
    });
    double total = 0.0;
    for (const double sum : partial) {
        total += sum;
    }
    return total;
}

/// Of sparse values, one after the other.
template <class Real>
double sum_in_order(const Real* values, Index count) {
    return std::accumulate(values, values + count, 0.0);
}

template <class Real>
double sum_of_values(const Real* values, Index count) {
    return Eigen::Map<const DenseVector<Real>>(values, count).template cast<double>().sum();
}

} // namespace

template <RealNumber Real>
DataMatrix<Real>::DataMatrix(DenseMatrix<Real> dense) : data_(std::move(dense)) {}

template <RealNumber Real>
DataMatrix<Real>::DataMatrix(SparseMatrix<Real> sparse) : data_(Sparse{}) {
    auto& held = std::get<Sparse>(data_);
    held.rows = transpose(sparse);
    held.columns = std::move(sparse);
}

template <RealNumber Real>
DataMatrix<Real>::DataMatrix(DenseView<Real> dense)
    : data_(BorrowedDense{dense.data(), dense.rows(), dense.cols()}) {}

template <RealNumber Real>
DataMatrix<Real>::DataMatrix(SparseView<Real> sparse) : data_(Sparse{sparse, transpose(sparse)}) {}

template <RealNumber Real>
DataMatrix<Real>::DataMatrix(DenseMatrix<Real> dense, const CellRange& range) : DataMatrix(std::move(dense)) {
    keep_range(range);
}

template <RealNumber Real>
DataMatrix<Real>::DataMatrix(DenseView<Real> dense, const CellRange& range) : DataMatrix(dense) {
    keep_range(range);
}

template <RealNumber Real>
DataMatrix<Real>::DataMatrix(SparseMatrix<Real> sparse, const CellRange& range)
    : DataMatrix(std::move(sparse)) {
    keep_range(range);
}

template <RealNumber Real>
DataMatrix<Real>::DataMatrix(SparseView<Real> sparse, const CellRange& range) : DataMatrix(sparse) {
    keep_range(range);
}

template <RealNumber Real>
void DataMatrix<Real>::keep_range(const CellRange& range) {
    const Index here = is_sparse() ? columns().cols : dense().cols();
    require(here == range.count, "a range of {} cells needs as many, got {}", range.count, here);
    Processes& processes = all_processes();
    const CellRange share = local_range(range.all, processes);
    require(range == share, "a process must have the cells of its share, {} from cell {} on, got {} from {}",
            share.count, share.first + 1, range.count, range.first + 1);
    local_ = Local{.range = range, .processes = &processes, .all_entries = features() * range.all};
    if (is_sparse()) {
        local_->all_entries = 0;
        for (const std::int64_t entries : gather_one(processes, columns().nonzeros())) {
            local_->all_entries += entries;
        }
    }
    local_->squared_norm = sum_over_blocks(squared_sum<Real>);
}

template <RealNumber Real>
double DataMatrix<Real>::sum_over_blocks(double (*of)(const Real*, Index)) const {
    const Real* const values = is_sparse() ? columns().value.data() : dense().data();
    const auto place = [&](Index cell) -> Index {
        return is_sparse() ? columns().start[cell] : cell * features();
    };
    const Matrix sum =
        sum_over_cells<double>(processes(), cells(), 1, 1, [&](const BlockSlab& slab, const BlockNode& node) {
            const double of_node = sum_of_node<double>(node, node.past - node.first, [&](Index b) {
                const Index first = place(slab.begin(b));
                return of(values + first, place(slab.end(b)) - first);
            });
            return Matrix::Constant(1, 1, of_node).eval();
        });
    return sum(0, 0);
}

template <RealNumber Real>
CellRange DataMatrix<Real>::local() const {
    return local_ ? local_->range : CellRange{0, cells(), cells()};
}

template <RealNumber Real>
Processes& DataMatrix<Real>::processes() const {
    if (has_all_cells()) {
        return one_process();
    }
    require(&all_processes() == local_->processes,
            "what is over all cells must be asked for by every process");
    return *local_->processes;
}

template <RealNumber Real>
bool DataMatrix<Real>::is_sparse() const {
    return std::holds_alternative<Sparse>(data_);
}

template <RealNumber Real>
DenseView<Real> DataMatrix<Real>::dense() const {
    assert(!is_sparse());
    if (const auto* owned = std::get_if<DenseMatrix<Real>>(&data_)) {
        return view_of(*owned);
    }
    const auto& borrowed = std::get<BorrowedDense>(data_);
    return DenseView<Real>(borrowed.values, borrowed.rows, borrowed.cols);
}

template <RealNumber Real>
SparseView<Real> DataMatrix<Real>::columns() const {
    assert(is_sparse());
    const auto& held = std::get<Sparse>(data_).columns;
    if (const auto* owned = std::get_if<SparseMatrix<Real>>(&held)) {
        return view_of(*owned);
    }
    return std::get<SparseView<Real>>(held);
}

template <RealNumber Real>
SparseView<Real> DataMatrix<Real>::rows() const {
    assert(is_sparse());
    return view_of(std::get<Sparse>(data_).rows);
}

template <RealNumber Real>
Index DataMatrix<Real>::features() const {
    return is_sparse() ? columns().rows : dense().rows();
}

template <RealNumber Real>
Index DataMatrix<Real>::cells() const {
    if (local_) {
        return local_->range.all;
    }
    return is_sparse() ? columns().cols : dense().cols();
}

template <RealNumber Real>
std::int64_t DataMatrix<Real>::nonzeros() const {
    if (local_) {
        return local_->all_entries;
    }
    return is_sparse() ? columns().nonzeros() : dense().size();
}

template <RealNumber Real>
DenseMatrix<Real> DataMatrix<Real>::times_transposed(const DenseMatrix<Real>& H) const {
    assert(H.cols() == local().count);
    const Processes& all = local_ ? *local_->processes : one_process();
    const BlockShares shares = share(usual_blocks(cells()), all.count());
    if (is_sparse() && shares.blocks.count() == 1) {
        return times_sparse<Real>(H, rows()).transpose();
    }
    const BlockSlab slab = shares.slab(all.place());
    BlockSum<DenseMatrix<Real>> sum;
    for (const BlockNode& node : shares.nodes_of(all.place())) {
        sum.add(node.first, is_sparse() ? sparse_times_transposed(*this, H, slab, node)
                                        : dense_times_transposed(dense(), H, slab, node));
    }
    return sum.empty() ? DenseMatrix<Real>::Zero(features(), H.rows()).eval() : sum.finish();
}

template <RealNumber Real>
DenseMatrix<Real> DataMatrix<Real>::transposed_times(const DenseMatrix<Real>& W) const {
    assert(W.rows() == features());
    if (is_sparse()) {
        return times_sparse<Real>(W.transpose(), columns());
    }
    return products_side_by_side(std::span(&W, 1));
}

template <RealNumber Real>
DenseMatrix<Real> DataMatrix<Real>::products_side_by_side(std::span<const DenseMatrix<Real>> W) const {
    DenseMatrix<Real> result(cols_of_all(W), local().count);
    // Fixed, so that results do not depend on the number of threads; large enough that the packing inside the
    // BLAS library pays.
    const Index panel = panel_ > 0 ? panel_ : usual_blocks(cells()).panel();
    parallel_blocks(local().count, panel, [&](Index begin, Index end) {
        dense_transposed_times<Real>(W, dense().middleCols(begin, end - begin),
                                     result.middleCols(begin, end - begin));
    });
    return result;
}

template <RealNumber Real>
std::vector<DenseMatrix<Real>>
DataMatrix<Real>::times_transposed(std::span<const DenseMatrix<Real>> H) const {
    std::vector<DenseMatrix<Real>> result(H.size());
    if (is_sparse() || H.size() == 1) {
        std::transform(H.begin(), H.end(), result.begin(),
                       [&](const auto& one) { return times_transposed(one); });
        return result;
    }
    DenseMatrix<Real> stacked(rows_of_all(H), local().count);
    Index first = 0;
    for (const DenseMatrix<Real>& one : H) {
        stacked.middleRows(first, one.rows()) = one;
        first += one.rows();
    }
    const DenseMatrix<Real> products = times_transposed(stacked);
    first = 0;
    for (std::size_t i = 0; i < H.size(); ++i) {
        result[i] = products.middleCols(first, H[i].rows());
        first += H[i].rows();
    }
    return result;
}

template <RealNumber Real>
std::vector<DenseMatrix<Real>>
DataMatrix<Real>::transposed_times(std::span<const DenseMatrix<Real>> W) const {
    std::vector<DenseMatrix<Real>> result(W.size());
    if (is_sparse() || W.size() == 1) {
        std::transform(W.begin(), W.end(), result.begin(),
                       [&](const auto& one) { return transposed_times(one); });
        return result;
    }
    const DenseMatrix<Real> products = products_side_by_side(W);
    Index first = 0;
    for (std::size_t i = 0; i < W.size(); ++i) {
        result[i] = products.middleRows(first, W[i].cols());
        first += W[i].cols();
    }
    return result;
}

template <RealNumber Real>
double DataMatrix<Real>::squared_norm() const {
    if (local_) {
        return local_->squared_norm;
    }
    return sum_over_blocks(squared_sum<Real>);
}

template <RealNumber Real>
double DataMatrix<Real>::mean() const {
    const double entries = static_cast<double>(features()) * static_cast<double>(cells());
    return sum_over_blocks(is_sparse() ? sum_in_order<Real> : sum_of_values<Real>) / entries;
}

template class DataMatrix<float>;
template class DataMatrix<double>;

} // namespace pnmf
