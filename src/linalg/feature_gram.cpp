#include "linalg/feature_gram.hpp"

#include "cells/cell_sums.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace pnmf {
namespace {

/// Rows of XXᵀ that one thread sums at a time, and how many of them stay in the nearest cache together.
constexpr Index gram_rows_at_once = 32;
constexpr Index gram_rows_together = 8;
/// Cells whose entries stay in the cache while these rows are gone through.
constexpr Index gram_cells_at_once = 64;

/// Rows [begin, end) of XXᵀ over the cells [from, to), from the diagonal on, as columns: p × (end − begin).
template <class Real>
Matrix rows_of_block(const SparseView<Real>& X, Index begin, Index end, Index from, Index to) {
    Matrix sums = Matrix::Zero(X.rows, end - begin);
    const auto* const row = X.row.data();
    const Real* const value = X.value.data();
    std::array<std::int64_t, gram_cells_at_once> next{}; // entry of each cell: entries ascend
    for (Index first = from; first < to; first += gram_cells_at_once) {
        const Index past = std::min(to, first + gram_cells_at_once);
        for (Index j = first; j < past; ++j) {
            next[j - first] = std::lower_bound(row + X.start[j], row + X.start[j + 1], begin) - row;
        }
        for (Index together = begin; together < end; together += gram_rows_together) {
            const Index last = std::min(end, together + gram_rows_together);
            for (Index j = first; j < past; ++j) {
                const auto end_of_cell = X.start[j + 1];
                auto& e = next[j - first];
                for (; e < end_of_cell && row[e] < last; ++e) {
                    double* const sum = sums.col(row[e] - begin).data();
                    const double x = value[e];
                    for (auto other = e; other < end_of_cell; ++other) {
                        sum[row[other]] += x * static_cast<double>(value[other]);
                    }
                }
            }
        }
    }
    return sums;
}

} // namespace

template <class Real>
bool is_cheap_to_form(const DataMatrix<Real>& X) {
    constexpr double products = 400.0; // that take as long as so many additions for each entry
    if (!X.is_sparse() || X.features() > most_formed_features) {
        return false;
    }
    const SparseView<Real> columns = X.columns();
    double additions = 0.0;
    for (Index j = 0; j < columns.cols; ++j) {
        const auto count = static_cast<double>(columns.start[j + 1] - columns.start[j]);
        additions += 0.5 * count * count;
    }
    return sum_of(X.processes(), additions) <= products * static_cast<double>(X.nonzeros());
}

template <class Real>
Matrix feature_gram(const DataMatrix<Real>& X) {
    const Index p = X.features();
    const SparseView<Real> columns = X.columns();
    Matrix gram = sum_over_cells<double>(
        X.processes(), X.cells(), p, p, [&](const BlockSlab& slab, const BlockNode& node) {
            Matrix sums(p, p);
            parallel_blocks(p, gram_rows_at_once, [&](Index begin, Index end) {
                BlockSum<Matrix> sum;
                for (Index b = node.first; b < node.past; ++b) {
                    sum.add(b, rows_of_block(columns, begin, end, slab.begin(b), slab.end(b)));
                }
                sums.middleCols(begin, end - begin) = sum.finish();
            });
            return sums;
        });
    parallel_blocks(p, gram_rows_at_once, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            gram.col(j).head(j) = gram.row(j).head(j).transpose();
        }
    });
    return gram;
}

void multiply_symmetric(const Matrix& M, const double* y, double* out) {
    constexpr Index columns_at_once = 64;
    const Eigen::Map<const Vector> in(y, M.rows());
    parallel_blocks(M.cols(), columns_at_once, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            out[j] = M.col(j).dot(in);
        }
    });
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template bool is_cheap_to_form(const DataMatrix<Real>&);                                                 \
    template Matrix feature_gram(const DataMatrix<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
