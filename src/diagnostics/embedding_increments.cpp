#include "diagnostics/unknown.hpp"
#include "linalg/decompositions.hpp"

#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pnmf {
namespace {

/// Columns [begin, end) of X, dense.
Matrix columns_of(const DataMatrix<double>& X, Index begin, Index end) {
    if (!X.is_sparse()) {
        return X.dense().middleCols(begin, end - begin);
    }
    const SparseView<double> columns = X.columns();
    Matrix block = Matrix::Zero(columns.rows, end - begin);
    for (Index j = begin; j < end; ++j) {
        for (auto e = columns.start[j]; e < columns.start[j + 1]; ++e) {
            block(columns.row[e], j - begin) = columns.value[e];
        }
    }
    return block;
}

IncrementConstants constants_of(double C_X, double C_H, double l, Index cells, Index rank,
                                const Penalty& penalty) {
    IncrementConstants c;
    c.C_X = C_X;
    c.C_H = C_H;
    c.l = l;
    c.C1 = 1.0 / l + 2.0 * C_H * C_H / (l * l);
    c.C2 = c.C1 * C_H + C_H / l;
    c.C = (c.C1 * std::sqrt(static_cast<double>(cells - rank)) + c.C2 * C_H / l) * C_X;
    c.assumption = penalty.anchor > c.C;
    const double denominator = 2.0 * penalty.smoothness + penalty.anchor - c.C;
    c.a = c.assumption ? penalty.graph * C_H / denominator : unknown;
    c.b = c.assumption ? penalty.smoothness / denominator : unknown;
    // (1 − √(1 − 4b²))/2b without its cancellation, and without its 0/0 at λ₂ = 0.
    c.rho = c.assumption ? 2.0 * c.b / (1.0 + std::sqrt(1.0 - 4.0 * c.b * c.b)) : unknown;
    return c;
}

void add_bounds(EmbeddingIncrements& result, const std::vector<double>& dL, const Penalty& penalty) {
    const IncrementConstants& c = result.constants;
    const std::vector<double>& dH = result.increment;
    const auto count = static_cast<Index>(dH.size());
    const double factor = 2.0 * penalty.smoothness + penalty.anchor - c.C;
    const double largest = dL.empty() ? 0.0 : *std::max_element(dL.begin(), dL.end());
    result.uniform = c.assumption ? penalty.graph * c.C_H / (penalty.anchor - c.C) * largest : unknown;
    for (Index t = 0; t < count; ++t) {
        const bool inside = t > 0 && t + 1 < count;
        result.recursive_left.push_back(inside ? factor * dH[t] : unknown);
        result.recursive_right.push_back(
            inside ? penalty.graph * c.C_H * dL[t] + penalty.smoothness * (dH[t - 1] + dH[t + 1]) : unknown);
        double sum = 0.0;
        for (Index k = 0; k < count && c.assumption; ++k) {
            sum += std::pow(c.rho, static_cast<double>(std::abs(t - k))) * dL[k];
        }
        result.pointwise.push_back(c.assumption ? c.a / std::sqrt(1.0 - 4.0 * c.b * c.b) * sum : unknown);
    }
}

/// The recursive inequality with ‖R_t − R_{t−1}‖ as measured instead of C‖ΔH_t‖.
Finding measured_recursion(const EmbeddingIncrements& increments, const Penalty& penalty) {
    Finding finding{.statement = "eq:recursive_inequality",
                    .what = "the same with |R_t - R_(t-1)| as measured in place of C |dH_t|",
                    .measured = 0.0,
                    .bound = 1.0,
                    .verdict = Verdict::holds,
                    .note = {}};
    double steepest = 0.0;
    for (std::size_t t = 0; t < increments.increment.size(); ++t) {
        steepest = std::max(steepest, increments.residual_change[t] / increments.increment[t]);
        if (std::isnan(increments.recursive_right[t])) {
            continue;
        }
        const double left = (2.0 * penalty.smoothness + penalty.anchor) * increments.increment[t];
        const double right = increments.residual_change[t] + increments.recursive_right[t];
        finding.measured = std::max(finding.measured, left / right);
    }
    finding.verdict = verdict_of(finding.measured <= 1.0 + 1e-9);
    finding.note =
        fmt::format("largest left / right; the largest |R_t - R_(t-1)| / |dH_t| is {:.3g}, where the "
                    "theorem has C = {:.3g}",
                    steepest, increments.constants.C);
    return finding;
}

} // namespace

double gram_norm(const DataMatrix<double>& X) {
    constexpr Index block = 256;
    double sum = 0.0;
    for (Index begin = 0; begin < X.cells(); begin += block) {
        const Index end = std::min(X.cells(), begin + block);
        sum += X.transposed_times(columns_of(X, begin, end)).squaredNorm();
    }
    return std::sqrt(sum);
}

