#include "backends/cpu/component_shifts.hpp"

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

/// Blocks of cells small enough that their gradient stays at hand.
template <class Real>
void sum_level(const ScalePenalty& penalty, const ComponentForest::Level& level,
               const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
               const DenseMatrix<Real>* before, const DenseMatrix<Real>* after, ShiftRoom::Level& sums) {
    sums.gradient.setZero(level.count(), H.rows());
    sums.least.setConstant(level.count(), H.rows(), std::numeric_limits<double>::infinity());
    sums.shift.setZero(level.count(), H.rows());
    constexpr Index block = 512;
    DenseMatrix<Real> room(H.rows(), std::min(block, H.cols()));
    for (Index first = 0; first < H.cols(); first += block) {
        const Index count = std::min(block, H.cols() - first);
        auto gradient = room.leftCols(count);
        const auto here = H.middleCols(first, count);
        // The graph term sums to zero over a component and is left out.
        multiply(products.WtW, here, gradient);
        gradient += static_cast<Real>(penalty.anchor) * here - products.WtX.middleCols(first, count);
        if (before != nullptr) {
            gradient += static_cast<Real>(penalty.before) * (here - before->middleCols(first, count));
        }
        if (after != nullptr) {
            gradient += static_cast<Real>(penalty.after) * (here - after->middleCols(first, count));
        }
        for (Index j = 0; j < count; ++j) {
            const std::int32_t c = level.component[first + j];
            for (Index k = 0; k < H.rows(); ++k) {
                sums.gradient(c, k) += static_cast<double>(gradient(k, j));
                sums.least(c, k) = std::min(sums.least(c, k), static_cast<double>(here(k, j)));
            }
        }
    }
}

/// The forest's quadratic for row k, and its minimiser.
template <class Real>
class RowShift {
  public:
    RowShift(const std::vector<ScalePenalty>& penalties, const ComponentForest& forest,
             const std::vector<ScaleProducts<Real>>& products, std::vector<ShiftRoom::Level>& sums)
        : penalties_(penalties), forest_(forest), products_(products), sums_(sums), along_(sums.size()) {}

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

    /// Finest scale first: each component is left with its own curvature and pull and what its children,
    /// their shifts eliminated, hand on.
    void eliminate(Index k) {
        parallel_for(forest_.scales(), [&](Index t) { add_earlier_moves(t, k); });
        for (Index t = 0; t < forest_.scales(); ++t) {
            const auto& level = forest_[t];
            const double own = own_curvature(t, k) + penalties_[t].after;
            sums_[t].pivot.resize(level.count());
            sums_[t].right.resize(level.count());
            parallel_blocks(level.count(), block, [&](Index begin, Index end) {
                for (Index c = begin; c < end; ++c) {
                    double pivot = own * level.size[c];
                    double right = -sums_[t].gradient(c, k);
                    for (auto e = level.first_child[c]; e < level.first_child[c + 1]; ++e) {
                        const std::int32_t child = level.children[e];
                        const double coupling = penalties_[t].before * forest_[t - 1].size[child];
                        const double below = sums_[t - 1].pivot[child];
                        const double ratio = below > 0.0 ? coupling / below : 0.0;
                        pivot += coupling - coupling * ratio;
                        right += sums_[t - 1].right[child] * ratio;
                    }
                    sums_[t].pivot[c] = pivot;
                    sums_[t].right[c] = right;
                }
            });
        }
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

    /// The minimiser θ in [0, 1] of the quadratic along the shift.
    double best_length(Index k) {
        parallel_for(forest_.scales(), [&](Index t) { along_[t] = along_shift(t, k); });
        Quadratic total;
        for (const Quadratic& level : along_) {
            total.linear += level.linear;
            total.curvature += level.curvature;
        }
        return total.curvature > 0.0 ? std::clamp(-total.linear / total.curvature, 0.0, 1.0) : 0.0;
    }

    /// linear·θ + ½·curvature·θ².
    struct Quadratic {
        double linear = 0.0;
        double curvature = 0.0;
    };

    Quadratic along_shift(Index t, Index k) const {
        const auto& level = forest_[t];
        const bool has_parent = t + 1 < forest_.scales();
        const double own = own_curvature(t, k);
        Quadratic result;
        for (Index c = 0; c < level.count(); ++c) {
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
    const ComponentForest& forest_;
    const std::vector<ScaleProducts<Real>>& products_;
    std::vector<ShiftRoom::Level>& sums_;
    std::vector<Quadratic> along_;
};

} // namespace

template <class Real>
void shift_components(const std::vector<ScalePenalty>& penalties, const ComponentForest& forest,
                      std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H,
                      ShiftRoom& room) {
    const Index scales = forest.scales();
    std::vector<ShiftRoom::Level>& sums = room.levels;
    sums.resize(static_cast<std::size_t>(scales));
    parallel_for(scales, [&](Index t) {
        sum_level(penalties[t], forest[t], products[t], H[t], scale_before(H, t), scale_after(H, t), sums[t]);
    });
    RowShift<Real> row(penalties, forest, products, sums);
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

template void shift_components(const std::vector<ScalePenalty>&, const ComponentForest&,
                               std::vector<ScaleProducts<float>>&, std::vector<DenseMatrix<float>>&,
                               ShiftRoom&);
template void shift_components(const std::vector<ScalePenalty>&, const ComponentForest&,
                               std::vector<ScaleProducts<double>>&, std::vector<DenseMatrix<double>>&,
                               ShiftRoom&);

} // namespace pnmf
