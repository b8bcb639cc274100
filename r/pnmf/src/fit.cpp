#include "host.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/solvers/option_list.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>

/// The fit for R: the same presets, preparation and numbers as the program and Python have.
namespace {

using pnmf::Index;

/// As R would write it, for messages.
std::string shown(SEXP value) {
    return Rcpp::as<std::vector<std::string>>(Rcpp::Function("deparse")(value)).front();
}

/// Set from R: a number, a truth value, or the name of a choice.
template <class Value>
void set_value(Value& field, const std::string& name, SEXP value) {
    if constexpr (std::is_enum_v<Value>) {
        const auto known = pnmf::value_named<Value>(Rcpp::as<std::string>(value));
        pnmf::require(known.has_value(), "{} must be one of {}, got {}", name,
                      pnmf::joined_names<Value>(", "), shown(value));
        field = *known;
    } else if constexpr (std::is_arithmetic_v<Value>) {
        const double number = Rf_isNumeric(value) && Rf_length(value) == 1 ? Rf_asReal(value) : R_NaN;
        constexpr bool whole = std::is_integral_v<Value>;
        const double most = std::is_same_v<Value, bool> ? 1.0 : whole ? 0x1p53 : DBL_MAX;
        const double least = std::is_unsigned_v<Value> ? 0.0 : -most; // a truth value counts as unsigned
        pnmf::require(number >= least && number <= most && (!whole || number == std::floor(number)),
                      "{} must be a single {}, got {}", name,
                      std::is_same_v<Value, bool> ? "TRUE or FALSE"
                      : !whole                    ? "number"
                      : least == 0.0              ? "whole number, at least 0"
                                                  : "whole number",
                      shown(value));
        field = static_cast<Value>(number);
    } else if constexpr (std::is_same_v<Value, std::string>) {
        field = Rcpp::as<std::string>(value);
    } else {
        pnmf::fail("{} cannot be set from R", name);
    }
}

template <class Value>
void set_value(std::optional<Value>& field, const std::string& name, SEXP value) {
    if (Rf_isNull(value)) { // chosen by the fit
        field.reset();
        return;
    }
    Value held{};
    set_value(held, name, value);
    field = held;
}

/// Values taken out of a list one by one, by the names of a list of options with _ for -.
struct Taken {
    const Rcpp::List& values;
    std::vector<std::string> unknown = values.size() > 0 ? Rcpp::as<std::vector<std::string>>(values.names())
                                                         : std::vector<std::string>{};

    /// Whether it was there.
    template <class Field>
    bool take(std::string name, Field& field) {
        std::replace(name.begin(), name.end(), '-', '_');
        const auto place = std::find(unknown.begin(), unknown.end(), name);
        if (place == unknown.end()) {
            return false;
        }
        set_value(field, name, values[name]);
        unknown.erase(place);
        return true;
    }
    void check(const char* whose) const {
        pnmf::require(unknown.empty(), "{} is no option of {}", unknown.empty() ? "" : unknown.front(),
                      whose);
    }
};

} // namespace

namespace pnmf_r {

pnmf::AnalysisOptions analysis_options(const Rcpp::List& asked, const Rcpp::List& options) {
    pnmf::AnalysisOptions analysis;
    Taken of_input{asked};
    pnmf::visit_input_options(analysis, [&](const char* name, auto& field, const char*, const char*) {
        of_input.take(name, field);
    });
    of_input.check("the input");
    Taken of_fit{options};
    pnmf::visit_options(analysis.fit, [&](const char* name, auto& field, const char*) {
        if (of_fit.take(name, field)) {
            analysis.given.insert(name);
        }
    });
    of_fit.check("a fit");
    return analysis;
}

pnmf::Dataset dataset_of(SEXP X, const Rcpp::CharacterVector& genes, const Rcpp::CharacterVector& cells) {
    pnmf::Dataset data;
    if (Rf_isMatrix(X)) {
        const Rcpp::NumericMatrix dense(X);
        data.X = pnmf::Matrix(Eigen::Map<const pnmf::Matrix>(dense.begin(), dense.nrow(), dense.ncol()));
    } else {
        const Rcpp::S4 sparse(X);
        const Rcpp::IntegerVector size = sparse.slot("Dim");
        const Rcpp::IntegerVector start = sparse.slot("p");
        const Rcpp::IntegerVector row = sparse.slot("i");
        const Rcpp::NumericVector value = sparse.slot("x");
        pnmf::SparseMatrix<double> columns{.rows = size[0],
                                           .cols = size[1],
                                           .start = {start.begin(), start.end()},
                                           .row = {row.begin(), row.end()},
                                           .value = {value.begin(), value.end()}};
        pnmf::check_structure(columns);
        data.X = std::move(columns);
    }
    data.feature_names = Rcpp::as<std::vector<std::string>>(genes);
    data.cell_names = Rcpp::as<std::vector<std::string>>(cells);
    data.input = {.format = "matrix", .cells = pnmf::CellAxis::columns, .known = true};
    return data;
}

bool interrupted() {
    return R_ToplevelExec([](void*) { R_CheckUserInterrupt(); }, nullptr) == FALSE;
}

template <class Real>
Rcpp::NumericMatrix transposed(const pnmf::DenseMatrix<Real>& matrix, const std::vector<std::string>& names) {
    Rcpp::NumericMatrix result(static_cast<int>(matrix.cols()), static_cast<int>(matrix.rows()));
    for (Index i = 0; i < matrix.rows(); ++i) {
        for (Index j = 0; j < matrix.cols(); ++j) {
            result(static_cast<int>(j), static_cast<int>(i)) = static_cast<double>(matrix(i, j));
        }
    }
    Rcpp::CharacterVector programs(matrix.rows());
    for (Index i = 0; i < matrix.rows(); ++i) {
        programs[i] = "PNMF_" + std::to_string(i + 1);
    }
    result.attr("dimnames") = Rcpp::List::create(Rcpp::wrap(names), programs);
    return result;
}

template Rcpp::NumericMatrix transposed(const pnmf::DenseMatrix<float>&, const std::vector<std::string>&);
template Rcpp::NumericMatrix transposed(const pnmf::DenseMatrix<double>&, const std::vector<std::string>&);

} // namespace pnmf_r

