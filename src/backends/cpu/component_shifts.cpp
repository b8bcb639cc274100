#include "backends/cpu/component_shifts.hpp"

#include "backends/cpu/wide_sums.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace pnmf {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index cells_at_once = 512; ///< whose gradient stays at hand

/// Half gradients and least entries, of narrow components whole, of wide ones block by block. Several threads
/// may add blocks: a narrow component and an entry of a wide one belong to one block each.
template <class Real>
class LevelSums {
  public:
    LevelSums(const ScalePenalty& penalty, const ShiftForest& forest, const ScaleProducts<Real>& products,
              const std::vector<DenseMatrix<Real>>& H, Index t, ShiftRoom::Level& sums)
        : penalty_(penalty), level_(forest[t]), slab_(forest.slab()), products_(products), H_(H[t]),
          before_(scale_before(H, t)), after_(scale_after(H, t)), sums_(sums),
          wide_(Matrix::Zero(H_.rows(), std::ssize(level_.block))),
          wide_least_(Matrix::Constant(H_.rows(), std::ssize(level_.block), infinity)) {
        sums.gradient.setZero(level_.count(), H_.rows());
        sums.least.setConstant(level_.count(), H_.rows(), infinity);
        sums.shift.resize(level_.count(), H_.rows());
    }

    void add_block(Index block) {
        const Index end = slab_.end(block);
        DenseMatrix<Real> room(H_.rows(), std::min(cells_at_once, end - slab_.begin(block)));
        for (Index first = slab_.begin(block); first < end; first += cells_at_once) {
            const Index cells = std::min(cells_at_once, end - first);
            find_gradient(first, cells, room);
            add_cells(block, first, cells, room);
        }
    }

    /// Half gradients and least entries of the wide components, a column for each block that has cells of
    /// them.
    const Matrix& wide() const { return wide_; }
    const Matrix& wide_least() const { return wide_least_; }

  private:
    void find_gradient(Index first, Index count, DenseMatrix<Real>& room) const {
        auto gradient = room.leftCols(count);
        const auto here = H_.middleCols(first, count);
        // The graph term sums to zero over a component and is left out.
        multiply(products_.WtW, here, gradient);
        gradient += static_cast<Real>(penalty_.anchor) * here - products_.WtX.middleCols(first, count);
        if (before_ != nullptr) {
            gradient += static_cast<Real>(penalty_.before) * (here - before_->middleCols(first, count));
        }
        if (after_ != nullptr) {
            gradient += static_cast<Real>(penalty_.after) * (here - after_->middleCols(first, count));
        }
    }

    /// Row after row, as the sums of one row lie side by side.
    void add_cells(Index block, Index first, Index count, const DenseMatrix<Real>& gradient) {
        std::array<std::int32_t, cells_at_once>
            place{}; // a narrow component, or −1 − the entry of a wide one
        for (Index j = 0; j < count; ++j) {
            const std::int32_t c = level_.component[first + j];
            place[j] = c < level_.narrow ? c : -1 - entry_of(c, block);
        }
        for (Index k = 0; k < H_.rows(); ++k) {
            double* const sums = sums_.gradient.col(k).data();
            double* const least = sums_.least.col(k).data();
            for (Index j = 0; j < count; ++j) {
                const bool narrow = place[j] >= 0;
                double& sum = narrow ? sums[place[j]] : wide_(k, -1 - place[j]);
                double& smallest = narrow ? least[place[j]] : wide_least_(k, -1 - place[j]);
                sum += static_cast<double>(gradient(k, j));
                smallest = std::min(smallest, static_cast<double>(H_(k, first + j)));
            }
        }
    }

    std::int32_t entry_of(std::int32_t component, Index block) const {
        const auto blocks = level_.block.begin();
        const Index w = component - level_.narrow;
        return static_cast<std::int32_t>(
            std::lower_bound(blocks + level_.first_entry[w], blocks + level_.first_entry[w + 1], block) -
            blocks);
    }

    const ScalePenalty& penalty_;
    const ShiftForest::Level& level_;
    BlockSlab slab_;
    const ScaleProducts<Real>& products_;
    const DenseMatrix<Real>& H_;
    const DenseMatrix<Real>* before_;
    const DenseMatrix<Real>* after_;
    ShiftRoom::Level& sums_;
    Matrix wide_;
    Matrix wide_least_;
};

