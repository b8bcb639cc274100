#include <pnmf/results/consensus_result.hpp>

#include "io/formats.hpp"
#include "io/sidecar_texts.hpp"
#include "io/unnamed_anndata.hpp"

#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/solvers/embed.hpp>

#include <fmt/format.h>

#include <unordered_set>

namespace pnmf {
namespace {

constexpr double per_million = 1e6;
constexpr double tolerance = 1e-4; ///< of usages: tables show few digits

/// As pandas writes a frame: an empty corner, then names of columns; a row begins with its name.
template <class Value>
std::string table_of(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                     const Value& value) {
    std::string text;
    for (const std::string& column : columns) {
        text += fmt::format("\t{}", column);
    }
    text += '\n';
    for (std::size_t i = 0; i < rows.size(); ++i) {
        text += rows[i];
        for (std::size_t j = 0; j < columns.size(); ++j) {
            text += fmt::format("\t{:.6g}", value(static_cast<Index>(i), static_cast<Index>(j)));
        }
        text += '\n';
    }
    return text;
}

/// Cells × features as the "features × cells" of a problem whose basis are the usages.
DataMatrix<double> turned(const Dataset& data) {
    if (const auto* dense = std::get_if<Matrix>(&data.X)) {
        return DataMatrix<double>(Matrix(dense->transpose()));
    }
    return DataMatrix<double>(transpose(std::get<SparseMatrix<double>>(data.X)));
}

} // namespace

ConsensusFit fit_consensus(const Dataset& data, const ConsensusPrograms& programs) {
    BaselineFitOptions options;
    options.graph.method = Baseline::nmf;
    options.rank = programs.count();
    ConsensusFit fit{
        .prepared = prepare_baseline<float>(view_of(data.X), options), .result = {}, .assessment = {}};
    const DenseMatrix<float> W = programs.W.cast<float>();
    const auto embedded =
        embed_cells<float>(*fit.prepared.X, W, fit.prepared.penalty, nullptr, {.tolerance = tolerance});
    SolverState<float> state;
    state.current = {{W}, {embedded.H}};
    state.trace.push_back(objective(fit.prepared.problem(), state.current));
    fit.result = finish_fit(fit.prepared, std::move(state), Stop::converged);
    fit.assessment = assess_fit(fit.prepared, fit.result);
    return fit;
}

AnnDataFile consensus_file(const Dataset& data, const ConsensusFit& fit, const std::string& command) {
    return result_file(data, fit.prepared, fit.result, fit.assessment,
                       {.save_basis = true, .command = command, .method = "consensus"});
}

void write_consensus(const std::filesystem::path& path, const AnnDataFile& result,
                     const std::vector<TextFile>& tables) {
    AtomicFile target(path);
    io::write_anndata(target, path, result);
    io::SidecarTexts(tables).commit_with(target);
}

Dataset read_unscaled(const std::filesystem::path& path, const Dataset& prepared) {
    const InputRecord& record = prepared.input;
    Dataset data = read_dataset(path, {.cells = record.cells,
                                       .layer = record.layer,
                                       .modality = record.modality,
                                       .variable = record.variable});
    const std::unordered_set<std::string> kept(prepared.cell_names.begin(), prepared.cell_names.end());
    std::vector<bool> keep;
    for (const std::string& name : data.cell_names) {
        keep.push_back(kept.contains(name));
    }
    io::keep_cells(data, keep);
    require(data.cell_names == prepared.cell_names, "{}: its cells are no longer those that were read before",
            path.string());
    return data;
}

std::vector<TextFile> cnmf_tables(const std::filesystem::path& folder, const Dataset& data,
                                  const ConsensusFit& fit, Dataset unscaled) {
    const Matrix W = fit.result.factors.W.front().cast<double>();
    const Vector sums = W.colwise().sum().transpose();
    const Matrix usages = sums.asDiagonal() * fit.result.factors.H.front().cast<double>();
    std::vector<std::string> programs;
    for (Index k = 0; k < W.cols(); ++k) {
        programs.push_back(fmt::format("{}", k + 1));
    }
    const std::string name = std::filesystem::absolute(folder / ".").parent_path().filename().string();
    const auto path = [&](const char* what, const char* kind) {
        return folder / fmt::format("{}.{}.k_{}.dt_0_5{}.txt", name, what, W.cols(), kind);
    };
    std::vector<TextFile> files{
        {.path = path("usages", ".consensus"),
         .text = table_of(data.cell_names, programs, [&](Index j, Index k) { return usages(k, j); })},
        {.path = path("spectra", ".consensus"),
         .text = table_of(programs, data.feature_names,
                          [&](Index k, Index i) { return W(i, k) / std::max(sums[k], 1e-300); })}};
    if (unscaled.cells() == 0) {
        return files;
    }
    const ValueKind kind = recognise_values(unscaled, {.log_recorded = unscaled.facts.log_recorded}).kind;
    if (kind != ValueKind::counts && kind != ValueKind::expression) {
        return files;
    }
    scale_cells_to(unscaled, per_million);
    const Matrix shares = program_usages(W, fit.result.factors.H.front().cast<double>());
    const Matrix scores = program_scores(
        std::visit([](const auto& values) { return DataMatrix<double>(values); }, unscaled.X), shares);
    const Matrix tpm = embed_cells<double>(turned(unscaled), Matrix(shares.transpose()),
                                           Penalty{0.0, 0.0, 0.0}, nullptr, {.tolerance = tolerance})
                           .H;
    files.push_back(
        {.path = path("gene_spectra_score", ""),
         .text = table_of(programs, unscaled.feature_names, [&](Index k, Index i) { return scores(i, k); })});
    files.push_back(
        {.path = path("gene_spectra_tpm", ""),
         .text = table_of(programs, unscaled.feature_names, [&](Index k, Index i) { return tpm(k, i); })});
    return files;
}

} // namespace pnmf
