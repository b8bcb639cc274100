#include "host.hpp"

#include <pnmf/assess/loops.hpp>
#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/report/report.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/results/transform_cells.hpp>
#include <pnmf/version.hpp>

#include <algorithm>
#include <limits>
#include <optional>

/// What is done with a stored result, `file`, the choice of a rank, and loops.
namespace {

using Names = Rcpp::CharacterVector;

/// Values prepared as those of the fit were; nothing for NULL.
std::optional<pnmf::RecordedData> prepared_as(const pnmf::StoredResult& result, SEXP X, const Names& genes,
                                              const Names& cells, pnmf::Index most_others = 0) {
    if (Rf_isNull(X)) {
        return std::nullopt;
    }
    pnmf::RecordedData fresh{.data = pnmf_r::dataset_of(X, genes, cells), .match = {}};
    fresh.match =
        pnmf::apply_steps(fresh.data, result.input.steps,
                          {.features = result.features,
                           .drop_empty_cells = false,
                           .space = result.space && result.space->components ? &*result.space : nullptr,
                           .most_others = most_others});
    return fresh;
}

std::optional<pnmf::RecordedData> data_of(const pnmf::StoredResult& result, SEXP X, const Names& genes,
                                          const Names& cells, pnmf::Index most_others = 0) {
    auto data = prepared_as(result, X, genes, cells, most_others);
    pnmf::require(!data || (data->match.missing.empty() && data->data.cell_names == result.file.cell_names),
                  "these are not the data of the fit: its genes or the names or order of its cells differ");
    return data;
}

/// Categories of the cells; NULL where there is no such column.
SEXP column_of(const pnmf::StoredResult& result, const std::string& name) {
    for (const pnmf::TableColumn& column : result.file.cell_table) {
        if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values);
            texts != nullptr && column.name == name) {
            return Rcpp::wrap(*texts);
        }
    }
    return R_NilValue;
}

/// The names of genes as positions among those that were kept.
std::vector<pnmf::Index> positions_of(const std::vector<std::string>& wanted,
                                      const std::vector<std::string>& genes) {
    std::vector<pnmf::Index> found;
    for (const std::string& name : wanted) {
        const auto place = std::find(genes.begin(), genes.end(), name);
        pnmf::require(place != genes.end(),
                      "'{}' is none of the {} genes that were kept; genes = \"all\" keeps all", name,
                      genes.size());
        found.push_back(place - genes.begin());
    }
    return found;
}

Rcpp::DataFrame table_of(const std::vector<pnmf::PhaseGene>& genes, const std::vector<std::string>& names) {
    std::vector<std::string> gene;
    const auto numbers = [&](auto member) {
        std::vector<double> values;
        for (const pnmf::PhaseGene& one : genes) {
            values.push_back(one.*member);
        }
        return values;
    };
    for (const pnmf::PhaseGene& one : genes) {
        gene.push_back(names[static_cast<std::size_t>(one.gene)]);
    }
    using Gene = pnmf::PhaseGene;
    return Rcpp::DataFrame::create(
        Rcpp::Named("gene") = gene, Rcpp::Named("amplitude") = numbers(&Gene::amplitude),
        Rcpp::Named("peak") = numbers(&Gene::peak), Rcpp::Named("share") = numbers(&Gene::share),
        Rcpp::Named("p_value") = numbers(&Gene::p_value), Rcpp::Named("adjusted") = numbers(&Gene::adjusted),
        Rcpp::Named("stringsAsFactors") = false);
}

} // namespace

/// What `pnmf_fit` returns, of a file.
// [[Rcpp::export]]
Rcpp::List pnmf_read(std::string file) {
    const pnmf::StoredResult result = pnmf::read_stored_result(file);
    pnmf::require(!result.is_baseline(), "{}: a result of {}, not of a fit", file, result.method);
    const std::vector<std::string>& cells = result.file.cell_names;
    Rcpp::List embeddings;
    for (pnmf::Index t = 0; t < result.scales; ++t) {
        embeddings.push_back(pnmf_r::transposed(result.H(t), cells));
    }
    const auto turned = [](const auto& matrix, const std::vector<std::string>& names) {
        using Real = typename std::decay_t<decltype(matrix)>::Scalar;
        return SEXP(pnmf_r::transposed(pnmf::DenseMatrix<Real>(matrix.transpose()), names));
    };
    const auto basis = result.recommended_basis();
    const auto programs = pnmf::stored_programs(result);
    Rcpp::List divisions;
    std::vector<double> clusters = result.numbers("resolutions/clusters");
    for (std::size_t r = 0; r < clusters.size(); ++r) {
        const std::string name = result.key + "_clusters_" + std::to_string(r + 1);
        divisions[name] = column_of(result, name);
    }
    std::vector<double> scale = result.numbers("resolutions/scale");
    std::vector<double> stability = result.numbers("resolutions/stability");
    const auto* best = pnmf::find(result.file.uns, result.key + "/resolutions/recommended");
    const auto* place = best == nullptr ? nullptr : std::get_if<std::int64_t>(&best->value);
    if (clusters.empty()) { // their number was given
        clusters = {static_cast<double>(result.cluster_count.value_or(0))};
        scale = {static_cast<double>(result.recommended)};
        stability = {R_NaN};
    }
    std::vector<bool> recommended(clusters.size(), false);
    recommended.at(place == nullptr ? 0 : static_cast<std::size_t>(*place)) = true;
    for (double& one : scale) {
        one += 1.0;
    }
    const std::vector<double> objective = result.numbers("objective");
    return Rcpp::List::create(
        Rcpp::Named("embedding") = embeddings[static_cast<R_xlen_t>(result.recommended)],
        Rcpp::Named("basis") = basis ? turned(*basis, result.features) : R_NilValue,
        Rcpp::Named("gene_scores") = programs ? turned(programs->scores, programs->genes) : R_NilValue,
        Rcpp::Named("clusters") = column_of(result, result.key + "_clusters"),
        Rcpp::Named("resolutions") = Rcpp::List::create(
            Rcpp::Named("clusters") = clusters, Rcpp::Named("scale") = scale,
            Rcpp::Named("stability") = stability, Rcpp::Named("recommended") = recommended),
        Rcpp::Named("divisions") = divisions, Rcpp::Named("embeddings") = embeddings,
        Rcpp::Named("scales") = Rcpp::List::create(
            Rcpp::Named("epsilon") = result.epsilon,
            Rcpp::Named("components") = std::vector<double>(result.betti0.begin(), result.betti0.end()),
            Rcpp::Named("effective_rank") = result.of_scales("effective_rank")),
        Rcpp::Named("recommended") = static_cast<int>(result.recommended) + 1,
        Rcpp::Named("objective") = objective.empty() ? R_NaN : objective.back(),
        Rcpp::Named("stop") = result.stop, Rcpp::Named("warnings") = result.warnings,
        Rcpp::Named("genes") = result.features, Rcpp::Named("cells") = cells,
        Rcpp::Named("domains") = column_of(result, result.key + "_domains"));
}

