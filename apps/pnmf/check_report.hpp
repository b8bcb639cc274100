#pragma once

#include <pnmf/diagnostics/convergence.hpp>
#include <pnmf/diagnostics/correlation.hpp>
#include <pnmf/diagnostics/embedding_increments.hpp>
#include <pnmf/diagnostics/lipschitz.hpp>
#include <pnmf/diagnostics/scale_set_properties.hpp>
#include <pnmf/diagnostics/spectrum.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pnmf::cli {

/// Correlations of the increments along the scales: Δε_t, ‖ΔL_t‖, ‖ΔH_t‖, t = 2 … T.
struct IncrementCorrelations {
    Index pairs = 0;
    Correlation epsilon_laplacian;
    std::optional<Correlation> laplacian_embedding;
    std::optional<Correlation> epsilon_embedding;
};

/// What `pnmf check` found; what could not be looked at is empty.
struct CheckReport {
    std::string path;
    std::string data; ///< empty when there are none beside the result
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

std::string to_table(const CheckReport& report);
std::string to_json_text(const CheckReport& report);

} // namespace pnmf::cli
