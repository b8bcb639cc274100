#pragma once

#include "devices/cpu/component_shifts.hpp"
#include "devices/cpu/wide_sums.hpp"
#include "linalg/aligned_buffer.hpp"
#include "linalg/kernels/kernels.hpp"
#include "parallel_region.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <vector>

namespace pnmf {

/// The forest's quadratic for one row of H after another, and its minimiser. Components of frozen scales do
/// not shift: they are visited only where the distance to a shift at the next scale counts.
///
/// Row k needs S + |C| Σ_{l<k} (WᵀW)_kl a_l, the sums S after the rows before it have moved. How far row
/// k − 1 has moved depends on its best length, which all processes find together. So as not to wait for it,
/// the elimination of row k goes ahead with right sides that are linear in this length, right + length·slope,
/// and the length travels together with the sums over wide components: one exchange for each row. Between two
/// exchanges each block ends row k and begins row k + 1 without the others.
template <class Real>
class RowShift {
  public:
    RowShift(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
             const std::vector<ScaleProducts<Real>>& products, std::vector<ShiftBuffer::Level>& sums,
             Processes& processes, const FrozenScales& frozen, NarrowShifts* on_device)
        : penalties_(penalties), forest_(forest), products_(products), sums_(sums), processes_(processes),
          frozen_(frozen), moving_(moving_scales(frozen, forest.scales())),
          rows_(products.front().WtW.rows()), wide_(forest, processes, 3), on_device_(on_device),
          along_blocks_(static_cast<std::size_t>(blocks() * forest.scales())),
          along_wide_(static_cast<std::size_t>(forest.scales())),
          handed_(static_cast<std::size_t>(forest.scales())) {
        for (const Index t : moving_) {
            ShiftBuffer::Level& level = sums_[t];
            level.moved.resize(forest_[t].count(), rows_at_once);
            level.inverse.resize(forest_[t].count());
            level.right.resize(forest_[t].count());
            level.slope.resize(forest_[t].count());
            handed_[t].resize(forest_[t].block.size());
        }
        for (Index part = 0; part <= blocks(); ++part) {
            largest_.push_back(largest(part));
            buffers_.emplace_back(3 * largest_.back());
        }
    }

    void solve() {
        double length = 1.0;
        begin_row(0);
        for (Index k = 0; k < rows_; ++k) {
            const bool lengths_travel = k > 0 && on_device_ == nullptr;
            exchange(lengths_travel);
            length = lengths_travel ? best_length([&](int r) { return wide_.beside(r); }) : 1.0;
            eliminate_wide(k);
            end_part(k, blocks(), length);
            if (on_device_ != nullptr) {
                end_on_device(k);
                begin_row(k + 1);
            } else {
                end_and_begin(k, length);
            }
        }
        if (on_device_ == nullptr) {
            shorten(rows_ - 1, shared_length());
        }
    }

  private:
    static constexpr Index rows_at_once = 8;
    static constexpr Index few_blocks = 4; ///< fewer keep too few threads busy

    /// Components that stand side by side.
    struct Range {
        Index begin = 0;
        Index end = 0;

        Index size() const { return end - begin; }
    };

    struct Handed {
        double pivot = 0.0;
        double right = 0.0;
        double slope = 0.0;
    };

    Index blocks() const { return forest_.slab().past - forest_.slab().first; }
    /// Where there are few blocks, threads share out the scales as far as they can. Blocks are better shared
    /// out: scales have very different numbers of components.
    bool by_scales() const { return blocks() < few_blocks; }

    /// Part b: the narrow components of block b. What is inside them is narrow and of the same block, so that
    /// blocks are solved without one another. The last part: all wide components.
    Range range(Index t, Index part) const {
        if (part == blocks()) {
            return {forest_[t].narrow, forest_[t].count()};
        }
        return {forest_[t].first_narrow[part], forest_[t].first_narrow[part + 1]};
    }

    double gram(Index t, Index k, Index l) const { return static_cast<double>(products_[t].WtW(k, l)); }

