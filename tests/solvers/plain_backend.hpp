#pragma once

#include "solvers/backend.hpp"
#include "solvers/plain_products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace pnmf::test {

/// The twin that every backend is held to: each operation as backend.hpp states it, in straight loops over
/// scales, cells and rows. No blocks, no library products, no threads; sums in double precision whatever
/// `Real` is. Like a device it works on its own copies, so that a forgotten `store` is seen.
template <class Real>
class PlainBackend final : public Backend<Real> {
  public:
    explicit PlainBackend(const Problem<Real>& problem)
        : problem_(problem), products_(problem.epsilon.size()) {
        X_ = problem.X->is_sparse() ? to_dense(problem.X->columns()).template cast<double>()
                                    : Matrix(problem.X->dense().template cast<double>());
        for (Index t = 0; t < problem.scales(); ++t) {
            A_.push_back(problem.graph->at(problem.epsilon[t])->adjacency());
            component_.push_back(flood(A_.back()));
        }
    }

    void load(Factors<Real>& current, Factors<Real>& previous) override {
        outside_current_ = &current;
        outside_previous_ = &previous;
        take(current, current_);
        take(previous, previous_);
        moving_ = &current_;
    }

    void store() override {
        give(current_, *outside_current_);
        give(previous_, *outside_previous_);
    }

    void move_in_place() override { moving_ = &current_; }

    void move_copy() override {
        previous_ = current_;
        moving_ = &previous_;
    }

    void extrapolate(const std::vector<double>& beta) override {
        for (Index t = 0; t < problem_.scales(); ++t) {
            if (is_frozen(frozen_, t)) {
                previous_.W[t] = current_.W[t];
                previous_.H[t] = current_.H[t];
                continue;
            }
            step_over(current_.W[t], beta[t], previous_.W[t]);
            step_over(current_.H[t], beta[t], previous_.H[t]);
            for (Index k = 0; k < previous_.W[t].cols(); ++k) {
                make_unit(previous_.W[t], k, current_.W[t]);
            }
        }
        moving_ = &previous_;
    }

    void accept() override {
        std::swap(current_, previous_);
        moving_ = &current_;
    }

    void undo() override {
        previous_ = {}; // nobody may count on it
        moving_ = &current_;
    }

    bool can_freeze() const override { return true; }

    void freeze(const FrozenScales& frozen) override {
        frozen_ = frozen;
        frozen_W_.assign(products_.size(), {});
        for (Index t = 0; t < problem_.scales(); ++t) {
            if (is_frozen(frozen_, t)) {
                products_[t] = products_of(t);
                frozen_W_[t] = moved_W_at(t);
            }
        }
    }

    void make_products() override {
        for (Index t = 0; t < problem_.scales(); ++t) {
            products_[t] = products_of(t);
        }
    }

    std::vector<Movement> basis_step(Index passes) override {
        std::vector<Movement> moved;
        for (Index t = 0; t < problem_.scales(); ++t) {
            if (is_frozen(frozen_, t)) {
                moved.push_back(frozen_W_[t]);
                continue;
            }
            auto& W = moving_->W[t];
            const Matrix XHt = times_transposed(X_, moving_->H[t]);
            const Matrix HHt = times_transposed(moving_->H[t], moving_->H[t]);
            moved.push_back(moved_W(problem_.at(t).fit, W, XHt, HHt));
            for (Index pass = 0; pass < passes; ++pass) {
                for (Index k = 0; k < W.cols(); ++k) {
                    step_column(W, k, XHt, HHt);
                }
            }
            products_[t].WtX = transposed_times(W, X_);
            products_[t].WtW = transposed_times(W, W);
        }
        return moved;
    }

    void graph_products() override {
        for (const Index t : moving_scales(frozen_, problem_.scales())) {
            products_[t].HA = times(moving_->H[t], A_[t]);
            products_[t].degree = degrees(A_[t]);
        }
    }

    void embedding_pass() override {
        for (Index j = 0; j < problem_.cells(); ++j) {
            for (Index k = 0; k < moving_->H[0].rows(); ++k) {
                pass_row(j, k);
            }
        }
    }

    void shift_components() override {
        for (Index k = 0; k < moving_->H[0].rows(); ++k) {
            shift_row(k);
        }
    }

