#include "backends/cpu/component_shifts.hpp"

#include "backends/cpu/level_sums.hpp"
#include "backends/cpu/wide_sums.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <ranges>

namespace pnmf {
namespace {

/// The forest's quadratic for row k, and its minimiser. Components of frozen scales do not shift: they are
/// visited only where the distance to a shift at the next scale counts.
template <class Real>
class RowShift {
  public:
    RowShift(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
             const std::vector<ScaleProducts<Real>>& products, std::vector<ShiftRoom::Level>& sums,
             Communicator& ranks, const FrozenScales& frozen, NarrowShifts* elsewhere)
        : penalties_(penalties), forest_(forest), products_(products), sums_(sums), ranks_(ranks),
          frozen_(frozen), moving_(moving_scales(frozen, forest.scales())), wide_(forest, ranks, 2),
          has_wide_(forest.has_wide()), elsewhere_(elsewhere) {}

    /// Rows [first, first + count), one after the other.
    void solve(Index first, Index count) {
        add_earlier_moves(first, count);
        if (elsewhere_ != nullptr) {
            elsewhere_->begin(first, count);
        }
        for (Index k = first; k < first + count; ++k) {
            first_ = first;
            eliminate(k);
            substitute(k);
            const double length = best_length();
            shorten(k, length);
            if (elsewhere_ != nullptr) {
                elsewhere_->shorten(k, length);
            }
        }
    }

    static constexpr Index rows_at_once = 8;
    static constexpr Index few_blocks = 4; ///< fewer keep too few threads busy

  private:
    /// Components that stand side by side.
    struct Range {
        Index begin = 0;
        Index end = 0;

        Index size() const { return end - begin; }
    };

    template <class Body>
    void over_moving(const Body& body) const {
        parallel_for(std::ssize(moving_), [&](Index i) { body(moving_[i]); });
    }

    Index blocks() const { return forest_.slab().past - forest_.slab().first; }
    /// Where there are few blocks, threads share out the scales as far as they can. Blocks are better shared
    /// out: scales have very different numbers of components.
    bool by_scales() const { return blocks() < few_blocks; }

    /// The narrow components of a block. What is inside them is narrow and of the same block, so that blocks
    /// are solved without one another.
    Range narrow(Index t, Index block) const {
        return {forest_[t].first_narrow[block], forest_[t].first_narrow[block + 1]};
    }
    Range wide(Index t) const { return {forest_[t].narrow, forest_[t].count()}; }

    double own_curvature(Index t, Index k) const {
        return static_cast<double>(products_[t].WtW(k, k)) + penalties_[t].anchor;
    }

    /// How far the rows before `first` have moved each of `count` rows: Σ_{l<first} (WᵀW)_kl a_l. For some
    /// rows at once, as each a_l is then read once for all of them.
    void add_earlier_moves(Index first, Index count) {
        over_moving([&](Index t) {
            ShiftRoom::Level& level = sums_[t];
            level.moved.resize(forest_[t].count(), rows_at_once);
            level.pivot.resize(forest_[t].count());
            level.right.resize(forest_[t].count());
            parallel_blocks(forest_[t].count(), 1024, [&](Index begin, Index end) {
                auto moved = level.moved.middleRows(begin, end - begin);
                moved.leftCols(count).setZero();
                for (Index l = 0; l < first; ++l) {
                    const auto shift = level.shift.col(l).segment(begin, end - begin);
                    for (Index i = 0; i < count; ++i) {
                        moved.col(i) += static_cast<double>(products_[t].WtW(l, first + i)) * shift;
                    }
                }
            });
        });
    }