    ShiftLevel level_of(Index t, Index k, const Range& range) {
        ShiftBuffer::Level& sums = sums_[t];
        return {.count = range.size(),
                .size = forest_[t].size.data() + range.begin,
                .own = gram(t, k, k) + penalties_[t].anchor,
                .after = penalties_[t].after,
                .last_factor = k > 0 ? gram(t, k - 1, k) : 0.0,
                .gradient = sums.gradient.col(k).data() + range.begin,
                .least = sums.least.col(k).data() + range.begin,
                .shift = sums.shift.col(k).data() + range.begin,
                .last = k > 0 ? sums.shift.col(k - 1).data() + range.begin : nullptr,
                .inverse = sums.inverse.data() + range.begin,
                .right = sums.right.data() + range.begin,
                .slope = sums.slope.data() + range.begin};
    }

    /// How far the rows before k − 1 have moved row k: Σ_{l<k−1} (WᵀW)_kl a_l. The first row of some asks for
    /// all of them, as each a_l is then read once.
    void find_moves(Index t, Index k, const Range& range) {
        const Index first = k / rows_at_once * rows_at_once;
        const Index outputs = k == first ? std::min(rows_at_once, rows_ - first) : 1;
        const Index first_column = k == first ? 0 : std::max<Index>(0, first - 1);
        const Index columns = std::max<Index>(0, (k == first ? first : k) - 1 - first_column);
        thread_local std::vector<double> factors; // threads that ask for memory wait for each other
        factors.resize(static_cast<std::size_t>(outputs * columns));
        for (Index i = 0; i < outputs; ++i) {
            for (Index l = 0; l < columns; ++l) {
                factors[i * columns + l] = gram(t, first_column + l, k + i);
            }
        }
        auto& moved = sums_[t].moved;
        if (k == first) {
            moved.middleRows(range.begin, range.size()).leftCols(outputs).setZero();
        }
        const Matrix& shift = sums_[t].shift;
        kernels().add_columns({.count = range.size(),
                               .column = shift.data() + first_column * shift.rows() + range.begin,
                               .stride = shift.rows(),
                               .columns = columns,
                               .factors = factors.data(),
                               .out = moved.col(k - first).data() + range.begin,
                               .out_stride = moved.rows(),
                               .outputs = outputs});
    }

    /// Finest scale first: each component of a part is left with its own curvature and pull and what its
    /// children, their shifts eliminated, hand on. `add_inside(t)` adds what comes from other parts.
    template <class AddInside, class HandOut>
    void eliminate(Index k, Index part, const AddInside& add_inside, const HandOut& hand_out) {
        double* const buffer = buffers_[part].data();
        const HandedRows handed{buffer, buffer + largest_[part], buffer + 2 * largest_[part]};
        for (const Index t : moving_) {
            const Range here = range(t, part);
            if (part == blocks() || !by_scales()) {
                find_moves(t, k, here);
            }
            const ShiftLevel level = level_of(t, k, here);
            kernels().begin_shifts(level, sums_[t].moved.col(k % rows_at_once).data() + here.begin);
            add_inside(t);
            if (t > 0) {
                const Range below = range(t - 1, part);
                if (is_frozen(frozen_, t - 1)) {
                    hold_to_frozen(t - 1, below, handed);
                }
                add_children(t, below, here, handed);
                hand_out(t, below, handed);
            }
            kernels().end_elimination(level, handed);
        }
    }

    Index largest(Index part) const {
        Index most = 0;
        for (Index t = 0; t < forest_.scales(); ++t) {
            most = std::max(most, range(t, part).size());
        }
        return most;
    }

    void hold_to_frozen(Index t, const Range& range, const HandedRows& handed) const {
        for (Index i = 0; i < range.size(); ++i) {
            handed.pivot[i] = penalties_[t].after * forest_[t].size[range.begin + i];
            handed.right[i] = 0.0;
            handed.slope[i] = 0.0;
        }
    }

    void add_children(Index t, const Range& below, const Range& here, const HandedRows& handed) {
        const std::int32_t* const parent = forest_[t - 1].parent.data() + below.begin;
        double* const pivot = sums_[t].inverse.data();
        double* const right = sums_[t].right.data();
        double* const slope = sums_[t].slope.data();
        for (Index i = 0; i < below.size(); ++i) {
            const std::int32_t c = parent[i];
            if (c < here.end) { // else it is inside a wide one
                pivot[c] += handed.pivot[i];
                right[c] += handed.right[i];
                slope[c] += handed.slope[i];
            }
        }
    }