    std::vector<Objective> terms() override { return terms_of(*moving_); }

    std::vector<Movement> movement_H() override { return moved_H(*moving_, products_); }

    Objective objective() override {
        Objective total;
        for (const Objective& term : terms_of(current_)) {
            total = total + term;
        }
        return total;
    }

    Evaluation evaluate() override {
        Evaluation result{objective(), {}};
        std::vector<Products> fresh;
        for (Index t = 0; t < problem_.scales(); ++t) {
            fresh.push_back(products_of(t));
        }
        const std::vector<Movement> moved = moved_H(current_, fresh);
        for (Index t = 0; t < problem_.scales(); ++t) {
            result.residuals.push_back({.H = moved[t], .W = moved_W_at(t)});
        }
        return result;
    }

  private:
    struct Point {
        std::vector<DenseMatrix<Real>> W;
        std::vector<DenseMatrix<Real>> H;
    };
    /// Without the weight of the scale.
    struct Products {
        Matrix WtX, WtW, HA;
        Vector degree;
    };

    /// Of the current point.
    Products products_of(Index t) const {
        const auto& W = current_.W[t];
        return {transposed_times(W, X_), transposed_times(W, W), times(current_.H[t], A_[t]), degrees(A_[t])};
    }

    Movement moved_W_at(Index t) const {
        const auto& H = current_.H[t];
        return moved_W(problem_.at(t).fit, current_.W[t], times_transposed(X_, H), times_transposed(H, H));
    }

    static void take(const Factors<Real>& factors, Point& point) {
        point = {};
        DenseMatrix<Real> buffer;
        for (Index t = 0; t < factors.scales(); ++t) {
            point.W.push_back(factors.basis(t, buffer));
            point.H.push_back(factors.H[t]);
        }
    }

    static void give(const Point& point, Factors<Real>& factors) {
        factors.W.resize(point.W.size());
        for (std::size_t t = 0; t < point.W.size(); ++t) {
            factors.W[t] = point.W[t];
            factors.rest(static_cast<Index>(t));
        }
        factors.H = point.H;
    }

    static void step_over(const DenseMatrix<Real>& now, double beta, DenseMatrix<Real>& before) {
        for (Index j = 0; j < now.cols(); ++j) {
            for (Index i = 0; i < now.rows(); ++i) {
                const double here = now(i, j);
                const double there = before(i, j);
                before(i, j) = static_cast<Real>(std::max(0.0, here + beta * (here - there)));
            }
        }
    }

    /// Column k to unit length, or that of `instead` where it is zero.
    static void make_unit(DenseMatrix<Real>& W, Index k, const DenseMatrix<Real>& instead) {
        double square = 0.0;
        for (Index i = 0; i < W.rows(); ++i) {
            square += static_cast<double>(W(i, k)) * static_cast<double>(W(i, k));
        }
        for (Index i = 0; i < W.rows(); ++i) {
            W(i, k) = square > 0.0 ? static_cast<Real>(W(i, k) / std::sqrt(square)) : instead(i, k);
        }
    }

    static Movement moved_W(double weight, const DenseMatrix<Real>& W, const Matrix& XHt, const Matrix& HHt) {
        Movement result;
        const Matrix gradient = times(W, HHt) - XHt;
        for (Index k = 0; k < W.cols(); ++k) {
            const double q = HHt(k, k);
            double along = 0.0;
            for (Index i = 0; i < W.rows(); ++i) {
                along += W(i, k) * gradient(i, k);
            }
            for (Index i = 0; q > 0.0 && i < W.rows(); ++i) {
                const double w = W(i, k);
                const double step = w - std::max(0.0, w - (gradient(i, k) - along * w) / q);
                result.moved += weight * q * step * step;
                result.size += weight * q * w * w;
            }
        }
        return result;
    }

    static void step_column(DenseMatrix<Real>& W, Index k, const Matrix& XHt, const Matrix& HHt) {
        Vector v(W.rows());
        double square = 0.0;
        for (Index i = 0; i < W.rows(); ++i) {
            v[i] = XHt(i, k) + W(i, k) * HHt(k, k);
            for (Index l = 0; l < W.cols(); ++l) {
                v[i] -= W(i, l) * HHt(l, k);
            }
            v[i] = std::max(0.0, v[i]);
            square += v[i] * v[i];
        }
        for (Index i = 0; square > 0.0 && i < W.rows(); ++i) {
            W(i, k) = static_cast<Real>(v[i] / std::sqrt(square));
        }
    }

