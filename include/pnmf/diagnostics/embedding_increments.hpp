#pragma once

#include <pnmf/diagnostics/finding.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <vector>

namespace pnmf {

/// The constants of theorem (embedding_increment_bounds).
struct IncrementConstants {
    double C_X = 0.0; ///< ‖XᵀX‖_F
    double C_H = 0.0; ///< max_t ‖H_t‖_F
    double l = 0.0;   ///< ℓ = min_t γ_min(H_t H_tᵀ)
    double C1 = 0.0;  ///< 1/ℓ + 2 C_H²/ℓ²
    double C2 = 0.0;  ///< C₁ C_H + C_H/ℓ
    double C = 0.0;   ///< (C₁ √(n − d) + C₂ C_H/ℓ) C_X
    double a = 0.0;   ///< λ₁ C_H / (2λ₂ + λ₃ − C)
    double b = 0.0;   ///< λ₂ / (2λ₂ + λ₃ − C)
    double rho = 0.0; ///< (1 − √(1 − 4b²)) / 2b

    /// λ₃ > C, without which uniform and pointwise bound are not claimed; a, b and ρ are NaN then.
    bool assumption = false;
};

/// The embeddings' increments and what the theorem says about them; entries from t = 2 on.
struct EmbeddingIncrements {
    IncrementConstants constants;
    std::vector<double> norm;      ///< ‖H_t‖_F of all T scales
    std::vector<double> increment; ///< ‖ΔH_t‖_F
    /// Both sides of eq. (recursive_inequality), for 2 < t < T as its proof; NaN elsewhere.
    std::vector<double> recursive_left;
    std::vector<double> recursive_right;
    double uniform = 0.0;          ///< eq. (uniform_bound), its right side; NaN without the assumption
    std::vector<double> pointwise; ///< eq. (pointwise_bound), likewise
    double zeros = 0.0;            ///< share of the entries of all H that are 0: the proof supposes none
    /// ‖R_t − R_{t−1}‖_F, R_t = W_tᵀ(W_t H_t − X), which the theorem bounds by C‖ΔH_t‖; empty without W.
    std::vector<double> residual_change{};
};

/// ‖XᵀX‖_F. Cost n · (entries of X).
double gram_norm(const DataMatrix<double>& X);

/// `embedding(t)` is asked for once each, finest first; `laplacian_increments` are ‖ΔL_t‖_F from t = 2 on.
EmbeddingIncrements embedding_increments(Index scales, const std::function<Matrix(Index)>& embedding,
                                         const std::vector<double>& laplacian_increments, double C_X,
                                         const Penalty& penalty);

/// ‖R_t − R_{t−1}‖_F from t = 2 on. Cost 4pnd a scale.
std::vector<double> residual_changes(const DataMatrix<double>& X, Index scales,
                                     const std::function<Matrix(Index)>& embedding,
                                     const std::function<Matrix(Index)>& basis);

/// The recursive, uniform and pointwise bounds; with `residual_change` also the recursive inequality as its
/// proof has it before C comes in, which needs the condition on H alone:
///
///     (2λ₂ + λ₃)‖ΔH_t‖ ≤ ‖R_t − R_{t−1}‖ + λ₁ C_H ‖ΔL_t‖ + λ₂(‖ΔH_{t−1}‖ + ‖ΔH_{t+1}‖)
///
/// `residual` is the KKT residual of the point, NaN when not known: the theorem speaks of stationary points.
Findings findings(const EmbeddingIncrements& increments, const Penalty& penalty, double residual);

} // namespace pnmf
