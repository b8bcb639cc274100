#pragma once

#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <vector>

namespace pnmf {

/// Correlations of the increments along the scales: Δε_t, ‖ΔL_t‖, ‖ΔH_t‖, t = 2 … T.
struct IncrementCorrelations {
    Index pairs = 0;
    Correlation epsilon_laplacian;
    std::optional<Correlation> laplacian_embedding;
    std::optional<Correlation> epsilon_embedding;
};

/// What a check found; what could not be looked at is empty.
struct CheckReport {
    Index cells = 0;
    Index features = 0;
    std::vector<double> epsilon;
    std::optional<double> alpha;
    std::optional<ScaleSetProperties> canonical;
    std::optional<ScaleSetProperties> used;
    std::optional<NestedGraphs> graphs;
    std::optional<LipschitzConstants> lipschitz;
    std::optional<AdjacentLipschitz> increments;
    std::optional<SpectrumPath> spectrum;
    std::optional<EmbeddingIncrements> embeddings;
    std::optional<Convergence> convergence;
    std::optional<IncrementCorrelations> correlations;
    Findings findings;
};

struct CheckOptions {
    /// Intervals between neighbouring distances to look at, evenly spaced; default: a second's work.
    std::optional<Index> most_intervals{};
};

/// The paper's theorems about scales, graphs and spectra, held against points, with the scales, neighbours
/// and α of these options. `features`: of the data that the points stand for.
CheckReport check_data(const Points& points, Index features, const FitOptions& fit,
                       const CheckOptions& options = {});
/// The same of the columns of X, values of any sign.
CheckReport check_data(const DataView& X, const FitOptions& fit, const CheckOptions& options = {});

/// What a stored fit shows by itself: descent, recorded certificate, signs, normalisation, and its scales
/// against the deaths it keeps.
CheckReport check_result(const StoredResult& result);

/// All of that, with the certificate evaluated anew and the bounds on the embeddings, from the data of the
/// fit, features × cells, as they were factorised, cells in the order of the result. Graphs and scales are
/// those of the fit: its options, seed and search. The bounds are those of the precision the fit was computed
/// in (`rounding_of`).
///
/// InputError when cells of the fit are missing in the result, or X has other features or cells.
CheckReport check_result(const StoredResult& result, const DataView& X, const CheckOptions& options = {});

} // namespace pnmf
