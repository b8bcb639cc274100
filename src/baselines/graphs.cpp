#include "persistence/neighbors.hpp"

#include <pnmf/baselines/fit_baseline.hpp>

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pnmf {
namespace {

/// K at the neighbours, k × n: exp(−d² / s^α).
Matrix heat_weights(const Points& points, const Neighbors& near, double alpha) {
    // The tree's search knows the largest distance without measuring all pairs.
    const double width = std::pow(minimum_spanning_tree(points).largest_distance, alpha);
    if (width == 0.0) {
        return Matrix::Ones(near.distance.rows(), near.distance.cols()); // all cells are equal
    }
    return (-near.distance.array().square() / width).exp().matrix();
}

std::vector<double> normalised(std::vector<double> weights) {
    require(!weights.empty(), "TNMF and k-TNMF need at least one weight");
    for (const double weight : weights) {
        require(std::isfinite(weight) && weight >= 0.0, "weights must be numbers ≥ 0, got {}", weight);
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    require(sum > 0.0, "at least one weight must be positive");
    for (double& weight : weights) {
        weight /= sum;
    }
    return weights;
}

/// B of TNMF at the neighbours.
Matrix threshold_weights(const Matrix& K, const std::vector<double>& weights) {
    const double a = (K.array() > 0.0).select(K, std::numeric_limits<double>::infinity()).minCoeff();
    const double b = K.maxCoeff();
    const auto T = std::ssize(weights);
    Matrix B = Matrix::Zero(K.rows(), K.cols());
    for (Index i = 1; i <= T; ++i) {
        // lerp gives b itself at i = T: rounding must not exclude the largest entry from the last threshold.
        const double threshold = std::lerp(a, b, static_cast<double>(i) / static_cast<double>(T));
        B.array() += (K.array() >= threshold && K.array() > 0.0).cast<double>() * weights[T - i];
    }
    return B;
}

/// B of k-TNMF: the r-th nearest counts for every k ≥ r.
Matrix rank_weights(Index cells, const std::vector<double>& weights) {
    Matrix B(std::ssize(weights), cells);
    double tail = 0.0;
    for (Index r = std::ssize(weights) - 1; r >= 0; --r) {
        tail += weights[r];
        B.row(r).setConstant(tail);
    }
    return B;
}

/// combine(B_ij, B_ji) at each place where one of them is not 0; column j of B stands at the neighbours of
/// cell j.
template <class Combine>
SparseMatrix<double> symmetrise(const Neighbors& near, const Matrix& B, Combine combine) {
    Triplets<double> triplets;
    for (Index j = 0; j < B.cols(); ++j) {
        for (Index r = 0; r < B.rows(); ++r) {
            triplets.row.push_back(static_cast<std::int32_t>(near.index(r, j)));
            triplets.col.push_back(static_cast<std::int32_t>(j));
            triplets.value.push_back(B(r, j));
        }
    }
    const SparseMatrix<double> one = to_columns(B.cols(), B.cols(), triplets);
    const SparseMatrix<double> other = transpose(one);
    SparseMatrix<double> result;
    result.rows = result.cols = B.cols();
    for (Index j = 0; j < B.cols(); ++j) {
        auto p = one.start[j];
        auto q = other.start[j];
        while (p < one.start[j + 1] || q < other.start[j + 1]) {
            constexpr auto none = std::numeric_limits<std::int32_t>::max();
            const std::int32_t in_one = p < one.start[j + 1] ? one.row[p] : none;
            const std::int32_t in_other = q < other.start[j + 1] ? other.row[q] : none;
            const std::int32_t row = std::min(in_one, in_other);
            const double weight =
                combine(row == in_one ? one.value[p++] : 0.0, row == in_other ? other.value[q++] : 0.0);
            if (weight > 0.0) {
                result.row.push_back(row);
                result.value.push_back(weight);
            }
        }
        result.start.push_back(std::ssize(result.row));
    }
    return result;
}

} // namespace

BaselineOptions published_settings(Baseline method, bool second) {
    const std::vector<double> weights{1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0};
    switch (method) {
    case Baseline::nmf:
        return {.method = method, .neighbors = 0, .lambda = 0.0};
    case Baseline::gnmf:
        return {.method = method, .neighbors = second ? 15 : 5, .lambda = 0.1};
    case Baseline::tnmf:
        return {.method = method, .neighbors = second ? 10 : 20, .weights = weights, .lambda = 0.1};
    case Baseline::ktnmf:
        return {.method = method, .neighbors = std::ssize(weights), .weights = weights, .lambda = 1.0};
    }
    fail("the baseline {} is not known", static_cast<int>(method));
}

SparseMatrix<double> baseline_graph(const Points& points, const BaselineOptions& options) {
    const Index n = points.count();
    if (options.method == Baseline::nmf) {
        return {.rows = n,
                .cols = n,
                .start = std::vector<std::int64_t>(static_cast<std::size_t>(n) + 1, 0),
                .row = {},
                .value = {}};
    }
    const auto sum_minus_product = [](double a, double b) { return a + b - a * b; };
    if (options.method == Baseline::ktnmf) {
        const std::vector<double> weights = normalised(options.weights);
        return symmetrise(exact_neighbors(points, std::ssize(weights)), rank_weights(n, weights),
                          sum_minus_product);
    }
    require(std::isfinite(options.alpha) && options.alpha > 0.0, "alpha must be positive, got {}",
            options.alpha);
    const Neighbors near = exact_neighbors(points, options.neighbors);
    const Matrix K = heat_weights(points, near, options.alpha);
    if (options.method == Baseline::gnmf) {
        return symmetrise(near, K, [](double a, double b) { return std::max(a, b); });
    }
    return symmetrise(near, threshold_weights(K, normalised(options.weights)), sum_minus_product);
}

} // namespace pnmf