    /// To the entries of wide components that a block has.
    void hand_to_wide(Index t, Index block, const Range& below, const HandedRows& handed) {
        const ShiftForest::Level& level = forest_[t];
        for (Index i = level.first_of_block[block]; i < level.first_of_block[block + 1]; ++i) {
            const std::int32_t entry = level.entry[i];
            Handed sum;
            for (Index e = level.first_inside[entry]; e < level.first_inside[entry + 1]; ++e) {
                const Index child = level.inside[e] - below.begin;
                sum.pivot += handed.pivot[child];
                sum.right += handed.right[child];
                sum.slope += handed.slope[child];
            }
            handed_[t][entry] = sum;
        }
    }

    void eliminate_block(Index k, Index block) {
        eliminate(
            k, block, [](Index) {},
            [&](Index t, const Range& below, const HandedRows& handed) {
                hand_to_wide(t, block, below, handed);
            });
    }

    void eliminate_wide(Index k) {
        eliminate(
            k, blocks(),
            [&](Index t) {
                const Index first = forest_[t].narrow;
                ShiftBuffer::Level& level = sums_[t];
                wide_.template sums<NumberRow>(t, [&](Index w, const double* row) {
                    level.inverse[first + w] += row[0];
                    level.right[first + w] += row[1];
                    level.slope[first + w] += row[2];
                });
            },
            [](Index, const Range&, const HandedRows&) {});
    }

    void begin_row(Index k) {
        if (k == rows_) {
            return;
        }
        if (on_device_ != nullptr) {
            if (k % rows_at_once == 0) {
                on_device_->begin(k, std::min(rows_at_once, rows_ - k));
            }
            on_device_->eliminate(k);
            return;
        }
        if (by_scales()) {
            parallel_for(std::ssize(moving_), [&](Index i) {
                find_moves(moving_[i], k, {0, forest_[moving_[i]].narrow});
            });
        }
        parallel_for_near(blocks(), [&](Index block) { eliminate_block(k, block); });
    }

    void end_and_begin(Index k, double length) {
        if (by_scales() || k + 1 == rows_) {
            parallel_for_near(blocks(), [&](Index block) { end_part(k, block, length); });
            begin_row(k + 1);
            return;
        }
        parallel_for_near(blocks(), [&](Index block) {
            end_part(k, block, length);
            eliminate_block(k + 1, block);
        });
    }

    void exchange(bool with_lengths) {
        for (const Index t : moving_) {
            wide_.template fill<NumberRow>(t, [&](Index entry, double* row) {
                Handed sum = handed_[t][entry];
                if (on_device_ != nullptr) {
                    const HandedOn more = on_device_->handed(t, entry);
                    sum = {more.pivot, more.right, 0.0};
                }
                row[0] = sum.pivot;
                row[1] = sum.right;
                row[2] = sum.slope;
            });
        }
        if (with_lengths) {
            wide_.exchange(quadratics(), counts_of_quadratics());
        } else {
            wide_.exchange();
        }
    }

    /// Coarsest scale first; wide components hold narrow ones, not the other way round. `length`: of the row
    /// before.
    void end_part(Index k, Index part, double length) {
        double* const above = buffers_[part].data();
        for (Index t = forest_.scales() - 1; t >= 0; --t) {
            if (!counts_along(t)) {
                continue;
            }
            const Range here = range(t, part);
            shifts_above(t, k, here, above);
            double along[2] = {0.0, 0.0};
            if (is_frozen(frozen_, t)) {
                for (Index i = 0; i < here.size(); ++i) {
                    along[1] += penalties_[t].after * forest_[t].size[here.begin + i] * above[i] * above[i];
                }
            } else {
                kernels().end_shifts(level_of(t, k, here), length, above, along);
            }
            (part == blocks() ? along_wide_[t] : along_blocks_[t * blocks() + part]) = {along[0], along[1]};
        }
    }

    /// Shifts of the components that hold those of `range`.
    void shifts_above(Index t, Index k, const Range& range, double* above) const {
        if (t + 1 == forest_.scales()) {
            std::fill_n(above, range.size(), 0.0);
            return;
        }
        const double* const shift = sums_[t + 1].shift.col(k).data();
        const std::int32_t* const parent = forest_[t].parent.data() + range.begin;
        for (Index i = 0; i < range.size(); ++i) {
            above[i] = shift[parent[i]];
        }
    }

