#include <pnmf/error.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/linalg/views.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

/// Bounds of at most eight runs of columns with about as many entries each; one run when there are few.
template <class Real>
std::vector<Index> parts_of_columns(const SparseView<Real>& matrix) {
    constexpr std::int64_t few = 1 << 17; // and counting every row for each part should cost less than moving
    const std::int64_t entries = matrix.start[matrix.cols];
    const std::int64_t parts = std::clamp<std::int64_t>(entries / (few + matrix.rows), 1, 8);
    std::vector<Index> bounds{0};
    for (std::int64_t k = 1; k < parts; ++k) {
        const auto at = std::lower_bound(matrix.start.begin(), matrix.start.end(), k * entries / parts);
        bounds.push_back(std::max(bounds.back(), Index{at - matrix.start.begin()}));
    }
    bounds.push_back(matrix.cols);
    return bounds;
}

} // namespace

template <class Real>
SparseMatrix<Real> transpose(const SparseView<Real>& matrix) {
    require(matrix.cols <= std::numeric_limits<std::int32_t>::max(),
            "a sparse matrix can be transposed up to 2147483647 columns, got {}", matrix.cols);
    SparseMatrix<Real> result;
    result.rows = matrix.cols;
    result.cols = matrix.rows;
    result.start.assign(static_cast<std::size_t>(matrix.rows) + 1, 0);
    result.row.resize(matrix.row.size());
    result.value.resize(matrix.value.size());

    // Each part of the columns counts its entries of every row, learns where in each row they begin, and
    // moves them there: a counting sort on every thread, with one result.
    const std::vector<Index> part = parts_of_columns(matrix);
    const auto parts = static_cast<Index>(part.size()) - 1;
    std::vector<std::vector<std::int64_t>> next(static_cast<std::size_t>(parts));
    parallel_for(parts, [&](Index k) {
        next[k].assign(static_cast<std::size_t>(matrix.rows), 0);
        for (auto e = matrix.start[part[k]]; e < matrix.start[part[k + 1]]; ++e) {
            ++next[k][matrix.row[e]];
        }
    });
    std::int64_t place = 0;
    for (Index i = 0; i < matrix.rows; ++i) {
        for (std::vector<std::int64_t>& begin : next) {
            place += std::exchange(begin[i], place);
        }
        result.start[i + 1] = place;
    }
    parallel_for(parts, [&](Index k) {
        for (Index j = part[k]; j < part[k + 1]; ++j) {
            for (auto e = matrix.start[j]; e < matrix.start[j + 1]; ++e) {
                const auto to = next[k][matrix.row[e]]++;
                result.row[to] = static_cast<std::int32_t>(j);
                result.value[to] = matrix.value[e];
            }
        }
    });
    return result;
}

template <class Real>
SparseMatrix<Real> transpose(const SparseMatrix<Real>& matrix) {
    return transpose(view_of(matrix));
}

template <class Real>
SparseMatrix<Real> to_columns(Index rows, Index cols, const Triplets<Real>& triplets) {
    // Two stable counting sorts: by row, then (as a transpose) by column.
    SparseMatrix<Real> by_row;
    by_row.rows = cols;
    by_row.cols = rows;
    by_row.start.assign(static_cast<std::size_t>(rows) + 1, 0);
    by_row.row.resize(triplets.row.size());
    by_row.value.resize(triplets.row.size());
    for (const std::int32_t i : triplets.row) {
        ++by_row.start[static_cast<std::size_t>(i) + 1];
    }
    std::partial_sum(by_row.start.begin(), by_row.start.end(), by_row.start.begin());
    std::vector<std::int64_t> next(by_row.start.begin(), by_row.start.end() - 1);
    for (std::size_t e = 0; e < triplets.row.size(); ++e) {
        const auto place = next[triplets.row[e]]++;
        by_row.row[place] = triplets.col[e];
        by_row.value[place] = triplets.value[e];
    }
    SparseMatrix<Real> result = transpose(by_row);

    // Equal places now stand beside one another.
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    for (Index j = 0; j < cols; ++j) {
        const std::int64_t end = result.start[j + 1];
        const std::int64_t first = kept;
        for (std::int64_t e = begin; e < end; ++e) {
            if (kept > first && result.row[kept - 1] == result.row[e]) {
                result.value[kept - 1] += result.value[e];
            } else {
                result.row[kept] = result.row[e];
                result.value[kept] = result.value[e];
                ++kept;
            }
        }
        begin = end;
        result.start[j + 1] = kept;
    }
    result.row.resize(kept);
    result.value.resize(kept);
    return result;
}

template <class Real>
DenseMatrix<Real> to_dense(const SparseView<Real>& matrix) {
    DenseMatrix<Real> result = DenseMatrix<Real>::Zero(matrix.rows, matrix.cols);
    for (Index j = 0; j < matrix.cols; ++j) {
        for (auto e = matrix.start[j]; e < matrix.start[j + 1]; ++e) {
            result(matrix.row[e], j) = matrix.value[e];
        }
    }
    return result;
}

template <class Real>
DenseMatrix<Real> to_dense(const SparseMatrix<Real>& matrix) {
    return to_dense(view_of(matrix));
}

template <class Real>
void check_structure(const SparseView<Real>& matrix) {
    require(matrix.rows >= 0 && matrix.cols >= 0, "a sparse matrix has the shape {} x {}", matrix.rows,
            matrix.cols);
    require(matrix.rows <= std::numeric_limits<std::int32_t>::max(),
            "a sparse matrix can have up to 2147483647 rows, got {}", matrix.rows);
    require(matrix.start.size() == static_cast<std::size_t>(matrix.cols) + 1,
            "a sparse matrix of {} columns needs {} offsets, got {}", matrix.cols, matrix.cols + 1,
            matrix.start.size());
    require(matrix.start.front() == 0, "the first offset of a sparse matrix must be 0, got {}",
            matrix.start.front());
    for (Index j = 0; j < matrix.cols; ++j) {
        require(matrix.start[j] <= matrix.start[j + 1], "offsets of a sparse matrix fall at column {}",
                j + 1);
    }
    const auto entries = static_cast<std::size_t>(matrix.start.back());
    require(matrix.row.size() == entries && matrix.value.size() == entries,
            "a sparse matrix announces {} entries and has {} rows and {} values", entries, matrix.row.size(),
            matrix.value.size());
    for (Index j = 0; j < matrix.cols; ++j) {
        for (auto e = matrix.start[j]; e < matrix.start[j + 1]; ++e) {
            const std::int32_t i = matrix.row[e];
            require(i >= 0 && i < matrix.rows, "column {} of a sparse matrix names row {}, but there are {}",
                    j + 1, std::int64_t{i} + 1, matrix.rows);
            require(e == matrix.start[j] || matrix.row[e - 1] < i,
                    "column {} of a sparse matrix does not list its rows in ascending order", j + 1);
        }
    }
}

template <class Real>
void check_structure(const SparseMatrix<Real>& matrix) {
    check_structure(view_of(matrix));
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template SparseMatrix<Real> transpose(const SparseMatrix<Real>&);                                        \
    template SparseMatrix<Real> to_columns(Index, Index, const Triplets<Real>&);                             \
    template DenseMatrix<Real> to_dense(const SparseMatrix<Real>&);                                          \
    template void check_structure(const SparseMatrix<Real>&);                                                \
    template SparseMatrix<Real> transpose(const SparseView<Real>&);                                          \
    template DenseMatrix<Real> to_dense(const SparseView<Real>&);                                            \
    template void check_structure(const SparseView<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
