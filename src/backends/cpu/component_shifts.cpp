#include "backends/cpu/component_shifts.hpp"

#include "backends/cpu/wide_sums.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace pnmf {

namespace {

/// By counting: first_child ends as the sums of the numbers of children before each component.
void list_children(const std::vector<std::int32_t>& parent, ComponentForest::Level& level) {
    level.first_child.assign(level.size.size() + 1, 0);
    for (const std::int32_t c : parent) {
        ++level.first_child[c + 1];
    }
    std::partial_sum(level.first_child.begin(), level.first_child.end(), level.first_child.begin());
    level.children.resize(parent.size());
    std::vector<std::int32_t> next(level.first_child.begin(), level.first_child.end() - 1);
    for (std::size_t c = 0; c < parent.size(); ++c) {
        level.children[next[parent[c]]++] = static_cast<std::int32_t>(c);
    }
}

} // namespace

ComponentForest::ComponentForest(const SpanningTree& tree, const std::vector<double>& epsilon)
    : levels_(epsilon.size()) {
    parallel_for(scales(), [&](Index t) {
        Level& level = levels_[t];
        const std::vector<Index> of_cells = components(tree, epsilon[t]);
        level.component.assign(of_cells.begin(), of_cells.end());
        level.size.assign(static_cast<std::size_t>(component_count(of_cells)), 0);
        for (const std::int32_t c : level.component) {
            ++level.size[c];
        }
    });
    for (Index t = 0; t + 1 < scales(); ++t) {
        levels_[t].parent.resize(levels_[t].size.size());
        for (std::size_t j = 0; j < levels_[t].component.size(); ++j) {
            levels_[t].parent[levels_[t].component[j]] = levels_[t + 1].component[j];
        }
        list_children(levels_[t].parent, levels_[t + 1]);
    }
    if (!levels_.empty()) {
        levels_.front().first_child.assign(levels_.front().size.size() + 1, 0);
    }
}

namespace {

/// Half gradients and least entries, of narrow components whole, of wide ones block by block.
template <class Real>
class LevelSums {
  public:
    LevelSums(const ScalePenalty& penalty, const ShiftForest::Level& level,
              const ScaleProducts<Real>& products, const std::vector<DenseMatrix<Real>>& H, Index t,
              ShiftRoom::Level& sums)
        : penalty_(penalty), level_(level), products_(products), H_(H[t]), before_(scale_before(H, t)),
          after_(scale_after(H, t)), sums_(sums), next_(level.first_entry),
          wide_(Matrix::Zero(H_.rows(), std::ssize(level.block))) {
        sums.gradient.setZero(level.count(), H_.rows());
        sums.least.setConstant(level.count(), H_.rows(), std::numeric_limits<double>::infinity());
        sums.shift.setZero(level.count(), H_.rows());
    }

    void add_block(Index block, Index begin, Index end) {
        constexpr Index most = 512; // cells whose gradient stays at hand
        DenseMatrix<Real> room(H_.rows(), std::min(most, end - begin));
        for (Index first = begin; first < end; first += most) {
            const Index count = std::min(most, end - first);
            find_gradient(first, count, room);
            for (Index j = 0; j < count; ++j) {
                add_cell(block, first + j, room.col(j));
            }
        }
    }

    /// Half gradients of the wide components, a column for each block that has cells of them.
    const Matrix& wide() const { return wide_; }

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

    template <class Column>
    void add_cell(Index block, Index cell, const Column& gradient) {
        const std::int32_t c = level_.component[cell];
        const Index d = H_.rows();
        for (Index k = 0; k < d; ++k) {
            sums_.least(c, k) = std::min(sums_.least(c, k), static_cast<double>(H_(k, cell)));
        }
        if (c < level_.narrow) {
            for (Index k = 0; k < d; ++k) {
                sums_.gradient(c, k) += static_cast<double>(gradient[k]);
            }
            return;
        }
        std::int32_t& entry = next_[c - level_.narrow];
        while (level_.block[entry] != block) {
            ++entry;
        }
        wide_.col(entry) += gradient.template cast<double>();
    }