    /// Whether something at this scale, or its distance to the next, changes along the shift.
    bool counts_along(Index t) const {
        return !is_frozen(frozen_, t) || (t + 1 < forest_.scales() && !is_frozen(frozen_, t + 1));
    }

    /// Row k where the narrow components are on a device, which needs its length at once.
    void end_on_device(Index k) {
        on_device_->substitute(k, sums_);
        for (Index t = 0; t < forest_.scales(); ++t) {
            for (Index block = 0; block < blocks(); ++block) {
                along_blocks_[t * blocks() + block] = on_device_->along(t, block);
            }
        }
        const double length = shared_length();
        shorten(k, length);
        on_device_->shorten(k, length);
    }

    void shorten(Index k, double length) {
        parallel_for(std::ssize(moving_), [&](Index i) { sums_[moving_[i]].shift.col(k) *= length; });
    }

    /// The quadratic along the shift, of each node of this process and each scale: the part of narrow
    /// components.
    std::vector<double> quadratics() const {
        std::vector<double> numbers;
        const Index first = forest_.slab().first;
        for (const BlockNode& node : forest_.shares().nodes_of(forest_.place())) {
            for (Index t = 0; t < forest_.scales(); ++t) {
                BlockSum<ShiftQuadratic> sum;
                for (Index b = node.first; b < node.past; ++b) {
                    sum.add(b, along_blocks_[t * blocks() + b - first]);
                }
                const ShiftQuadratic total = sum.finish();
                numbers.push_back(total.linear);
                numbers.push_back(total.curvature);
            }
        }
        return numbers;
    }

    std::vector<Index> counts_of_quadratics() const {
        std::vector<Index> counts;
        for (int r = 0; r < processes_.count(); ++r) {
            counts.push_back(2 * std::ssize(forest_.shares().nodes_of(r)) * forest_.scales());
        }
        return counts;
    }

    /// The minimiser θ in [0, 1] of the quadratic along the shift; quadratics_of(r) are those of process r.
    template <class Quadratics>
    double best_length(const Quadratics& quadratics_of) const {
        const BlockShares& shares = forest_.shares();
        const Index scales = forest_.scales();
        std::vector<BlockSum<ShiftQuadratic>> sums(static_cast<std::size_t>(scales));
        for (int r = 0; r < processes_.count(); ++r) {
            const double* next = quadratics_of(r).data();
            for (const BlockNode& node : shares.nodes_of(r)) {
                for (Index t = 0; t < scales; ++t, next += 2) {
                    sums[t].add(node.first, {next[0], next[1]});
                }
            }
        }
        ShiftQuadratic total;
        for (Index t = 0; t < scales; ++t) {
            ShiftQuadratic level = sums[t].finish();
            level += along_wide_[t];
            total += level;
        }
        return total.curvature > 0.0 ? std::clamp(-total.linear / total.curvature, 0.0, 1.0) : 0.0;
    }

    /// The same by an exchange of its own.
    double shared_length() {
        const std::vector<Index> counts = counts_of_quadratics();
        const std::vector<double> all = gather_to_all<double>(processes_, quadratics(), counts);
        std::size_t first = 0;
        return best_length([&](int r) {
            const auto count = static_cast<std::size_t>(counts[r]);
            return std::span<const double>(all).subspan(std::exchange(first, first + count), count);
        });
    }

    const std::vector<ScalePenalty>& penalties_;
    const ShiftForest& forest_;
    const std::vector<ScaleProducts<Real>>& products_;
    std::vector<ShiftBuffer::Level>& sums_;
    Processes& processes_;
    const FrozenScales& frozen_;
    std::vector<Index> moving_; ///< scales
    Index rows_;
    WideSums wide_;
    NarrowShifts* on_device_;                    ///< null: `forest_` has the narrow components
    std::vector<Index> largest_;                 ///< of each part, components of one scale at most
    std::vector<AlignedBuffer<double>> buffers_; ///< of each part
    std::vector<ShiftQuadratic> along_blocks_;   ///< of narrow components: blocks of each scale
    std::vector<ShiftQuadratic> along_wide_;     ///< of each scale
    std::vector<std::vector<Handed>> handed_;    ///< to the entries of wide components at each scale
};

} // namespace pnmf