namespace {

using namespace pnmf_r;

/// Clusters and scales are numbered from 1 in R.
Rcpp::IntegerVector from_one(const std::vector<Index>& values) {
    Rcpp::IntegerVector result(static_cast<R_xlen_t>(values.size()));
    std::transform(values.begin(), values.end(), result.begin(),
                   [](Index value) { return static_cast<int>(value) + 1; });
    return result;
}

Rcpp::List resolutions_of(const pnmf::Assessment& assessment) {
    std::vector<double> clusters;
    std::vector<double> scale;
    std::vector<double> stability;
    std::vector<bool> recommended;
    const auto& all = assessment.resolutions.all;
    for (std::size_t r = 0; r < all.size(); ++r) {
        clusters.push_back(static_cast<double>(all[r].clusters));
        scale.push_back(static_cast<double>(all[r].scale) + 1.0);
        stability.push_back(all[r].stability);
        recommended.push_back(static_cast<Index>(r) == assessment.resolutions.recommended);
    }
    return Rcpp::List::create(Rcpp::Named("clusters") = clusters, Rcpp::Named("scale") = scale,
                              Rcpp::Named("stability") = stability, Rcpp::Named("recommended") = recommended);
}

/// Of a tissue, at the scale that was chosen for them; else NULL.
template <class Real>
SEXP domains_of(const pnmf::Run<Real>& run) {
    return run.domains ? SEXP(from_one(run.domains->labels[static_cast<std::size_t>(run.domains->scale)]))
                       : R_NilValue;
}

template <class Real>
Rcpp::List result_of(const pnmf::Dataset& data, const pnmf::Run<Real>& run) {
    const pnmf::FitResult<Real>& fit = run.result;
    const auto recommended = static_cast<std::size_t>(run.assessment.recommended);
    Rcpp::List embeddings;
    for (const auto& H : fit.factors.H) {
        embeddings.push_back(transposed(H, data.cell_names));
    }
    Rcpp::List divisions;
    const auto& all = run.assessment.resolutions.all;
    for (std::size_t r = 0; r < all.size(); ++r) {
        divisions["pnmf_clusters_" + std::to_string(r + 1)] = from_one(all[r].labels);
    }
    const pnmf::DenseMatrix<Real> basis = fit.factors.W[recommended].transpose();
    const pnmf::DenseMatrix<float> scores = run.assessment.programs.scores.transpose();
    const Rcpp::List scales = Rcpp::List::create(
        Rcpp::Named("epsilon") = fit.scales.epsilon,
        Rcpp::Named("components") = std::vector<double>(fit.scales.betti0.begin(), fit.scales.betti0.end()),
        Rcpp::Named("effective_rank") = fit.effective_rank);
    return Rcpp::List::create(
        Rcpp::Named("embedding") = embeddings[static_cast<R_xlen_t>(recommended)],
        Rcpp::Named("basis") = transposed(basis, data.feature_names),
        Rcpp::Named("gene_scores") = transposed(scores, data.feature_names),
        Rcpp::Named("clusters") = from_one(run.assessment.clusters[recommended]),
        Rcpp::Named("resolutions") = resolutions_of(run.assessment), Rcpp::Named("divisions") = divisions,
        Rcpp::Named("embeddings") = embeddings, Rcpp::Named("scales") = scales,
        Rcpp::Named("recommended") = static_cast<int>(recommended) + 1,
        Rcpp::Named("objective") = fit.trace.back().total(),
        Rcpp::Named("stop") = std::string(pnmf::name_of(fit.stop)), Rcpp::Named("warnings") = fit.warnings,
        Rcpp::Named("genes") = data.feature_names, Rcpp::Named("cells") = data.cell_names,
        Rcpp::Named("domains") = domains_of(run));
}

template <class Real>
Rcpp::List run(const pnmf::Dataset& data, const pnmf::Analysis& analysis, int clusters, int domains,
               const std::string& file, bool verbose) {
    pnmf::RunOptions options{.fit = analysis.fit, .space = data.space ? &data.space->coordinates : nullptr};
    if (clusters > 0) {
        options.clusters = clusters;
    }
    if (analysis.preset == pnmf::Preset::spatial) {
        options.tissue = pnmf::TissueRun{.domains = {.seed = analysis.fit.seed},
                                         .types = pnmf::options_of_types(analysis.fit, data.cells()),
                                         .expression = data.expression ? &*data.expression : nullptr};
        if (domains > 0) {
            options.tissue->domains.domains = domains;
        }
    }
    pnmf::RunObserver observer;
    observer.progress = [](const pnmf::RunProgress&) { return !interrupted(); };
    if (verbose) {
        observer.notice = [](const std::string& text) { REprintf("%s\n", text.c_str()); };
    }
    const pnmf::Run<Real> done = pnmf::run_fit<Real>(pnmf::view_of(data.X), options, observer);
    for (const std::string& warning : done.result.warnings) {
        Rcpp::warning("%s", warning);
    }
    pnmf::write_result(
        file, data, done.prepared, done.result, done.assessment,
        {.save_basis = true, .command = "R", .domains = done.domains ? &*done.domains : nullptr});
    return result_of(data, done);
}

} // namespace

