#pragma once

#include <pnmf/diagnostics/edge_walks.hpp>
#include <pnmf/diagnostics/finding.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <vector>

namespace pnmf {

/// dA_ij/dε of an edge of length d:  α d² / ε^(α+1) · exp(−d² / ε^α).
double weight_rate(double distance, double epsilon, double alpha);

/// Theorem (piecewise_lipschitz_continuity): on (δ_k, δ_{k+1}] the Laplacian has the Lipschitz constant
///
///     C_k = (√n + 1) √|E_k| M_k ,   M_k = max |dA_ij/dε| over the interval and its edges E_k
///
/// (both orders of a pair count in |E_k|, as in the norm). What is measured: ‖dL/dε‖_F at both ends and the
/// middle of intervals, whose supremum is the smallest Lipschitz constant, and ‖L(δ_{k+1}) − L(ε)‖/(δ_{k+1} −
/// ε) with ε in the middle.
struct PiecewiseLipschitz {
    Index intervals = 0;
    Index checked = 0; ///< evenly spaced ones; as many as take about a second, unless `most` says otherwise
    double largest_slope = 0.0; ///< measured
    double bound_there = 0.0;   ///< C_k of that interval
    double largest_ratio =
        0.0; ///< of measured to C_k over the intervals that were checked; ≤ 1 when it holds
};

PiecewiseLipschitz piecewise_lipschitz(const SortedEdges& sorted, double alpha,
                                       const std::vector<double>& distance_scales,
                                       std::optional<Index> most = std::nullopt);

/// Theorem (lipschitz_bound): ‖L(δ_{k+1}) − L(δ_k)‖_F ≤ C (δ_{k+1} − δ_k), and the same C along Λ*:
///
///     C = (1 + √n)(C₁ + C₂) ,   C₁ = max_k √|E_k| M_k ,   C₂ = √n / min_k (δ_{k+1} − δ_k)
struct LipschitzConstants {
    double C1 = 0.0;
    double C2 = 0.0;
    double C = 0.0;
    double smallest_gap = 0.0; ///< of Δ*
    Index most_new_pairs = 0;  ///< ordered pairs that one step of Δ* adds; C₂ supposes that they are ≤ n
};

/// All intervals are taken into account: M_k costs O(log edges), because dA/dε is unimodal in d and in ε.
LipschitzConstants lipschitz_constants(const SortedEdges& sorted, double alpha,
                                       const std::vector<double>& distance_scales);

/// ‖ΔL‖_F/Δε between neighbours of a set of scales.
struct AdjacentLipschitz {
    std::vector<double> gap;       ///< Δε_t; the first is for t = 2
    std::vector<double> increment; ///< ‖ΔL_t‖_F
    double smallest_weight_change = 0.0;
    Index checked = 0;
    Index of = 0; ///< neighbours there are

    double largest_slope() const;
};

/// Of at most `most` pairs of neighbours, evenly spaced; default as many as take about a second.
AdjacentLipschitz adjacent_lipschitz(const SortedEdges& sorted, double alpha,
                                     const std::vector<double>& scales,
                                     std::optional<Index> most = std::nullopt);

Findings findings(const PiecewiseLipschitz& piecewise, const LipschitzConstants& constants,
                  const AdjacentLipschitz& distance_scales, const AdjacentLipschitz& scales);

} // namespace pnmf