    /// S of row k after the rows before it have moved: S + |C| Σ_{l<k} (WᵀW)_kl a_l.
    void move_gradient(Index t, Index k, const Range& range) {
        auto moved = sums_[t].moved.col(k - first_).segment(range.begin, range.size());
        for (Index l = first_; l < k; ++l) {
            moved += static_cast<double>(products_[t].WtW(l, k)) *
                     sums_[t].shift.col(l).segment(range.begin, range.size());
        }
        for (Index c = range.begin; c < range.end; ++c) {
            sums_[t].gradient(c, k) += forest_[t].size[c] * moved[c - range.begin];
        }
    }

    HandedOn hand_on(Index t, std::int32_t child) const {
        const double coupling = penalties_[t].before * forest_[t - 1].size[child];
        if (is_frozen(frozen_, t - 1)) {
            return {coupling, 0.0};
        }
        const double below = sums_[t - 1].pivot[child];
        const double ratio = below > 0.0 ? coupling / below : 0.0;
        return {coupling - coupling * ratio, sums_[t - 1].right[child] * ratio};
    }

    /// Finest scale first: each component is left with its own curvature and pull and what its children,
    /// their shifts eliminated, hand on.
    void eliminate(Index k) {
        if (by_scales()) {
            over_moving([&](Index t) { move_gradient(t, k, {0, forest_[t].narrow}); });
        }
        parallel_for(blocks(), [&](Index block) {
            for (const Index t : moving_) {
                const Range range = narrow(t, block);
                if (!by_scales()) {
                    move_gradient(t, k, range);
                }
                for (Index c = range.begin; c < range.end; ++c) {
                    eliminate(t, k, c, {});
                }
            }
        });
        if (elsewhere_ != nullptr) {
            elsewhere_->eliminate(k);
        }
        if (!has_wide_) {
            return;
        }
        over_moving([&](Index t) {
            move_gradient(t, k, wide(t));
            wide_.template fill<NumberRow>(t, [&](Index entry, double* row) {
                HandedOn sum;
                for (auto i = forest_[t].first_inside[entry]; i < forest_[t].first_inside[entry + 1]; ++i) {
                    sum += hand_on(t, forest_[t].inside[i]);
                }
                if (elsewhere_ != nullptr) {
                    sum += elsewhere_->handed(t, entry);
                }
                row[0] = sum.pivot;
                row[1] = sum.right;
            });
        });
        wide_.exchange();
        for (const Index t : moving_) {
            wide_.template sums<NumberRow>(t, [&](Index w, const double* row) {
                eliminate(t, k, forest_[t].narrow + w, {row[0], row[1]});
            });
        }
    }

    /// `narrow_inside`: what narrow components inside a wide one hand on.
    void eliminate(Index t, Index k, Index c, const HandedOn& narrow_inside) {
        const auto& level = forest_[t];
        HandedOn sum{(own_curvature(t, k) + penalties_[t].after) * level.size[c], -sums_[t].gradient(c, k)};
        if (c >= level.narrow) {
            sum += narrow_inside;
        }
        for (auto e = level.first_child[c]; e < level.first_child[c + 1]; ++e) {
            sum += hand_on(t, level.children[e]);
        }
        sums_[t].pivot[c] = sum.pivot;
        sums_[t].right[c] = sum.right;
    }

    /// Coarsest scale first; wide components hold narrow ones, not the other way round.
    void substitute(Index k) {
        const auto coarsest_first = std::views::reverse(moving_);
        for (const Index t : coarsest_first) {
            substitute(t, k, wide(t));
        }
        const Index scales = forest_.scales();
        along_blocks_.assign(static_cast<std::size_t>(blocks() * scales), {});
        along_wide_.assign(static_cast<std::size_t>(scales), {});
        // The parent of a component is wide, or of the same block and done before.
        parallel_for(blocks(), [&](Index block) {
            for (Index t = scales - 1; t >= 0; --t) {
                if (!is_frozen(frozen_, t)) {
                    substitute(t, k, narrow(t, block));
                }
                if (!by_scales() && elsewhere_ == nullptr && counts_along(t)) {
                    along_blocks_[t * blocks() + block] = along(t, k, narrow(t, block));
                }
            }
        });
        if (elsewhere_ != nullptr) {
            elsewhere_->substitute(k, sums_);
        }
        const auto add_rest = [&](Index t) {
            if (!counts_along(t)) {
                return;
            }
            along_wide_[t] = along(t, k, wide(t));
            if (by_scales() || elsewhere_ != nullptr) {
                for (Index block = 0; block < blocks(); ++block) {
                    along_blocks_[t * blocks() + block] =
                        elsewhere_ != nullptr ? elsewhere_->along(t, block) : along(t, k, narrow(t, block));
                }
            }
        };
        if (by_scales()) {
            parallel_for(scales, add_rest);
        } else {
            for (Index t = 0; t < scales; ++t) {
                add_rest(t);
            }
        }
    }