template <class Real>
void sum_levels(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                const std::vector<ScaleProducts<Real>>& products, const std::vector<DenseMatrix<Real>>& H,
                std::vector<ShiftRoom::Level>& sums, Communicator& ranks, const FrozenScales& frozen) {
    const Index d = H.front().rows();
    const BlockSlab slab = forest.slab();
    WideSums wide(forest, ranks, 2 * d);
    parallel_for(forest.scales(), [&](Index t) {
        LevelSums<Real> level(penalties[t], forest, products[t], H, t, sums[t]);
        const Index blocks = is_frozen(frozen, t) ? 0 : slab.past - slab.first;
        parallel_for(blocks, [&](Index b) { level.add_block(slab.first + b); });
        wide.fill<SumAndLeast>(t, [&](Index entry, double* row) {
            for (Index k = 0; k < d; ++k) {
                row[k] = level.wide()(k, entry);
                row[d + k] = level.wide_least()(k, entry);
            }
        });
    });
    if (!forest.has_wide()) {
        return;
    }
    wide.exchange();
    parallel_for(forest.scales(), [&](Index t) {
        wide.sums<SumAndLeast>(t, [&](Index w, const double* row) {
            for (Index k = 0; k < d; ++k) {
                sums[t].gradient(forest[t].narrow + w, k) = row[k];
                sums[t].least(forest[t].narrow + w, k) = row[d + k];
            }
        });
    });
}

/// The forest's quadratic for row k, and its minimiser.
template <class Real>
class RowShift {
  public:
    RowShift(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
             const std::vector<ScaleProducts<Real>>& products, std::vector<ShiftRoom::Level>& sums,
             Communicator& ranks, const FrozenScales& frozen)
        : penalties_(penalties), forest_(forest), products_(products), sums_(sums), ranks_(ranks),
          frozen_(frozen), wide_(forest, ranks, 2), has_wide_(forest.has_wide()) {}

