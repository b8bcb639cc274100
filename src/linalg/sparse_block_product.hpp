#pragma once

#include "cells/cell_sums.hpp"
#include "linalg/aligned_buffer.hpp"
#include "linalg/gather_columns.hpp"
#include "parallel_region.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>
#include <vector>

/// Products of sparse data that are sums over cells: block by block, and blocks added along the tree.
namespace pnmf {

/// Σ_j h_j·x_j over the blocks of a node, p × 1; h(j) is asked for once for each cell, in ascending order. X
/// has the cells of the slab. Entries of a cell are added where they belong, in the order of the cells.
template <class Real, class Factor>
DenseMatrix<Real> sum_of_sparse_cells(const SparseView<Real>& X, const BlockSlab& slab, const BlockNode& node,
                                      const Factor& h) {
    return sum_of_node<DenseMatrix<Real>>(node, pieces_for_threads(1), [&](Index b) {
        DenseMatrix<Real> sum = DenseMatrix<Real>::Zero(X.rows, 1);
        Real* const at = sum.data();
        for (Index j = slab.begin(b); j < slab.end(b); ++j) {
            const Real factor = h(j);
            for (auto e = X.start[j]; e < X.start[j + 1]; ++e) {
                at[X.row[e]] += X.value[e] * factor;
            }
        }
        return sum;
    });
}

/// Memory for parts of a sum (`BlockSum`) that a thread keeps from call to call: what was added to another
/// part is free for the next one. There are never more at a time than the tree of blocks has levels.
template <class Real>
class KeptParts {
  public:
    struct Part {
        std::span<Real> numbers;
        std::vector<Real*>* spare = nullptr;

        Part& operator+=(const Part& other) {
            std::transform(numbers.begin(), numbers.end(), other.numbers.begin(), numbers.begin(),
                           std::plus<>());
            spare->push_back(other.numbers.data());
            return *this;
        }
    };

    /// Numbers of each part; those that were taken before are taken back.
    void resize(Index count) {
        if (count > buffer_of_part_) {
            buffers_.clear();
            buffer_of_part_ = count;
        }
        count_ = count;
        spare_.clear();
        for (std::vector<Real>& buffer : buffers_) {
            spare_.push_back(buffer.data());
        }
    }

    Part take() {
        if (spare_.empty()) {
            spare_.push_back(buffers_.emplace_back(static_cast<std::size_t>(buffer_of_part_)).data());
        }
        Real* const numbers = spare_.back();
        spare_.pop_back();
        return {{numbers, static_cast<std::size_t>(count_)}, &spare_};
    }

  private:
    std::vector<std::vector<Real>> buffers_;
    std::vector<Real*> spare_;
    Index buffer_of_part_ = 0;
    Index count_ = 0;
};

/// Features whose sums one thread makes at a time.
inline constexpr Index features_of_item = 256;

/// H·Xᵀ for the features [begin, end), over the blocks of a node: d × (end − begin).
template <class Real>
DenseMatrix<Real> sum_of_features(const SparseView<Real>& rows, const DenseMatrix<Real>& H,
                                  const BlockSlab& slab, const BlockNode& node, Index begin, Index end) {
    const auto* const cells = rows.row.data();
    std::array<std::int64_t, features_of_item> next{};
    std::array<GatherRun<Real>, features_of_item> runs{};
    for (Index i = begin; i < end; ++i) {
        next[i - begin] =
            std::lower_bound(cells + rows.start[i], cells + rows.start[i + 1], slab.begin(node.first)) -
            cells;
    }
    thread_local LinedColumns<Real> columns;
    columns.resize(H.rows(), std::min(slab.blocks.size, H.cols()));
    thread_local KeptParts<Real> parts;
    parts.resize(H.rows() * (end - begin));
    BlockSum<typename KeptParts<Real>::Part> sum;
    for (Index b = node.first; b < node.past; ++b) {
        const Index count = slab.end(b) - slab.begin(b);
        for (Index j = 0; j < count; ++j) {
            Eigen::Map<DenseVector<Real>>(columns.column(j), H.rows()) = H.col(slab.begin(b) + j);
        }
        const typename KeptParts<Real>::Part part = parts.take();
        std::fill(part.numbers.begin(), part.numbers.end(), Real{0});
        for (Index i = begin; i < end; ++i) {
            const auto first = next[i - begin];
            const auto last = std::lower_bound(cells + first, cells + rows.start[i + 1], slab.end(b)) - cells;
            runs[i - begin] = {cells + first, rows.value.data() + first, last - first,
                               part.numbers.data() + (i - begin) * H.rows()};
            next[i - begin] = last;
        }
        gather_runs<Real>(columns.data(), H.rows(), columns.stride(), count,
                          std::span(runs.data(), static_cast<std::size_t>(end - begin)), slab.begin(b));
        sum.add(b, part);
    }
    return Eigen::Map<const DenseMatrix<Real>>(sum.finish().numbers.data(), H.rows(), end - begin);
}

/// X·Hᵀ over the blocks of a node, p × d. X and H have the cells of the slab. Cost 2d for each entry.
///
/// Threads share out features, and subtrees of the node where features alone are too few pieces of work. No
/// result depends on how many.
template <class Real>
DenseMatrix<Real> sparse_times_transposed(const DataMatrix<Real>& X, const DenseMatrix<Real>& H,
                                          const BlockSlab& slab, const BlockNode& node) {
    if (H.rows() == 1) {
        return sum_of_sparse_cells(X.columns(), slab, node, [&](Index j) { return H(0, j); });
    }
    const SparseView<Real> rows = X.rows();
    const Index runs = (rows.cols + features_of_item - 1) / features_of_item;
    const auto begin = [&](Index run) { return std::min(rows.cols, run * features_of_item); };
    const std::vector<BlockNode> nodes =
        subtrees(node, inside_parallel_body() ? 1 : pieces_for_threads(runs / 2));
    const auto parts = std::ssize(nodes);
    std::vector<DenseMatrix<Real>> sums(static_cast<std::size_t>(runs * parts));
    parallel_for(runs * parts, [&](Index item) {
        const Index run = item % runs;
        sums[item] = sum_of_features(rows, H, slab, nodes[item / runs], begin(run), begin(run + 1));
    });
    DenseMatrix<Real> result(rows.cols, H.rows());
    parallel_for(runs, [&](Index run) {
        BlockSum<DenseMatrix<Real>> sum;
        for (Index i = 0; i < parts; ++i) {
            sum.add(nodes[i].first, std::move(sums[i * runs + run]));
        }
        result.middleRows(begin(run), begin(run + 1) - begin(run)) = sum.finish().transpose();
    });
    return result;
}

/// X·(Xᵀ·y) over the blocks of a node, p × 1 for y p × 1, going through X once.
template <class Real>
DenseMatrix<Real> sparse_normal_times(const SparseView<Real>& X, const DenseMatrix<Real>& y,
                                      const BlockSlab& slab, const BlockNode& node) {
    const Real* const factor = y.data();
    return sum_of_sparse_cells(X, slab, node, [&](Index j) {
        Real sums[4] = {}; // one after the other each would wait for the last
        auto e = X.start[j];
        const auto end = X.start[j + 1];
        for (; e + 4 <= end; e += 4) {
            for (Index lane = 0; lane < 4; ++lane) {
                sums[lane] += X.value[e + lane] * factor[X.row[e + lane]];
            }
        }
        for (; e < end; ++e) {
            sums[0] += X.value[e] * factor[X.row[e]];
        }
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    });
}

} // namespace pnmf
