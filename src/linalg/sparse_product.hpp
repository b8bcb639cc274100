#pragma once

#include "linalg/aligned_buffer.hpp"
#include "linalg/gather_columns.hpp"

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace pnmf {

/// M·S for sparse S: each column of the result is a sum of columns of M, d × rows(S), in the order of the
/// entries of S. M is copied once, so that its columns begin at lines of the cache.
template <class Real>
class SparseProduct {
  public:
    template <class Values>
    SparseProduct(const Values& M, const SparseView<Real>& sparse)
        : sparse_(sparse), d_(M.rows()), count_(M.cols()), columns_(M.rows(), M.cols()) {
        parallel_blocks(M.cols(), 1024, [&](Index begin, Index end) {
            for (Index j = begin; j < end; ++j) {
                Eigen::Map<DenseVector<Real>>(columns_.column(j), M.rows()) = M.col(j);
            }
        });
    }

    /// result ← M·S.
    void assign(DenseMatrix<Real>& result) const {
        result.resize(d_, sparse_.cols);
        // Fewer columns at a time where they are few. Each is summed alone, so that no result depends on it.
        const Index block = std::clamp<Index>(sparse_.cols / 128, 8, most_columns);
        parallel_blocks(sparse_.cols, block, [&](Index begin, Index end) {
            result.middleCols(begin, end - begin).setZero();
            add_block(begin, end, result);
        });
    }

  private:
    static constexpr Index most_columns = 256;            ///< that one thread computes at a time
    static constexpr Index cache_bytes = Index{1} << 19U; ///< of M, that stay in a core's own cache

    /// Where M is larger than a cache, a block of columns of S takes its entries from a part of M before any
    /// of them goes on to the next part; the order of the sums stays.
    void add_block(Index begin, Index end, DenseMatrix<Real>& sums) const {
        const Index part =
            std::max<Index>(1, cache_bytes / std::max<Index>(1, d_ * static_cast<Index>(sizeof(Real))));
        std::array<std::int64_t, most_columns> next{};
        std::array<GatherRun<Real>, most_columns> runs{};
        std::copy(sparse_.start.begin() + begin, sparse_.start.begin() + end, next.begin());
        for (Index past = part; past - part < count_; past += part) {
            for (Index j = begin; j < end; ++j) {
                const auto first = next[j - begin];
                auto last = sparse_.start[j + 1];
                if (past < count_) {
                    const auto* const rows = sparse_.row.data();
                    last = std::lower_bound(rows + first, rows + last, past) - rows;
                }
                runs[j - begin] = {sparse_.row.data() + first, sparse_.value.data() + first, last - first,
                                   sums.col(j).data()};
                next[j - begin] = last;
            }
            gather_runs<Real>(columns_.data(), d_, columns_.stride(), count_,
                              std::span(runs.data(), static_cast<std::size_t>(end - begin)));
        }
    }

    SparseView<Real> sparse_;
    Index d_;
    Index count_; ///< columns of M
    LinedColumns<Real> columns_;
};

} // namespace pnmf