    /// Rows [first, first + count), one after the other.
    void solve(Index first, Index count) {
        add_earlier_moves(first, count);
        for (Index k = first; k < first + count; ++k) {
            first_ = first;
            eliminate(k);
            substitute(k);
            const double length = best_length();
            parallel_for(forest_.scales(), [&](Index t) { sums_[t].shift.col(k) *= length; });
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

    Index blocks() const { return forest_.slab().past - forest_.slab().first; }

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
        parallel_for(forest_.scales(), [&](Index t) {
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

    /// What the elimination of a component hands on to its parent.
    struct HandedOn {
        double pivot = 0.0;
        double right = 0.0;

        HandedOn& operator+=(const HandedOn& other) {
            pivot += other.pivot;
            right += other.right;
            return *this;
        }
    };

    HandedOn hand_on(Index t, std::int32_t child) const {
        const double coupling = penalties_[t].before * forest_[t - 1].size[child];
        const double below = sums_[t - 1].pivot[child];
        const double ratio = below > 0.0 ? coupling / below : 0.0;
        return {coupling - coupling * ratio, sums_[t - 1].right[child] * ratio};
    }

    /// Finest scale first: each component is left with its own curvature and pull and what its children,
    /// their shifts eliminated, hand on.
    void eliminate(Index k) {
        const bool by_scales = blocks() < few_blocks;
        if (by_scales) {
            parallel_for(forest_.scales(), [&](Index t) { move_gradient(t, k, {0, forest_[t].narrow}); });
        }
        parallel_for(blocks(), [&](Index block) {
            for (Index t = 0; t < forest_.scales(); ++t) {
                const Range range = narrow(t, block);
                if (!by_scales) {
                    move_gradient(t, k, range);
                }
                for (Index c = range.begin; c < range.end; ++c) {
                    eliminate(t, k, c, {});
                }
            }
        });
        if (!has_wide_) {
            return;
        }
        parallel_for(forest_.scales(), [&](Index t) {
            move_gradient(t, k, wide(t));
            wide_.template fill<NumberRow>(t, [&](Index entry, double* row) {
                HandedOn sum;
                for (auto i = forest_[t].first_inside[entry]; i < forest_[t].first_inside[entry + 1]; ++i) {
                    sum += hand_on(t, forest_[t].inside[i]);
                }
                row[0] = sum.pivot;
                row[1] = sum.right;
            });
        });
        wide_.exchange();
        for (Index t = 0; t < forest_.scales(); ++t) {
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
        const bool frozen = is_frozen(frozen_, t); // then nothing shifts it
        sums_[t].pivot[c] = frozen ? infinity : sum.pivot;
        sums_[t].right[c] = frozen ? 0.0 : sum.right;
    }

    /// Coarsest scale first; wide components hold narrow ones, not the other way round.
    void substitute(Index k) {
        for (Index t = forest_.scales() - 1; t >= 0; --t) {
            substitute(t, k, wide(t));
        }
        const Index scales = forest_.scales();
        along_blocks_.resize(static_cast<std::size_t>(blocks() * scales));
        along_wide_.resize(static_cast<std::size_t>(scales));
        parallel_for(blocks(), [&](Index block) {
            for (Index t = scales - 1; t >= 0; --t) {
                substitute(t, k, narrow(t, block));
            }
        });
        parallel_for(scales, [&](Index t) {
            along_wide_[t] = along(t, k, wide(t));
            for (Index block = 0; block < blocks(); ++block) {
                along_blocks_[t * blocks() + block] = along(t, k, narrow(t, block));
            }
        });
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

    /// linear·θ + ½·curvature·θ².
    struct Quadratic {
        double linear = 0.0;
        double curvature = 0.0;

        Quadratic& operator+=(const Quadratic& other) {
            linear += other.linear;
            curvature += other.curvature;
            return *this;
        }
    };

    /// The minimiser θ in [0, 1] of the quadratic along the shift.
    double best_length() {
        const BlockShares& shares = forest_.shares();
        const auto nodes = shares.nodes_of(forest_.rank());
        const Index scales = forest_.scales();
        std::vector<Quadratic> mine(nodes.size() * static_cast<std::size_t>(scales)); // scales of a node
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
            mine = gather_to_all<Quadratic>(ranks_, mine, counts);
        }
        Quadratic total;
        for (Index t = 0; t < scales; ++t) {
            BlockSum<Quadratic> sum;
            for (Index i = 0; i < std::ssize(shares.nodes); ++i) {
                sum.add(shares.nodes[i].first, mine[i * scales + t]);
            }
            Quadratic level = sum.finish();
            level += along_wide_[t];
            total += level;
        }
        return total.curvature > 0.0 ? std::clamp(-total.linear / total.curvature, 0.0, 1.0) : 0.0;
    }

    /// The narrow components of a node.
    Quadratic along_narrow(Index t, const BlockNode& node) const {
        const Index first = forest_.slab().first;
        BlockSum<Quadratic> sum;
        for (Index b = node.first; b < node.past; ++b) {
            sum.add(b, along_blocks_[t * blocks() + b - first]);
        }
        return sum.finish();
    }

    Quadratic along(Index t, Index k, const Range& range) const {
        const auto& level = forest_[t];
        const bool has_parent = t + 1 < forest_.scales();
        const double own = own_curvature(t, k);
        Quadratic result;
        for (Index c = range.begin; c < range.end; ++c) {
            const double a = sums_[t].shift(c, k);
            result.linear += sums_[t].gradient(c, k) * a;
            result.curvature += own * level.size[c] * a * a;
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
    WideSums wide_;
    bool has_wide_;
    Index first_ = 0;                     ///< row whose earlier moves are known already
    std::vector<Quadratic> along_blocks_; ///< of narrow components: blocks of each scale
    std::vector<Quadratic> along_wide_;   ///< of each scale
};

} // namespace

template <class Real>
void shift_components(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                      std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H,
                      ShiftRoom& room, Communicator& ranks, const FrozenScales& frozen) {
    const Index scales = forest.scales();
    std::vector<ShiftRoom::Level>& sums = room.levels;
    sums.resize(static_cast<std::size_t>(scales));
    sum_levels(penalties, forest, products, H, sums, ranks, frozen);
    RowShift<Real> row(penalties, forest, products, sums, ranks, frozen);
    const Index rank = H.front().rows();
    for (Index k = 0; k < rank; k += RowShift<Real>::rows_at_once) {
        row.solve(k, std::min(RowShift<Real>::rows_at_once, rank - k));
    }
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

template void shift_components(const std::vector<ScalePenalty>&, const ShiftForest&,
                               std::vector<ScaleProducts<float>>&, std::vector<DenseMatrix<float>>&,
                               ShiftRoom&, Communicator&, const FrozenScales&);
template void shift_components(const std::vector<ScalePenalty>&, const ShiftForest&,
                               std::vector<ScaleProducts<double>>&, std::vector<DenseMatrix<double>>&,
                               ShiftRoom&, Communicator&, const FrozenScales&);

} // namespace pnmf