    /// Whether something at this scale, or its distance to the next, changes along the shift.
    bool counts_along(Index t) const {
        return !is_frozen(frozen_, t) || (t + 1 < forest_.scales() && !is_frozen(frozen_, t + 1));
    }

    /// The shifts of row k, times `length`.
    void shorten(Index k, double length) {
        const auto shorten_range = [&](Index t, const Range& range) {
            sums_[t].shift.col(k).segment(range.begin, range.size()) *= length;
        };
        if (by_scales()) {
            over_moving([&](Index t) { shorten_range(t, {0, forest_[t].count()}); });
            return;
        }
        parallel_for(blocks(), [&](Index block) {
            for (const Index t : moving_) {
                shorten_range(t, narrow(t, block));
            }
        });
        for (const Index t : moving_) {
            shorten_range(t, wide(t));
        }
    }

    void substitute(Index t, Index k, const Range& range) {
        const auto& level = forest_[t];
        const bool has_parent = t + 1 < forest_.scales();
        for (Index c = range.begin; c < range.end; ++c) {
            double pull = sums_[t].right[c];
            if (has_parent) {
                pull += penalties_[t].after * level.size[c] * sums_[t + 1].shift(level.parent[c], k);
            }
            const double shift = sums_[t].pivot[c] > 0.0 ? pull / sums_[t].pivot[c] : 0.0;
            sums_[t].shift(c, k) = std::max(shift, -sums_[t].least(c, k));
        }
    }

    /// The minimiser θ in [0, 1] of the quadratic along the shift.
    double best_length() {
        const BlockShares& shares = forest_.shares();
        const auto nodes = shares.nodes_of(forest_.rank());
        const Index scales = forest_.scales();
        std::vector<ShiftQuadratic> mine(nodes.size() * static_cast<std::size_t>(scales)); // scales of a node
        for (Index t = 0; t < scales; ++t) {
            for (Index i = 0; i < std::ssize(nodes); ++i) {
                mine[i * scales + t] = along_narrow(t, nodes[i]);
            }
        }
        if (ranks_.size() > 1) {
            std::vector<Index> counts;
            for (int r = 0; r < ranks_.size(); ++r) {
                counts.push_back(std::ssize(shares.nodes_of(r)) * scales);
            }
            mine = gather_to_all<ShiftQuadratic>(ranks_, mine, counts);
        }
        ShiftQuadratic total;
        for (Index t = 0; t < scales; ++t) {
            BlockSum<ShiftQuadratic> sum;
            for (Index i = 0; i < std::ssize(shares.nodes); ++i) {
                sum.add(shares.nodes[i].first, mine[i * scales + t]);
            }
            ShiftQuadratic level = sum.finish();
            level += along_wide_[t];
            total += level;
        }
        return total.curvature > 0.0 ? std::clamp(-total.linear / total.curvature, 0.0, 1.0) : 0.0;
    }

    /// The narrow components of a node.
    ShiftQuadratic along_narrow(Index t, const BlockNode& node) const {
        const Index first = forest_.slab().first;
        BlockSum<ShiftQuadratic> sum;
        for (Index b = node.first; b < node.past; ++b) {
            sum.add(b, along_blocks_[t * blocks() + b - first]);
        }
        return sum.finish();
    }

