#include "linalg/aligned_room.hpp"
#include "linalg/gather_columns.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

// Rows or columns of a product that one thread computes at a time. Fixed, so that results do not depend on
// the number of threads; large enough that the packing inside the BLAS library pays.
constexpr Index feature_block = 2048;
constexpr Index cell_block = 256;

constexpr Index cache_bytes = Index{1} << 19U; // of M, that stay in a core's own cache

/// Columns of a sparse product that one thread computes at a time: fewer where they are few. Each is summed
/// alone, so that no result depends on it.
Index sparse_block(Index columns) {
    return std::clamp<Index>(columns / 128, 8, cell_block);
}

/// M·S for M d × rows(S): each column of the result is a sum of columns of M in the order of the entries.
/// Where M is larger than a cache, a block of columns of S takes its entries from a part of M before any of
/// them goes on to the next part; the order of the sums stays.
template <class Real, class Values>
DenseMatrix<Real> times_sparse(const Values& M, const SparseView<Real>& sparse) {
    const Index part =
        std::max<Index>(1, cache_bytes / std::max<Index>(1, M.rows() * static_cast<Index>(sizeof(Real))));
    const LinedColumns<Real> columns(M.rows(), M.cols());
    parallel_blocks(M.cols(), 1024, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            Eigen::Map<DenseVector<Real>>(columns.column(j), M.rows()) = M.col(j);
        }
    });
    DenseMatrix<Real> result(M.rows(), sparse.cols);
    parallel_blocks(sparse.cols, sparse_block(sparse.cols), [&](Index begin, Index end) {
        result.middleCols(begin, end - begin).setZero();
        std::array<std::int64_t, cell_block> next{};
        std::array<GatherRun<Real>, cell_block> runs{};
        std::copy(sparse.start.begin() + begin, sparse.start.begin() + end, next.begin());
        for (Index past = part; past - part < M.cols(); past += part) {
            for (Index j = begin; j < end; ++j) {
                const auto first = next[j - begin];
                auto last = sparse.start[j + 1];
                if (past < M.cols()) {
                    const auto* const rows = sparse.row.data();
                    last = std::lower_bound(rows + first, rows + last, past) - rows;
                }
                runs[j - begin] = {sparse.row.data() + first, sparse.value.data() + first, last - first,
                                   result.col(j).data()};
                next[j - begin] = last;
            }
            gather_runs<Real>(columns.data(), M.rows(), columns.stride(), M.cols(),
                              std::span(runs.data(), static_cast<std::size_t>(end - begin)));
        }
    });
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
    constexpr Index block = 1 << 16;
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
    return is_sparse() ? columns().cols : dense().cols();
}

template <RealNumber Real>
std::int64_t DataMatrix<Real>::nonzeros() const {
    return is_sparse() ? columns().nonzeros() : dense().size();
}

template <RealNumber Real>
DenseMatrix<Real> DataMatrix<Real>::times_transposed(const DenseMatrix<Real>& H) const {
    assert(H.cols() == cells());
    if (is_sparse()) {
        return times_sparse<Real>(H, view_of(std::get<Sparse>(data_).rows)).transpose();
    }
    DenseMatrix<Real> result(features(), H.rows());
    parallel_blocks(features(), feature_block, [&](Index begin, Index end) {
        multiply_by_transposed(dense().middleRows(begin, end - begin), H,
                               result.middleRows(begin, end - begin));
    });
    return result;
}

template <RealNumber Real>
DenseMatrix<Real> DataMatrix<Real>::transposed_times(const DenseMatrix<Real>& W) const {
    assert(W.rows() == features());
    if (is_sparse()) {
        return times_sparse<Real>(W.transpose(), columns());
    }
    DenseMatrix<Real> result(W.cols(), cells());
    parallel_blocks(cells(), cell_block, [&](Index begin, Index end) {
        multiply_transposed(W, dense().middleCols(begin, end - begin), result.middleCols(begin, end - begin));
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
    DenseMatrix<Real> stacked(rows_of_all(H), cells());
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
    DenseMatrix<Real> stacked(features(), cols_of_all(W));
    Index first = 0;
    for (const DenseMatrix<Real>& one : W) {
        stacked.middleCols(first, one.cols()) = one;
        first += one.cols();
    }
    const DenseMatrix<Real> products = transposed_times(stacked);
    first = 0;
    for (std::size_t i = 0; i < W.size(); ++i) {
        result[i] = products.middleRows(first, W[i].cols());
        first += W[i].cols();
    }
    return result;
}

template <RealNumber Real>
double DataMatrix<Real>::squared_norm() const {
    if (is_sparse()) {
        return squared_sum(columns().value.data(), static_cast<Index>(columns().value.size()));
    }
    return squared_sum(dense().data(), dense().size());
}

template <RealNumber Real>
Vector DataMatrix<Real>::column_squared_norms() const {
    if (!is_sparse()) {
        return dense().template cast<double>().colwise().squaredNorm().transpose();
    }
    const SparseView<Real> X = columns();
    Vector result(cells());
    for (Index j = 0; j < X.cols; ++j) {
        double sum = 0.0;
        for (auto e = X.start[j]; e < X.start[j + 1]; ++e) {
            const double value = X.value[e];
            sum += value * value;
        }
        result[j] = sum;
    }
    return result;
}

template <RealNumber Real>
double DataMatrix<Real>::mean() const {
    const double entries = static_cast<double>(features()) * static_cast<double>(cells());
    if (!is_sparse()) {
        return dense().template cast<double>().sum() / entries;
    }
    double sum = 0.0;
    for (const Real value : columns().value) {
        sum += static_cast<double>(value);
    }
    return sum / entries;
}

template class DataMatrix<float>;
template class DataMatrix<double>;

} // namespace pnmf
