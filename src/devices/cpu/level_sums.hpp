#pragma once

#include "devices/cpu/component_shifts.hpp"
#include "devices/cpu/gradient_terms.hpp"
#include "devices/cpu/wide_sums.hpp"
#include "linalg/arrays_on_disk.hpp"
#include "linalg/kept_buffer.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <limits>

/// The sums over components that shifts begin with.
namespace pnmf {

inline constexpr Index cells_at_once = 512; ///< whose gradient stays at hand

/// Half gradients and least entries, of narrow components whole, of wide ones block by block. Several threads
/// may add blocks: a narrow component and an entry of a wide one belong to one block each.
template <class Real>
class LevelSums {
  public:
    LevelSums(const ScalePenalty& penalty, const ShiftForest& forest, const ScaleProducts<Real>& products,
              const std::vector<DenseMatrix<Real>>& H, Index t, ShiftBuffer::Level& sums)
        : level_(forest[t]), slab_(forest.slab()), products_(products), H_(H[t]),
          gradient_of_(gradient_terms(penalty, products, H[t], scale_before(H, t), scale_after(H, t))),
          sums_(sums), wide_(Matrix::Zero(H_.rows(), std::ssize(level_.block))),
          wide_least_(Matrix::Constant(H_.rows(), std::ssize(level_.block),
                                       std::numeric_limits<double>::infinity())) {
        gradient_of_.HA = nullptr; // the graph term sums to zero over a component
        resize_on_disk(sums.gradient, level_.count(), H_.rows());
        resize_on_disk(sums.least, level_.count(), H_.rows());
        resize_on_disk(sums.shift, level_.count(), H_.rows());
    }

    void add_block(Index block) {
        const Index narrow = level_.first_narrow[block - slab_.first];
        const Index count = level_.first_narrow[block - slab_.first + 1] - narrow;
        sums_.gradient.middleRows(narrow, count).setZero();
        sums_.least.middleRows(narrow, count).setConstant(std::numeric_limits<double>::infinity());
        const Index end = slab_.end(block);
        thread_local DenseMatrix<Real> buffer;
        widen(buffer, H_.rows(), cells_at_once);
        for (Index first = slab_.begin(block); first < end; first += cells_at_once) {
            const Index cells = std::min(cells_at_once, end - first);
            find_gradient(first, cells, buffer);
            add_cells(block, first, cells, buffer);
        }
    }

    /// Half gradients and least entries of the wide components, a column for each block that has cells of
    /// them.
    const Matrix& wide() const { return wide_; }
    const Matrix& wide_least() const { return wide_least_; }

  private:
    void find_gradient(Index first, Index count, DenseMatrix<Real>& buffer) const {
        multiply(products_.WtW, H_.middleCols(first, count), buffer.leftCols(count));
        kernels().of<Real>().half_gradient(gradient_of_, first, count, buffer.data());
    }

    void add_cells(Index block, Index first, Index count, const DenseMatrix<Real>& gradient) {
        std::array<std::int32_t, cells_at_once>
            place{}; // a narrow component, or −1 − the entry of a wide one
        for (Index j = 0; j < count; ++j) {
            const std::int32_t c = level_.component[first + j];
            place[j] = c < level_.narrow ? c : -1 - entry_of(c, block);
        }
        kernels().of<Real>().add_to_components({.cells = count,
                                                .rank = H_.rows(),
                                                .place = place.data(),
                                                .gradient = gradient.data(),
                                                .H = H_.data() + first * H_.rows(),
                                                .sums = sums_.gradient.data(),
                                                .least = sums_.least.data(),
                                                .stride = sums_.gradient.rows(),
                                                .wide = wide_.data(),
                                                .wide_least = wide_least_.data()});
    }

    std::int32_t entry_of(std::int32_t component, Index block) const {
        const auto blocks = level_.block.begin();
        const Index w = component - level_.narrow;
        return static_cast<std::int32_t>(
            std::lower_bound(blocks + level_.first_entry[w], blocks + level_.first_entry[w + 1], block) -
            blocks);
    }

    const ShiftForest::Level& level_;
    BlockSlab slab_;
    const ScaleProducts<Real>& products_;
    const DenseMatrix<Real>& H_;
    HalfGradient<Real> gradient_of_;
    ShiftBuffer::Level& sums_;
    Matrix wide_;
    Matrix wide_least_;
};

/// `wide` has half gradients and least entries of the wide components' entries on this process: exchanged,
/// and put into `sums`. `d` rows of H.
inline void join_wide(const ShiftForest& forest, const FrozenScales& frozen, Index d, WideSums& wide,
                      std::vector<ShiftBuffer::Level>& sums) {
    if (!forest.has_wide()) {
        return;
    }
    wide.exchange();
    const std::vector<Index> moving = moving_scales(frozen, forest.scales());
    parallel_for(std::ssize(moving), [&](Index i) {
        const Index t = moving[i];
        wide.sums<SumAndLeast>(t, [&](Index w, const double* row) {
            for (Index k = 0; k < d; ++k) {
                sums[t].gradient(forest[t].narrow + w, k) = row[k];
                sums[t].least(forest[t].narrow + w, k) = row[d + k];
            }
        });
    });
}

/// Fills `sums` with those of all scales and processes. A frozen scale gets no sums, and shifts of zero.
template <class Real>
void sum_levels(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                const std::vector<ScaleProducts<Real>>& products, const std::vector<DenseMatrix<Real>>& H,
                std::vector<ShiftBuffer::Level>& sums, Processes& processes, const FrozenScales& frozen) {
    const Index d = H.front().rows();
    const BlockSlab slab = forest.slab();
    WideSums wide(forest, processes, 2 * d);
    parallel_for(forest.scales(), [&](Index t) {
        if (is_frozen(frozen, t)) {
            resize_on_disk(sums[t].shift, forest[t].count(), d);
            sums[t].shift.setZero();
            return;
        }
        LevelSums<Real> level(penalties[t], forest, products[t], H, t, sums[t]);
        parallel_for(slab.past - slab.first, [&](Index b) { level.add_block(slab.first + b); });
        wide.fill<SumAndLeast>(t, [&](Index entry, double* row) {
            for (Index k = 0; k < d; ++k) {
                row[k] = level.wide()(k, entry);
                row[d + k] = level.wide_least()(k, entry);
            }
        });
    });
    join_wide(forest, frozen, d, wide, sums);
}

} // namespace pnmf