    const ScalePenalty& penalty_;
    const ShiftForest::Level& level_;
    const ScaleProducts<Real>& products_;
    const DenseMatrix<Real>& H_;
    const DenseMatrix<Real>* before_;
    const DenseMatrix<Real>* after_;
    ShiftRoom::Level& sums_;
    std::vector<std::int32_t> next_; ///< entry of each wide component: that of the block, or one before
    Matrix wide_;
};

template <class Real>
void sum_levels(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                const std::vector<ScaleProducts<Real>>& products, const std::vector<DenseMatrix<Real>>& H,
                std::vector<ShiftRoom::Level>& sums, Communicator& ranks) {
    const Index d = H.front().rows();
    const BlockSlab slab = forest.slab();
    WideSums wide(forest, ranks, 2 * d);
    parallel_for(forest.scales(), [&](Index t) {
        LevelSums<Real> level(penalties[t], forest[t], products[t], H, t, sums[t]);
        for (Index b = slab.first; b < slab.past; ++b) {
            level.add_block(b, slab.begin(b), slab.end(b));
        }
        // Least entries are known of the slab already, and go with each node.
        Index w = 0;
        wide.fill<SumAndLeast>(t, [&](Index entry, double* row) {
            while (entry >= forest[t].first_entry[w + 1]) {
                ++w;
            }
            for (Index k = 0; k < d; ++k) {
                row[k] = level.wide()(k, entry);
                row[d + k] = sums[t].least(forest[t].narrow + w, k);
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
             Communicator& ranks)
        : penalties_(penalties), forest_(forest), products_(products), sums_(sums), ranks_(ranks),
          wide_(forest, ranks, 2), has_wide_(forest.has_wide()) {}

    void solve(Index k) {
        eliminate(k);
        substitute(k);
        const double length = best_length(k);
        for (ShiftRoom::Level& level : sums_) {
            level.shift.col(k) *= length;
        }
    }

  private:
    double own_curvature(Index t, Index k) const {
        return static_cast<double>(products_[t].WtW(k, k)) + penalties_[t].anchor;
    }

    /// S of row k after the rows before it have moved: S + |C| Σ_{l<k} (WᵀW)_kl a_l.
    void add_earlier_moves(Index t, Index k) {
        Vector& moved = sums_[t].moved;
        moved.setZero(forest_[t].count());
        for (Index l = 0; l < k; ++l) {
            moved += static_cast<double>(products_[t].WtW(l, k)) * sums_[t].shift.col(l);
        }
        for (Index c = 0; c < forest_[t].count(); ++c) {
            sums_[t].gradient(c, k) += forest_[t].size[c] * moved[c];
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
        parallel_for(forest_.scales(), [&](Index t) {
            add_earlier_moves(t, k);
            sums_[t].pivot.resize(forest_[t].count());
            sums_[t].right.resize(forest_[t].count());
        });
        for (Index t = 0; t < forest_.scales(); ++t) {
            parallel_blocks(forest_[t].narrow, block, [&](Index begin, Index end) {
                for (Index c = begin; c < end; ++c) {
                    eliminate(t, k, c, {});
                }
            });
        }
        if (!has_wide_) {
            return;
        }
        parallel_for(forest_.scales(), [&](Index t) {
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
        sums_[t].pivot[c] = sum.pivot;
        sums_[t].right[c] = sum.right;
    }

    void substitute(Index k) {
        for (Index t = forest_.scales() - 1; t >= 0; --t) {
            const auto& level = forest_[t];
            const bool has_parent = t + 1 < forest_.scales();
            parallel_blocks(level.count(), block, [&](Index begin, Index end) {
                for (Index c = begin; c < end; ++c) {
                    double pull = sums_[t].right[c];
                    if (has_parent) {
                        pull += penalties_[t].after * level.size[c] * sums_[t + 1].shift(level.parent[c], k);
                    }
                    const double shift = sums_[t].pivot[c] > 0.0 ? pull / sums_[t].pivot[c] : 0.0;
                    sums_[t].shift(c, k) = std::max(shift, -sums_[t].least(c, k));
                }
            });
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
    double best_length(Index k) {
        const BlockShares& shares = forest_.shares();
        const auto nodes = shares.nodes_of(forest_.rank());
        const Index scales = forest_.scales();
        std::vector<Quadratic> mine(nodes.size() * static_cast<std::size_t>(scales)); // scales of a node
        parallel_for(scales, [&](Index t) {
            for (Index i = 0; i < std::ssize(nodes); ++i) {
                mine[i * scales + t] = along_narrow(t, k, nodes[i]);
            }
        });
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
            level += along(t, k, forest_[t].narrow, forest_[t].count());
            total += level;
        }
        return total.curvature > 0.0 ? std::clamp(-total.linear / total.curvature, 0.0, 1.0) : 0.0;
    }

    /// The narrow components of a node.
    Quadratic along_narrow(Index t, Index k, const BlockNode& node) const {
        const Index first = forest_.slab().first;
        BlockSum<Quadratic> sum;
        for (Index b = node.first; b < node.past; ++b) {
            sum.add(b,
                    along(t, k, forest_[t].first_narrow[b - first], forest_[t].first_narrow[b - first + 1]));
        }
        return sum.finish();
    }

    Quadratic along(Index t, Index k, Index begin, Index end) const {
        const auto& level = forest_[t];
        const bool has_parent = t + 1 < forest_.scales();
        const double own = own_curvature(t, k);
        Quadratic result;
        for (Index c = begin; c < end; ++c) {
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

    static constexpr Index block = 4096; ///< components that one thread treats at a time

    const std::vector<ScalePenalty>& penalties_;
    const ShiftForest& forest_;
    const std::vector<ScaleProducts<Real>>& products_;
    std::vector<ShiftRoom::Level>& sums_;
    Communicator& ranks_;
    WideSums wide_;
    bool has_wide_;
};

} // namespace

template <class Real>
void shift_components(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                      std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H,
                      ShiftRoom& room, Communicator& ranks) {
    const Index scales = forest.scales();
    std::vector<ShiftRoom::Level>& sums = room.levels;
    sums.resize(static_cast<std::size_t>(scales));
    sum_levels(penalties, forest, products, H, sums, ranks);
    RowShift<Real> row(penalties, forest, products, sums, ranks);
    for (Index k = 0; k < H.front().rows(); ++k) {
        row.solve(k);
    }
    parallel_for(scales, [&](Index t) {
        for (Index j = 0; j < H[t].cols(); ++j) {
            const std::int32_t c = forest[t].component[j];
            for (Index k = 0; k < H[t].rows(); ++k) {
                const auto shift = static_cast<Real>(sums[t].shift(c, k));
                H[t](k, j) = std::max(Real{0}, H[t](k, j) + shift);
                products[t].HA(k, j) += shift * products[t].degree[j];
            }
        }
    });
}

template void shift_components(const std::vector<ScalePenalty>&, const ShiftForest&,
                               std::vector<ScaleProducts<float>>&, std::vector<DenseMatrix<float>>&,
                               ShiftRoom&, Communicator&);
template void shift_components(const std::vector<ScalePenalty>&, const ShiftForest&,
                               std::vector<ScaleProducts<double>>&, std::vector<DenseMatrix<double>>&,
                               ShiftRoom&, Communicator&);

} // namespace pnmf