    /// ½∇_H O in row k of cell j at scale t, with or without the smoothness term.
    double half_gradient(const Point& point, const Products& of, Index t, Index k, Index j,
                         bool smoothness = true) const {
        const auto& H = point.H[t];
        const double h = H(k, j);
        double fit = -of.WtX(k, j);
        for (Index l = 0; l < H.rows(); ++l) {
            fit += of.WtW(k, l) * H(l, j);
        }
        const ScalePenalty penalty = problem_.at(t);
        double gradient =
            penalty.fit * fit + penalty.graph * (of.degree[j] * h - of.HA(k, j)) + penalty.anchor * h;
        if (smoothness && t > 0) {
            gradient += penalty.before * (h - point.H[t - 1](k, j));
        }
        if (smoothness && t + 1 < problem_.scales()) {
            gradient += penalty.after * (h - point.H[t + 1](k, j));
        }
        return gradient;
    }

    std::vector<Movement> moved_H(const Point& point, const std::vector<Products>& products) const {
        std::vector<Movement> moved(products.size());
        for (Index t = 0; t < problem_.scales(); ++t) {
            const ScalePenalty penalty = problem_.at(t);
            for (Index j = 0; j < problem_.cells(); ++j) {
                for (Index k = 0; k < point.H[t].rows(); ++k) {
                    const double q = penalty.fit * products[t].WtW(k, k) +
                                     penalty.graph * products[t].degree[j] + penalty.before + penalty.after +
                                     penalty.anchor;
                    const double h = point.H[t](k, j);
                    if (q > 0.0) {
                        const double step =
                            h - std::max(0.0, h - half_gradient(point, products[t], t, k, j) / q);
                        moved[t].moved += q * step * step;
                        moved[t].size += q * h * h;
                    }
                }
            }
        }
        return moved;
    }

    /// Each term as the model writes it: residuals squared, differences over edges.
    std::vector<Objective> terms_of(const Point& point) const {
        std::vector<Objective> terms(A_.size());
        for (Index t = 0; t < problem_.scales(); ++t) {
            const ScalePenalty penalty = problem_.at(t);
            const Matrix H = point.H[t].template cast<double>();
            const Matrix rest = X_ - times(point.W[t], H);
            double across = 0.0;
            for (Index j = 0; j < H.cols(); ++j) {
                for (Index i = 0; i < j; ++i) {
                    across += A_[t](i, j) * (H.col(i) - H.col(j)).squaredNorm();
                }
            }
            terms[t].fit = penalty.fit * rest.squaredNorm();
            terms[t].graph = penalty.graph * across;
            terms[t].anchor = penalty.anchor * H.squaredNorm();
            if (t > 0) {
                terms[t].smoothness =
                    penalty.before * (H - point.H[t - 1].template cast<double>()).squaredNorm();
            }
        }
        return terms;
    }

    /// Row k of cell j at all scales: one variable after another until none moves.
    void pass_row(Index j, Index k) {
        const Index T = problem_.scales();
        Vector curvature(T), right(T), h(T);
        for (Index t = 0; t < T; ++t) {
            const ScalePenalty penalty = problem_.at(t);
            h[t] = moving_->H[t](k, j);
            curvature[t] = penalty.fit * products_[t].WtW(k, k) +
                           2.0 * penalty.graph * products_[t].degree[j] + penalty.anchor;
            right[t] = curvature[t] * h[t] - half_gradient(*moving_, products_[t], t, k, j, false);
        }
        double largest = 1.0;
        for (int round = 0; round < 100'000 && largest > 1e-17; ++round) {
            largest = 0.0;
            for (const Index t : moving_scales(frozen_, T)) {
                const ScalePenalty penalty = problem_.at(t);
                const double pull = right[t] + (t > 0 ? penalty.before * h[t - 1] : 0.0) +
                                    (t + 1 < T ? penalty.after * h[t + 1] : 0.0);
                const double next = std::max(0.0, pull / (curvature[t] + penalty.before + penalty.after));
                largest = std::max(largest, std::abs(next - h[t]));
                h[t] = next;
            }
        }
        for (Index t = 0; t < T; ++t) {
            moving_->H[t](k, j) = static_cast<Real>(h[t]);
        }
    }

