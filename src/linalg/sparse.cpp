#include "linalg/all_cells.hpp"
#include "linalg/large_pages.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

constexpr std::int64_t few_entries = 1 << 17; // not worth another thread

/// Bounds of runs of columns with about as many entries each, one for every thread up to sixteen; fewer when
/// they would have less than `least`. Every entry has one place, so that the result does not depend on them.
std::vector<Index> even_parts(std::span<const std::int64_t> start, std::int64_t least) {
    const std::int64_t entries = start.back();
    const std::int64_t parts = std::clamp<std::int64_t>(entries / least, 1, std::min(thread_count(), 16));
    std::vector<Index> bounds{0};
    for (std::int64_t k = 1; k < parts; ++k) {
        const auto at = std::lower_bound(start.begin(), start.end(), k * entries / parts);
        bounds.push_back(std::max(bounds.back(), Index{at - start.begin()}));
    }
    bounds.push_back(static_cast<Index>(start.size()) - 1);
    return bounds;
}

/// How many entries every row has in each part of the columns.
struct RowCounts {
    std::vector<Index> part; ///< bounds
    std::vector<std::vector<std::int64_t>> counts;
    bool ascending = true; ///< rows, in every column
};

template <class Real>
RowCounts count_rows(const SparseView<Real>& matrix) {
    RowCounts result;
    result.part = even_parts(matrix.start, few_entries + matrix.rows);
    result.counts.resize(result.part.size() - 1);
    std::atomic<bool> ascending = true;
    parallel_for(std::ssize(result.counts), [&](Index k) {
        std::vector<std::int64_t>& counts = result.counts[k];
        counts.assign(static_cast<std::size_t>(matrix.rows), 0);
        bool falls = false;
        for (Index j = result.part[k]; j < result.part[k + 1]; ++j) {
            std::int32_t before = 0;
            for (auto e = matrix.start[j]; e < matrix.start[j + 1]; ++e) {
                ++counts[matrix.row[e]];
                falls |= matrix.row[e] < before;
                before = matrix.row[e];
            }
        }
        if (falls) {
            ascending = false;
        }
    });
    result.ascending = ascending;
    return result;
}

/// Moves entries to their places in the transpose, whose offsets are known: each part of the columns learns
/// where in each row its entries begin.
template <class Real>
void move_one_by_one(const SparseView<Real>& matrix, RowCounts& rows, SparseMatrix<Real>& result) {
    for (Index i = 0; i < matrix.rows; ++i) {
        std::int64_t place = result.start[i];
        for (std::vector<std::int64_t>& begin : rows.counts) {
            place += std::exchange(begin[i], place);
        }
    }
    parallel_for(std::ssize(rows.counts), [&](Index k) {
        for (Index j = rows.part[k]; j < rows.part[k + 1]; ++j) {
            for (auto e = matrix.start[j]; e < matrix.start[j + 1]; ++e) {
                const auto to = rows.counts[k][matrix.row[e]]++;
                result.row[to] = static_cast<std::int32_t>(j);
                result.value[to] = matrix.value[e];
            }
        }
    });
}

/// The same where rows ascend in every column. A band of rows is a run of each column then: narrow bands keep
/// the places that are written to at hand, long runs are read quickly.
template <class Real>
void move_by_bands(const SparseView<Real>& matrix, SparseMatrix<Real>& result) {
    constexpr Index narrow = 1024;
    constexpr double run = 40.0;
    const double filled = static_cast<double>(matrix.nonzeros()) /
                          (static_cast<double>(matrix.rows) * static_cast<double>(matrix.cols));
    const auto band = static_cast<Index>(
        std::min(std::max<double>(narrow, run / filled), static_cast<double>(matrix.rows)));
    const std::vector<Index> part = even_parts(result.start, few_entries + matrix.cols);
    parallel_for(std::ssize(part) - 1, [&](Index k) {
        std::vector<std::int64_t> next(matrix.start.begin(), matrix.start.end() - 1); // of every column
        if (k > 0) {
            for (Index j = 0; j < matrix.cols; ++j) {
                const auto entries = matrix.row.begin();
                next[j] =
                    std::lower_bound(entries + matrix.start[j], entries + matrix.start[j + 1], part[k]) -
                    entries;
            }
        }
        std::vector<std::int64_t> place(result.start.begin() + part[k], result.start.begin() + part[k + 1]);
        for (Index first = part[k]; first < part[k + 1]; first += band) {
            const Index last = std::min(first + band, part[k + 1]);
            for (Index j = 0; j < matrix.cols; ++j) {
                std::int64_t e = next[j];
                for (; e < matrix.start[j + 1] && matrix.row[e] < last; ++e) {
                    const auto to = place[matrix.row[e] - part[k]]++;
                    result.row[to] = static_cast<std::int32_t>(j);
                    result.value[to] = matrix.value[e];
                }
                next[j] = e;
            }
        }
    });
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
    resize_on_large_pages(result.row, matrix.row.size());
    resize_on_large_pages(result.value, matrix.value.size());
    RowCounts rows = count_rows(matrix);
    for (Index i = 0; i < matrix.rows; ++i) {
        result.start[i + 1] = result.start[i];
        for (const std::vector<std::int64_t>& counts : rows.counts) {
            result.start[i + 1] += counts[i];
        }
    }
    if (rows.ascending && matrix.nonzeros() > 0) {
        move_by_bands(matrix, result);
    } else {
        move_one_by_one(matrix, rows, result);
    }
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
    const auto ascend = [&](Index j) {
        std::int32_t before = -1;
        bool right = true;
        for (auto e = matrix.start[j]; e < matrix.start[j + 1]; ++e) {
            right = right && matrix.row[e] > before && matrix.row[e] < matrix.rows;
            before = matrix.row[e];
        }
        return right;
    };
    if (all_cells(matrix.cols, ascend)) {
        return;
    }
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
