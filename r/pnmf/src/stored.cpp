#include "host.hpp"

#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/report/report.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/results/transform_cells.hpp>
#include <pnmf/version.hpp>

#include <optional>

/// What is done with a stored result, `file`, and the choice of a rank.
namespace {

using Names = Rcpp::CharacterVector;

/// Values prepared as those of the fit were; nothing for NULL.
std::optional<pnmf::RecordedData> prepared_as(const pnmf::StoredResult& result, SEXP X, const Names& genes,
                                              const Names& cells) {
    if (Rf_isNull(X)) {
        return std::nullopt;
    }
    pnmf::RecordedData fresh{.data = pnmf_r::dataset_of(X, genes, cells), .match = {}};
    fresh.match =
        pnmf::apply_steps(fresh.data, result.input.steps,
                          {.features = result.features,
                           .drop_empty_cells = false,
                           .space = result.space && result.space->components ? &*result.space : nullptr});
    return fresh;
}

std::optional<pnmf::RecordedData> data_of(const pnmf::StoredResult& result, SEXP X, const Names& genes,
                                          const Names& cells) {
    auto data = prepared_as(result, X, genes, cells);
    pnmf::require(!data || (data->match.missing.empty() && data->data.cell_names == result.file.cell_names),
                  "these are not the data of the fit: its genes or the names or order of its cells differ");
    return data;
}

} // namespace

/// Tab-separated, as programs.tsv.
// [[Rcpp::export]]
std::string pnmf_programs(std::string file, int listed) {
    const pnmf::StoredResult result = pnmf::read_stored_result(file);
    const std::optional<pnmf::StoredPrograms> programs = pnmf::stored_programs(result);
    pnmf::require(programs.has_value(), "the result has no programs of genes");
    return pnmf::programs_table(*programs, listed);
}

// [[Rcpp::export]]
Rcpp::List pnmf_transform(std::string file, SEXP X, Rcpp::CharacterVector genes, Rcpp::CharacterVector cells,
                          int threads) {
    if (threads > 0) {
        pnmf::set_thread_count(threads);
    }
    const pnmf::StoredResult result = pnmf::read_stored_result(file);
    const auto fresh = prepared_as(result, X, genes, cells);
    const auto scales = pnmf::transform_cells(result, fresh->data, {result.recommended});
    return Rcpp::List::create(
        Rcpp::Named("embedding") = pnmf_r::transposed(scales.front().cells.H, fresh->data.cell_names),
        Rcpp::Named("missing") = fresh->match.missing, Rcpp::Named("extra") = fresh->match.extra);
}

/// `groups`: of each cell, called `column`; empty: a column of the result.
// [[Rcpp::export]]
Rcpp::List pnmf_find_paths(std::string file, SEXP X, Rcpp::CharacterVector genes, Rcpp::CharacterVector cells,
                           std::string root, std::vector<std::string> ends, std::vector<std::string> groups,
                           std::string column) {
    pnmf::StoredResult result = pnmf::read_stored_result(file);
    if (!groups.empty()) {
        pnmf::require(std::ssize(groups) == result.cells(),
                      "groups must have a value for each of the {} cells, got {}", result.cells(),
                      groups.size());
        result.file.cell_table.push_back({.name = column, .values = groups, .categorical = true});
    }
    const auto data = data_of(result, X, genes, cells);
    const pnmf::StoredPaths paths = pnmf::find_paths(result, {.root = root, .ends = ends, .groups = column},
                                                     data ? &data->data : nullptr);
    Rcpp::NumericMatrix fates =
        pnmf_r::transposed(pnmf::Matrix(paths.fates.probability), result.file.cell_names);
    Rcpp::colnames(fates) = Rcpp::wrap(paths.ends);
    return Rcpp::List::create(Rcpp::Named("time") = std::vector<double>(paths.time.begin(), paths.time.end()),
                              Rcpp::Named("fates") = fates, Rcpp::Named("ends") = paths.ends,
                              Rcpp::Named("root") = static_cast<int>(paths.root) + 1);
}

// [[Rcpp::export]]
void pnmf_report(std::string file, SEXP X, Rcpp::CharacterVector genes, Rcpp::CharacterVector cells,
                 std::string page, std::string name) {
    const pnmf::StoredResult result = pnmf::read_stored_result(file);
    const auto data = data_of(result, X, genes, cells);
    const pnmf::ReportSource source{.result = &result, .name = name, .data = data ? &data->data : nullptr};
    pnmf::write_text(page, pnmf::report_html({source}, {.program = std::string("pnmf ") + PNMF_VERSION}));
}

// [[Rcpp::export]]
Rcpp::List pnmf_rank(SEXP X, Rcpp::CharacterVector genes, Rcpp::CharacterVector cells, Rcpp::List asked,
                     std::vector<int> ranks, int restarts, double held_out, std::string rule, double seed,
                     int threads) {
    if (threads > 0) {
        pnmf::set_thread_count(threads);
    }
    const auto named = pnmf::value_named<pnmf::RankRule>(rule);
    pnmf::require(named.has_value(), "rule must be {}, got {}", pnmf::joined_names<pnmf::RankRule>(" or "),
                  rule);
    const pnmf::AnalysisOptions wanted = pnmf_r::analysis_options(asked, Rcpp::List::create());
    pnmf::Dataset data = pnmf_r::dataset_of(X, genes, cells);
    pnmf::Analysis analysis = pnmf::plan_analysis(data, wanted);
    pnmf::prepare(data, analysis, wanted);
    const pnmf::RankCurve curve = pnmf::choose_rank(data.X,
                                                    {.ranks = {ranks.begin(), ranks.end()},
                                                     .restarts = restarts,
                                                     .held_out = held_out,
                                                     .rule = *named,
                                                     .seed = static_cast<std::uint64_t>(seed)},
                                                    [](const pnmf::RankProgress&) { return true; });
    return Rcpp::List::create(Rcpp::Named("rank") = std::vector<int>(curve.ranks.begin(), curve.ranks.end()),
                              Rcpp::Named("error") = curve.error, Rcpp::Named("deviation") = curve.deviation,
                              Rcpp::Named("stability") = curve.stability,
                              Rcpp::Named("by_error") = static_cast<int>(curve.by_error),
                              Rcpp::Named("by_stability") = static_cast<int>(curve.by_stability),
                              Rcpp::Named("chosen") = static_cast<int>(curve.chosen));
}