    /// One component at one scale, with the components inside it at the next finer one.
    struct Node {
        std::vector<Index> cells;
        std::vector<Index> inside;
        Index parent = -1;
        double sum = 0.0;   ///< S
        double least = 0.0; ///< of H
        double pivot = 0.0;
        double right = 0.0;
        double shift = 0.0;
    };

    std::vector<std::vector<Node>> forest(Index k) const {
        std::vector<std::vector<Node>> levels(A_.size());
        for (Index t = 0; t < problem_.scales(); ++t) {
            levels[t].resize(1 + *std::max_element(component_[t].begin(), component_[t].end()));
            for (Index j = 0; j < problem_.cells(); ++j) {
                Node& node = levels[t][component_[t][j]];
                const double h = moving_->H[t](k, j);
                node.least = node.cells.empty() ? h : std::min(node.least, h);
                node.cells.push_back(j);
                node.sum += half_gradient(*moving_, products_[t], t, k, j);
            }
            for (std::size_t c = 0; t > 0 && c < levels[t - 1].size(); ++c) {
                Node& child = levels[t - 1][c];
                child.parent = component_[t][child.cells.front()];
                levels[t][child.parent].inside.push_back(static_cast<Index>(c));
            }
        }
        return levels;
    }

    void shift_row(Index k) {
        auto levels = forest(k);
        const Index T = problem_.scales();
        for (Index t = 0; t < T; ++t) {
            for (Node& node : levels[t]) {
                const auto size = static_cast<double>(node.cells.size());
                if (is_frozen(frozen_, t)) {
                    node.pivot = std::numeric_limits<double>::infinity();
                    continue;
                }
                node.pivot = size * (own(t, k) + problem_.at(t).after);
                node.right = -node.sum;
                for (const Index c : node.inside) {
                    const Node& child = levels[t - 1][c];
                    const double coupling = problem_.at(t).before * static_cast<double>(child.cells.size());
                    const double ratio = child.pivot > 0.0 ? coupling / child.pivot : 0.0;
                    node.pivot += coupling * (1.0 - ratio);
                    node.right += child.right * ratio;
                }
            }
        }
        double linear = 0.0;
        double curved = 0.0;
        for (Index t = T - 1; t >= 0; --t) {
            for (Node& node : levels[t]) {
                const auto size = static_cast<double>(node.cells.size());
                const double above = t + 1 < T ? levels[t + 1][node.parent].shift : 0.0;
                const double pull = node.right + problem_.at(t).after * size * above;
                node.shift = std::max(node.pivot > 0.0 ? pull / node.pivot : 0.0, -node.least);
                linear += node.sum * node.shift;
                curved += own(t, k) * size * node.shift * node.shift;
                curved += problem_.at(t).after * size * (node.shift - above) * (node.shift - above);
            }
        }
        const double length = curved > 0.0 ? std::clamp(-linear / curved, 0.0, 1.0) : 0.0;
        for (Index t = 0; t < T; ++t) {
            for (const Node& node : levels[t]) {
                for (const Index j : node.cells) {
                    const double move = length * node.shift;
                    moving_->H[t](k, j) = static_cast<Real>(std::max(0.0, moving_->H[t](k, j) + move));
                    products_[t].HA(k, j) += move * products_[t].degree[j];
                }
            }
        }
    }

    double own(Index t, Index k) const {
        return problem_.at(t).fit * products_[t].WtW(k, k) + problem_.at(t).anchor;
    }

    const Problem<Real>& problem_;
    Matrix X_;
    std::vector<Matrix> A_;
    std::vector<std::vector<Index>> component_;
    std::vector<Products> products_;
    FrozenScales frozen_;
    std::vector<Movement> frozen_W_;
    Point current_;
    Point previous_;
    Point* moving_ = nullptr;
    Factors<Real>* outside_current_ = nullptr;
    Factors<Real>* outside_previous_ = nullptr;
};

} // namespace pnmf::test
