#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/assess/domains.hpp>
#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <string>

namespace pnmf {

/// The options of a fit and their values as JSON, in the order of `visit_options`; what was chosen
/// automatically is null.
std::string options_json(const FitOptions& options);
std::string options_json(const BaselineFitOptions& options);

/// The same back, through the same list. An option that the text does not name keeps its default: results of
/// older versions lack the options that came later. InputError when the text is not such JSON, a value is
/// none of those known, or an option is none of ours.
FitOptions fit_options_from_json(const std::string& text);

struct ResultFileOptions {
    bool save_basis = false;           ///< W too: T × p × d numbers
    std::string command{};             ///< how the run was started; empty for none
    std::string method = "pnmf";       ///< or the name of a baseline
    std::string options{};             ///< JSON; empty: those of the fit
    const Domains* domains = nullptr;  ///< of a tissue
    std::filesystem::path kept_from{}; ///< as in `AnnDataFile`
};

/// Writes a result as .h5ad: names and tables of cells and features; `obsm/X_pnmf`, the embedding at the
/// recommended scale, n × d; `varm/pnmf_W`, the basis there, p × d; and in `uns/pnmf` epsilon, multiplicity,
/// betti0, H (T × d × n, finest first), W (T × p × d, when asked for), objective (sweeps + 1) and its four
/// terms, kkt (T) with its parts kkt_H and kkt_W, effective_rank (T), deaths and merge_tree of the cells,
/// options (JSON), penalty (λ₁, λ₂, λ₃ in effect), precision ("double" or "float"), recommended (position of
/// the scale, from 0), stop, warnings, notices (automatic choices made on the way), method.
///
/// H has its cells last and W its features in the middle, where AnnData cannot keep them in order when a user
/// sorts or selects cells. Therefore `cells` and `features` name them; `StoredResult` matches them with the
/// names of the file. `input` is the `InputRecord` of the data as JSON; `transform` repeats its transform.
///
/// Where few scales stand for all: scales_all, how many there are; scale_position, scale_weight and coupling,
/// which of them these are and how they count (`KeptScales`); scale_error, the largest residual at a scale
/// that was left out. Where distances come from a space: space/name and space/coordinates (n × m, in the
/// order of `cells`), and of principal components space/directions (p × m), space/mean and space/variance.
/// Where neighbours were balanced over batches: batch/column, batch/names and batch/of_cell (n, positions
/// among the names).
///
/// The recommended scale is the assessment's. From it come also `obs/pnmf_clusters`, the clusters at that
/// scale, numbered from 1, and in `uns/pnmf` clusters (T × n, numbered from 0), cluster_count, and scores:
/// gap_prominence, stability, silhouette, resampling, combined (T each, NaN where there is none).
///
/// `programs` in `uns/pnmf` are the components of the recommended scale, by their genes: scores (p × d,
/// `program_scores`, float), mean_usage (d), between_clusters (d, `variance_between`), persistence,
/// first_scale, last_scale (from 0) and merges_into (d each, `ProgramPath`; −1 for none), and where the
/// counts of the cells are known, depth_correlation (d).
///
/// Of a tissue: `obs/pnmf_domains`, `obsm/spatial` with their places in their slices, and domains/scale (from
/// 0), domains/count, domains/of_scale (T × n, the domains of each scale, from 0), domains/neighbors (T, how
/// many cells a neighbourhood has), domains/distinct (T, `Domains`), domains/coherence (T) and domains/moran
/// (T × d, Moran's I of each program).
///
/// A baseline is a result of one scale: its embedding also stands in `obsm/X_<method>`, and epsilon,
/// multiplicity, deaths and merge_tree, which it does not have, are left out.
template <class Real>
void write_result(const std::filesystem::path& path, const Dataset& data, const PreparedFit<Real>& prepared,
                  const FitResult<Real>& result, const Assessment& assessment,
                  const ResultFileOptions& options = {});

/// What `write_result` writes, for hosts that keep it elsewhere. H and W stay in the result: it must outlive
/// this. Where processes hold some of the cells each, `keep_embeddings` comes first.
template <class Real>
AnnDataFile result_file(const Dataset& data, const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                        const Assessment& assessment, const ResultFileOptions& options = {});

} // namespace pnmf