    ShiftQuadratic along(Index t, Index k, const Range& range) const {
        const auto& level = forest_[t];
        const bool has_parent = t + 1 < forest_.scales();
        const bool moves = !is_frozen(frozen_, t);
        const double own = own_curvature(t, k);
        ShiftQuadratic result;
        for (Index c = range.begin; c < range.end; ++c) {
            const double a = sums_[t].shift(c, k);
            if (moves) {
                result.linear += sums_[t].gradient(c, k) * a;
                result.curvature += own * level.size[c] * a * a;
            }
            if (has_parent) {
                const double difference = a - sums_[t + 1].shift(level.parent[c], k);
                result.curvature += penalties_[t].after * level.size[c] * difference * difference;
            }
        }
        return result;
    }

    const std::vector<ScalePenalty>& penalties_;
    const ShiftForest& forest_;
    const std::vector<ScaleProducts<Real>>& products_;
    std::vector<ShiftRoom::Level>& sums_;
    Communicator& ranks_;
    const FrozenScales& frozen_;
    std::vector<Index> moving_; ///< scales
    WideSums wide_;
    bool has_wide_;
    NarrowShifts* elsewhere_;                  ///< null: `forest_` has the narrow components
    Index first_ = 0;                          ///< row whose earlier moves are known already
    std::vector<ShiftQuadratic> along_blocks_; ///< of narrow components: blocks of each scale
    std::vector<ShiftQuadratic> along_wide_;   ///< of each scale
};

} // namespace

template <class Real>
void solve_shifts(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                  const std::vector<ScaleProducts<Real>>& products, ShiftRoom& room, Communicator& ranks,
                  const FrozenScales& frozen, NarrowShifts* elsewhere) {
    RowShift<Real> row(penalties, forest, products, room.levels, ranks, frozen, elsewhere);
    const Index rank = products.front().WtW.rows();
    for (Index k = 0; k < rank; k += RowShift<Real>::rows_at_once) {
        row.solve(k, std::min(RowShift<Real>::rows_at_once, rank - k));
    }
}

template <class Real>
void shift_components(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                      std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H,
                      ShiftRoom& room, Communicator& ranks, const FrozenScales& frozen) {
    const Index scales = forest.scales();
    std::vector<ShiftRoom::Level>& sums = room.levels;
    sums.resize(static_cast<std::size_t>(scales));
    sum_levels(penalties, forest, products, H, sums, ranks, frozen);
    solve_shifts(penalties, forest, products, room, ranks, frozen);
    const Index rank = H.front().rows();
    parallel_for(scales, [&](Index t) {
        const Index cells = is_frozen(frozen, t) ? 0 : H[t].cols();
        parallel_blocks(cells, cells_at_once, [&](Index begin, Index end) {
            for (Index k = 0; k < rank; ++k) {
                const double* const shifts = sums[t].shift.col(k).data();
                for (Index j = begin; j < end; ++j) {
                    const auto shift = static_cast<Real>(shifts[forest[t].component[j]]);
                    H[t](k, j) = std::max(Real{0}, H[t](k, j) + shift);
                    products[t].HA(k, j) += shift * products[t].degree[j];
                }
            }
        });
    });
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void solve_shifts(const std::vector<ScalePenalty>&, const ShiftForest&,                         \
                               const std::vector<ScaleProducts<Real>>&, ShiftRoom&, Communicator&,           \
                               const FrozenScales&, NarrowShifts*);                                          \
    template void shift_components(const std::vector<ScalePenalty>&, const ShiftForest&,                     \
                                   std::vector<ScaleProducts<Real>>&, std::vector<DenseMatrix<Real>>&,       \
                                   ShiftRoom&, Communicator&, const FrozenScales&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