/// Loops of cells as `pnmf loops` finds them. `coordinates` × cells to look in, or none: 30 principal
/// components of the values.
// [[Rcpp::export]]
Rcpp::List pnmf_loops(SEXP X, Rcpp::CharacterVector genes, Rcpp::CharacterVector cells, Rcpp::List asked,
                      Rcpp::NumericMatrix coordinates, std::vector<std::string> zero,
                      std::vector<std::string> following, double p_value, int clouds, double seed,
                      int threads) {
    constexpr pnmf::Index components = 30;
    if (threads > 0) {
        pnmf::set_thread_count(threads);
    }
    pnmf::Dataset data = pnmf_r::dataset_of(X, genes, cells);
    pnmf::AnalysisOptions wanted = pnmf_r::analysis_options(asked, Rcpp::List::create());
    wanted.space = "none";
    wanted.given.insert("rank"); // nothing is factorised
    pnmf::Analysis analysis = pnmf::plan_analysis(data, wanted);
    pnmf::prepare(data, analysis, wanted);
    const pnmf::DataMatrix<double> values =
        std::visit([](auto& held) { return pnmf::DataMatrix<double>(std::move(held)); }, data.X);
    pnmf::Matrix space =
        Eigen::Map<const pnmf::Matrix>(coordinates.begin(), coordinates.nrow(), coordinates.ncol());
    if (coordinates.nrow() == 0) {
        space = pnmf::component_space(values, components).coordinates;
    }
    const pnmf::Index count = values.cells();
    pnmf::require(space.cols() == count, "space must have a row for each of the {} cells, got {}", count,
                  space.cols());
    const pnmf::PhaseAnchors anchors{.zero = positions_of(zero, data.feature_names),
                                     .next = positions_of(following, data.feature_names)};
    const pnmf::LoopFinding finding = pnmf::find_loops(
        space, {.level = p_value, .null_clouds = clouds, .seed = static_cast<std::uint64_t>(seed)});
    pnmf::Matrix phases(std::ssize(finding.loops), count);
    Rcpp::List tables;
    std::vector<double> persistence;
    std::vector<double> p_values;
    std::vector<double> on_loop;
    for (pnmf::Index k = 0; k < phases.rows(); ++k) {
        const pnmf::CellLoop& loop = finding.loops[static_cast<std::size_t>(k)];
        pnmf::Vector phase = loop.phase;
        std::vector<pnmf::PhaseGene> found = pnmf::phase_genes(values, phase);
        if (!zero.empty() || !following.empty()) {
            phase = pnmf::anchored(phase, found, anchors);
            found = pnmf::phase_genes(values, phase);
        }
        phases.row(k) = phase.transpose();
        tables.push_back(table_of(found, data.feature_names));
        persistence.push_back(loop.persistence);
        p_values.push_back(loop.p_value);
        on_loop.push_back(static_cast<double>(loop.cells));
    }
    std::vector<double> birth(finding.joins.size(), 0.0);
    std::vector<double> death = finding.joins;
    for (const auto& [born, died] : finding.diagram) {
        birth.push_back(born);
        death.push_back(died);
    }
    return Rcpp::List::create(Rcpp::Named("phases") = pnmf_r::transposed(phases, data.cell_names),
                              Rcpp::Named("genes") = tables, Rcpp::Named("persistence") = persistence,
                              Rcpp::Named("p_values") = p_values, Rcpp::Named("cells") = on_loop,
                              Rcpp::Named("p_value") = finding.p_value,
                              Rcpp::Named("joins") = static_cast<int>(finding.joins.size()),
                              Rcpp::Named("birth") = birth, Rcpp::Named("death") = death);
}

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
    const auto data = data_of(result, X, genes, cells, std::numeric_limits<pnmf::Index>::max());
    const pnmf::ReportSource source{.result = &result, .name = name, .data = data ? &data->data : nullptr};
    pnmf::write_report(page, pnmf::report_files({source}, {.program = std::string("pnmf ") + PNMF_VERSION}));
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
