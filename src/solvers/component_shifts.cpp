#include "solvers/component_shifts.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>

namespace pnmf {

ComponentForest::ComponentForest(const MultiscaleGraph& graph, const std::vector<double>& epsilon)
    : levels_(epsilon.size()) {
    parallel_for(scales(), [&](Index t) {
        const auto scale = graph.at(epsilon[t]);
        Level& level = levels_[t];
        level.component.assign(scale->components().begin(), scale->components().end());
        level.size.assign(static_cast<std::size_t>(scale->component_count()), 0);
        for (const std::int32_t c : level.component) {
            ++level.size[c];
        }
    });
    for (Index t = 0; t + 1 < scales(); ++t) {
        levels_[t].parent.resize(levels_[t].size.size());
        for (std::size_t j = 0; j < levels_[t].component.size(); ++j) {
            levels_[t].parent[levels_[t].component[j]] = levels_[t + 1].component[j];
        }
    }
}

namespace {

/// Sums and minima over the components of one scale, and the shifts found for it; all count × d, a column for
/// each row of H.
struct LevelSums {
    Matrix gradient; ///< S: the half gradient summed over each component
    Matrix least;    ///< the smallest entry of H on each component
    Matrix shift;
};

template <class Real>
LevelSums sum_level(const Penalty& penalty, const ComponentForest::Level& level,
                    const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                    const DenseMatrix<Real>* before, const DenseMatrix<Real>* after) {
    // The graph term sums to zero over a component and is left out.
    DenseMatrix<Real> gradient(H.rows(), H.cols());
    multiply(products.WtW, H, gradient);
    gradient += static_cast<Real>(penalty.anchor) * H - products.WtX;
    for (const DenseMatrix<Real>* neighbour : {before, after}) {
        if (neighbour != nullptr) {
            gradient += static_cast<Real>(penalty.smoothness) * (H - *neighbour);
        }
    }
    LevelSums sums{Matrix::Zero(level.count(), H.rows()),
                   Matrix::Constant(level.count(), H.rows(), std::numeric_limits<double>::infinity()),
                   Matrix::Zero(level.count(), H.rows())};
    for (Index j = 0; j < H.cols(); ++j) {
        const std::int32_t c = level.component[j];
        for (Index k = 0; k < H.rows(); ++k) {
            sums.gradient(c, k) += static_cast<double>(gradient(k, j));
            sums.least(c, k) = std::min(sums.least(c, k), static_cast<double>(H(k, j)));
        }
    }
    return sums;
}

/// The forest's quadratic for row k, and its minimiser.
template <class Real>
class RowShift {
  public:
    RowShift(const Penalty& penalty, const ComponentForest& forest,
             const std::vector<ScaleProducts<Real>>& products, std::vector<LevelSums>& sums)
        : smoothness_(penalty.smoothness), anchor_(penalty.anchor), forest_(forest), products_(products),
          sums_(sums), pivot_(sums.size()), right_(sums.size()) {}

    void solve(Index k) {
        eliminate(k);
        substitute(k);
        const double length = best_length(k);
        for (LevelSums& level : sums_) {
            level.shift.col(k) *= length;
        }
        // What the move of row k does to the sums of the rows still to come.
        const Index rank = products_.front().WtW.rows();
        parallel_for(forest_.scales(), [&](Index t) {
            const Vector moved = sums_[t].shift.col(k).cwiseProduct(sizes(t));
            for (Index l = k + 1; l < rank; ++l) {
                sums_[t].gradient.col(l) += static_cast<double>(products_[t].WtW(l, k)) * moved;
            }
        });
    }

  private:
    Vector sizes(Index t) const {
        return Eigen::Map<const Eigen::Matrix<std::int32_t, Eigen::Dynamic, 1>>(forest_[t].size.data(),
                                                                                forest_[t].count())
            .cast<double>();
    }

    double own_curvature(Index t, Index k) const {
        return static_cast<double>(products_[t].WtW(k, k)) + anchor_;
    }

    void eliminate(Index k) {
        parallel_for(forest_.scales(), [&](Index t) {
            const bool has_parent = t + 1 < forest_.scales();
            pivot_[t] = (own_curvature(t, k) + (has_parent ? smoothness_ : 0.0)) * sizes(t);
            right_[t] = -sums_[t].gradient.col(k);
        });
        for (Index t = 0; t + 1 < forest_.scales(); ++t) {
            const auto& level = forest_[t];
            for (Index c = 0; c < level.count(); ++c) {
                const double coupling = smoothness_ * level.size[c];
                const double ratio = pivot_[t][c] > 0.0 ? coupling / pivot_[t][c] : 0.0;
                pivot_[t + 1][level.parent[c]] += coupling - coupling * ratio;
                right_[t + 1][level.parent[c]] += right_[t][c] * ratio;
            }
        }
    }

    void substitute(Index k) {
        for (Index t = forest_.scales() - 1; t >= 0; --t) {
            const auto& level = forest_[t];
            const bool has_parent = t + 1 < forest_.scales();
            for (Index c = 0; c < level.count(); ++c) {
                double pull = right_[t][c];
                if (has_parent) {
                    pull += smoothness_ * level.size[c] * sums_[t + 1].shift(level.parent[c], k);
                }
                const double shift = pivot_[t][c] > 0.0 ? pull / pivot_[t][c] : 0.0;
                sums_[t].shift(c, k) = std::max(shift, -sums_[t].least(c, k));
            }
        }
    }

    /// The minimiser θ in [0, 1] of the quadratic along the shift.
    double best_length(Index k) const {
        double linear = 0.0;
        double curvature = 0.0;
        for (Index t = 0; t < forest_.scales(); ++t) {
            const auto& level = forest_[t];
            const bool has_parent = t + 1 < forest_.scales();
            const double own = own_curvature(t, k);
            for (Index c = 0; c < level.count(); ++c) {
                const double a = sums_[t].shift(c, k);
                linear += sums_[t].gradient(c, k) * a;
                curvature += own * level.size[c] * a * a;
                if (has_parent) {
                    const double difference = a - sums_[t + 1].shift(level.parent[c], k);
                    curvature += smoothness_ * level.size[c] * difference * difference;
                }
            }
        }
        return curvature > 0.0 ? std::clamp(-linear / curvature, 0.0, 1.0) : 0.0;
    }

    double smoothness_;
    double anchor_;
    const ComponentForest& forest_;
    const std::vector<ScaleProducts<Real>>& products_;
    std::vector<LevelSums>& sums_;
    std::vector<Vector> pivot_;
    std::vector<Vector> right_;
};

} // namespace

template <class Real>
void shift_components(const Penalty& penalty, const ComponentForest& forest,
                      std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H) {
    const Index scales = forest.scales();
    std::vector<LevelSums> sums(static_cast<std::size_t>(scales));
    parallel_for(scales, [&](Index t) {
        sums[t] = sum_level(penalty, forest[t], products[t], H[t], t > 0 ? &H[t - 1] : nullptr,
                            t + 1 < scales ? &H[t + 1] : nullptr);
    });
    RowShift<Real> row(penalty, forest, products, sums);
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

template void shift_components(const Penalty&, const ComponentForest&, std::vector<ScaleProducts<float>>&,
                               std::vector<DenseMatrix<float>>&);
template void shift_components(const Penalty&, const ComponentForest&, std::vector<ScaleProducts<double>>&,
                               std::vector<DenseMatrix<double>>&);

} // namespace pnmf