EmbeddingIncrements embedding_increments(Index scales, const std::function<Matrix(Index)>& embedding,
                                         const std::vector<double>& laplacian_increments, double C_X,
                                         const Penalty& penalty) {
    require(scales >= 2, "increments need at least two scales, got {}", scales);
    require(static_cast<Index>(laplacian_increments.size()) == scales - 1,
            "{} scales have {} increments, got {}", scales, scales - 1, laplacian_increments.size());
    EmbeddingIncrements result;
    double smallest = std::numeric_limits<double>::infinity();
    double zeros = 0.0;
    Matrix before;
    Index entries = 0;
    for (Index t = 0; t < scales; ++t) {
        const Matrix H = embedding(t);
        smallest = std::min(smallest, std::max(symmetric_eigenvalues(H * H.transpose())(0), 0.0));
        zeros += static_cast<double>((H.array() == 0.0).count());
        entries += H.size();
        result.norm.push_back(H.norm());
        if (t > 0) {
            result.increment.push_back((H - before).norm());
        }
        before = H;
    }
    result.zeros = zeros / static_cast<double>(entries);
    result.constants = constants_of(C_X, *std::max_element(result.norm.begin(), result.norm.end()), smallest,
                                    before.cols(), before.rows(), penalty);
    add_bounds(result, laplacian_increments, penalty);
    return result;
}

std::vector<double> residual_changes(const DataMatrix<double>& X, Index scales,
                                     const std::function<Matrix(Index)>& embedding,
                                     const std::function<Matrix(Index)>& basis) {
    std::vector<double> changes;
    Matrix before;
    for (Index t = 0; t < scales; ++t) {
        const Matrix W = basis(t);
        Matrix R = W.transpose() * W * embedding(t) - X.transposed_times(W);
        if (t > 0) {
            changes.push_back((R - before).norm());
        }
        before = std::move(R);
    }
    return changes;
}

Findings findings(const EmbeddingIncrements& increments, const Penalty& penalty, double residual) {
    const std::string label = "thm:embedding_increment_bounds";
    const IncrementConstants& c = increments.constants;
    const double factor = 2.0 * penalty.smoothness + penalty.anchor - c.C;
    Finding recursive{.statement = label,
                      .what = "recursive inequality, its left side against its right",
                      .measured = 0.0,
                      .bound = 1.0,
                      .verdict = Verdict::holds,
                      .note = "largest left / right"};
    for (std::size_t t = 0; t < increments.increment.size(); ++t) {
        if (!std::isnan(increments.recursive_left[t])) {
            recursive.measured =
                std::max(recursive.measured, increments.recursive_left[t] / increments.recursive_right[t]);
        }
    }
    recursive.verdict = factor <= 0.0 ? Verdict::vacuous : verdict_of(recursive.measured <= 1.0 + 1e-9);
    if (factor <= 0.0) {
        recursive.note = fmt::format(
            "2 lambda2 + lambda3 - C = {:.3g} is not positive: the left side is negative, so it says nothing",
            factor);
    }
    const std::string missing =
        fmt::format("not claimed here: lambda3 = {:.3g} must exceed C = {:.3g}", penalty.anchor, c.C);
    const double largest = *std::max_element(increments.increment.begin(), increments.increment.end());
    Finding uniform{.statement = label,
                    .what = "uniform bound on the largest |dH_t|",
                    .measured = largest,
                    .bound = increments.uniform,
                    .verdict = c.assumption ? verdict_of(largest <= increments.uniform) : Verdict::vacuous,
                    .note = c.assumption ? "" : missing};
    Finding pointwise{.statement = label,
                      .what = "pointwise bound, largest share that |dH_t| takes of it",
                      .measured = unknown,
                      .bound = 1.0,
                      .verdict = Verdict::vacuous,
                      .note = c.assumption ? "" : missing};
    if (c.assumption) {
        pointwise.measured = 0.0;
        for (std::size_t t = 0; t < increments.increment.size(); ++t) {
            pointwise.measured =
                std::max(pointwise.measured, increments.increment[t] / increments.pointwise[t]);
        }
        pointwise.verdict = verdict_of(pointwise.measured <= 1.0);
    }
    Finding assumptions{
        .statement = label,
        .what = "its assumptions: lambda3 > C, and no entry at its bound 0",
        .measured = penalty.anchor,
        .bound = c.C,
        .verdict = verdict_of(c.assumption && increments.zeros == 0.0),
        .note = fmt::format("lambda3 and C; {:.1f} % of the entries of H are 0{}", 100.0 * increments.zeros,
                            std::isnan(residual) ? "" : fmt::format("; KKT residual {:.1g}", residual))};
    Findings result{assumptions, recursive, uniform, pointwise};
    if (!increments.residual_change.empty()) {
        result.push_back(measured_recursion(increments, penalty));
    }
    return result;
}

} // namespace pnmf
