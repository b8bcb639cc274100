#pragma once

#include <pnmf/diagnostics/edge_walks.hpp>
#include <pnmf/diagnostics/finding.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Theorem (spectral_stability_monotonicity): along Λ* no eigenvalue γ_k of L falls, none rises by more than
/// ‖ΔL‖ (Weyl), and dim ker L falls strictly. One entry for each scale, finest first.
struct SpectrumPath {
    bool complete = true; ///< all eigenvalues were compared; else the kernel by components, and γ at its ends
    std::vector<Index> kernel;             ///< dim ker L
    std::vector<double> smallest_positive; ///< γ_{kernel + 1}; NaN where there is none
    std::vector<double> largest;           ///< γ_n
    std::vector<double> largest_rise; ///< max_k γ_k(ε_t) − γ_k(ε_{t−1}), 0 at the first scale; γ_n alone
                                      ///< when not complete
    std::vector<double> largest_fall;   ///< the same downwards
    std::vector<double> former_kernel;  ///< γ_k(ε_t) for k = dim ker L(ε_{t−1}); NaN where not known
    Index not_converged = 0;            ///< scales at which an iterated eigenvalue did not settle
    Index numerical_kernel_differs = 0; ///< complete only: scales with other than β₀ eigenvalues near 0
};

struct SpectrumOptions {
    /// All eigenvalues where scales · cells³ is at most this, a quarter of a minute's work; else extremal
    /// ones.
    double most_work = 1e10;
    /// Then components up to this many cells are decomposed whole; larger ones by Lanczos (Spectra).
    Index whole_component = 128;
};

/// `sorted` holds the edges of `graph`.
SpectrumPath spectrum_path(const MultiscaleGraph& graph, const SortedEdges& sorted,
                           const std::vector<double>& epsilon, const SpectrumOptions& options = {});

/// `increments` and `gaps` are ‖ΔL_t‖_F and Δε_t from t = 2 on; C of `LipschitzConstants`.
Findings findings(const SpectrumPath& path, const std::vector<double>& increments,
                  const std::vector<double>& gaps, double C);

} // namespace pnmf