/// `about`: columns of the cells beside the values: `sample` and `batch`, and what `batch_name` calls it;
/// whether the coordinates are `places`; the number of `domains`, 0 to find it; where to write the result.
// [[Rcpp::export]]
Rcpp::List pnmf_fit(SEXP X, Rcpp::CharacterVector genes, Rcpp::CharacterVector cells, Rcpp::List asked,
                    Rcpp::List options, Rcpp::NumericMatrix coordinates, Rcpp::List about, int clusters,
                    int threads, bool verbose) {
    using Texts = std::vector<std::string>;
    pnmf::AnalysisOptions wanted = analysis_options(asked, options);
    pnmf::Dataset data = dataset_of(X, genes, cells);
    const bool places = Rcpp::as<bool>(about["places"]);
    if (coordinates.nrow() > 0) {
        pnmf::require(coordinates.ncol() == data.cells(),
                      "{} must have a row for each of the {} cells, got {}", places ? "places" : "space",
                      data.cells(), coordinates.ncol());
        data.space = pnmf::Space{.name = places ? "obsm:spatial" : "obsm:space",
                                 .coordinates = Eigen::Map<const pnmf::Matrix>(
                                     coordinates.begin(), coordinates.nrow(), coordinates.ncol())};
    }
    if (places) {
        pnmf::add_places(data, "obsm:");
    }
    if (about.containsElementNamed("sample")) {
        pnmf::add_samples(data, Rcpp::as<Texts>(about["sample"]));
    }
    if (about.containsElementNamed("batch")) {
        wanted.batch = Rcpp::as<std::string>(about["batch_name"]);
        pnmf::add_batches(data, wanted.batch, Rcpp::as<Texts>(about["batch"]));
    }
    if (threads > 0) {
        pnmf::set_thread_count(threads);
    }
    pnmf::Analysis analysis = pnmf::plan_analysis(data, wanted);
    pnmf::prepare(data, analysis, wanted);
    if (verbose) {
        for (const std::string& notice : data.notices) {
            REprintf("%s\n", notice.c_str());
        }
        for (const pnmf::Choice& one : analysis.choices) {
            REprintf("%s\n", one.text.c_str());
        }
    }
    const auto file = Rcpp::as<std::string>(about["file"]);
    const int domains = Rcpp::as<int>(about["domains"]);
    return analysis.precision == pnmf::Precision::single
               ? run<float>(data, analysis, clusters, domains, file, verbose)
               : run<double>(data, analysis, clusters, domains, file, verbose);
}
