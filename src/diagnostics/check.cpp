#include <pnmf/diagnostics/check.hpp>

#include "linalg/some_columns.hpp"
#include "solvers/choose_device.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>

namespace pnmf {
namespace {

/// The cells at all scales, as a fit with these options has them, and every edge of the graphs.
struct Cloud {
    Filtration filtration;
    SortedEdges sorted;
};

/// `points`: the columns of X, or of the space of the fit.
Cloud make_cloud(const Points& points, const FitOptions& fit) {
    require(points.count() >= 2, "there must be at least 2 cells, got {}", points.count());
    require(fit.filtration.neighbors || points.count() <= largest_set_of_pairs,
            "all pairs of {} cells do not fit (at most {}): a graph of nearest neighbours does",
            points.count(), largest_set_of_pairs);
    FiltrationOptions options = fit.filtration;
    if (fit.scale_error) {
        options.scales.max_scales.reset(); // all scales, for which those of the fit stand
    }
    const auto searcher = searcher_for_stored(points, options);
    Filtration filtration = make_filtration(points, options, fit.seed, searcher.get());
    SortedEdges sorted = edges_of(points, filtration);
    return {std::move(filtration), std::move(sorted)};
}

void append(Findings& findings, Findings more) {
    findings.insert(findings.end(), more.begin(), more.end());
}

/// Theorems about scales, graphs and spectra.
void check_graphs(CheckReport& report, const Cloud& cloud, double alpha, const CheckOptions& options) {
    const ComponentCounts counts = component_counts(cloud.sorted);
    report.alpha = alpha;
    report.canonical = scale_set_properties(counts, canonical_scales(cloud.filtration.tree).epsilon);
    report.used = scale_set_properties(counts, report.epsilon);
    report.graphs = nested_graphs(*cloud.filtration.graph, cloud.sorted, counts, report.epsilon);
    append(report.findings, findings(*report.canonical, *report.graphs));
    if (report.epsilon.size() < 2) {
        return;
    }
    const auto all = static_cast<Index>(report.epsilon.size());
    const std::vector<double> distances = cloud.sorted.distance_scales(complete_scale(cloud.filtration.tree));
    report.lipschitz = lipschitz_constants(cloud.sorted, alpha, distances);
    report.increments = adjacent_lipschitz(cloud.sorted, alpha, report.epsilon, all);
    append(report.findings,
           findings(piecewise_lipschitz(cloud.sorted, alpha, distances, options.most_intervals),
                    *report.lipschitz,
                    adjacent_lipschitz(cloud.sorted, alpha, distances, options.most_intervals),
                    *report.increments));
    report.spectrum = spectrum_path(*cloud.filtration.graph, cloud.sorted, report.epsilon);
    append(report.findings, findings(*report.spectrum, report.increments->increment, report.increments->gap,
                                     report.lipschitz->C));
    report.correlations = IncrementCorrelations{
        .pairs = all - 1,
        .epsilon_laplacian = pearson(report.increments->gap, report.increments->increment),
        .laplacian_embedding = {},
        .epsilon_embedding = {}};
}

/// All factors, cells in the order of the fit.
Factors<double> factors_of(const StoredResult& result) {
    Factors<double> factors;
    for (Index t = 0; t < result.scales; ++t) {
        factors.W.push_back(result.W(t));
        factors.H.push_back(result.stored_H(t));
    }
    return factors;
}

/// The data with their cells in the order of the fit, which decides between equal distances and what a search
/// for neighbours finds. Nothing when they have that order already.
std::optional<DataValues> in_order_of_fit(const DataView& X, const CellOrder& order) {
    if (order.position.empty()) {
        return std::nullopt;
    }
    return some_columns(X, inverse(order.position));
}

/// Descent, certificate, signs and normalisation; evaluated anew where the problem is given.
void check_convergence(CheckReport& report, const StoredResult& result, const FitOptions& fit,
                       const Problem<double>* problem) {
    const Algorithm algorithm = fit.solver.algorithm;
    Convergence convergence = trace_convergence(result.numbers("objective"), result.precision);
    const auto H = [&](Index t) { return result.stored_H(t); };
    const auto W = [&](Index t) { return result.W(t); };
    look_at_factors(convergence, algorithm, result.scales, H,
                    result.has_basis ? std::function<Matrix(Index)>(W) : nullptr);
    convergence.kkt = result.of_scales("kkt");
    if (problem != nullptr && result.has_basis) {
        const Factors<double> factors = factors_of(result);
        check_factors(*problem, factors);
        evaluate_kkt(convergence, algorithm, *problem, factors);
    }
    append(report.findings,
           findings(convergence, algorithm, certificate_bound(fit.solver), result.precision));
    report.convergence = std::move(convergence);
}

/// Theorem (embedding_increment_bounds) and the correlations.
void check_embeddings(CheckReport& report, const StoredResult& result, const DataMatrix<double>& X) {
    if (!report.increments) {
        return;
    }
    if (!result.coupling.empty()) {
        report.findings.push_back({.statement = "Theorem (embedding_increment_bounds)",
                                   .what = "is about scales that count alike; those of this fit stand for "
                                           "different numbers of scales",
                                   .verdict = Verdict::not_checked});
        return;
    }
    const std::vector<double>& dL = report.increments->increment;
    const auto H = [&](Index t) { return result.stored_H(t); };
    report.embeddings = embedding_increments(result.scales, H, dL, gram_norm(X), result.penalty);
    if (result.has_basis) {
        report.embeddings->residual_change =
            residual_changes(X, result.scales, H, [&](Index t) { return result.W(t); });
    }
    append(report.findings, findings(*report.embeddings, result.penalty, report.convergence->kkt_all));
    report.correlations->laplacian_embedding = pearson(dL, report.embeddings->increment);
    report.correlations->epsilon_embedding = pearson(report.increments->gap, report.embeddings->increment);
}

/// The scales of a result against the deaths it keeps, when the data are not there.
void check_stored_scales(CheckReport& report, const StoredResult& result) {
    if (result.deaths.empty()) {
        return;
    }
    SortedEdges tree(std::ssize(result.deaths) + 1, {});
    for (std::size_t i = 0; i < result.deaths.size(); ++i) {
        tree.edges.push_back(
            {.length = result.deaths[i], .i = static_cast<Index>(i), .j = static_cast<Index>(i) + 1});
    }
    report.used = scale_set_properties(component_counts(tree), result.epsilon);
    report.findings.push_back({.statement = "all other statements",
                               .what = "need the data of the fit",
                               .verdict = Verdict::not_checked});
}

CheckReport begin(const StoredResult& result, const FitOptions& fit) {
    require_whole(result, "the theorems are statements");
    require(!result.epsilon.empty(), "{}: the result has no scales: it cannot be checked", result.name);
    CheckReport report;
    report.cells = result.cells();
    report.features = std::ssize(result.features);
    report.epsilon = result.epsilon;
    report.alpha = fit.filtration.alpha;
    return report;
}

} // namespace

CheckReport check_data(const DataView& X, const FitOptions& fit, const CheckOptions& options) {
    return check_data(Points(X, fit.filtration.metric), features_of(X), fit, options);
}

CheckReport check_data(const Points& points, Index features, const FitOptions& fit,
                       const CheckOptions& options) {
    const Cloud cloud = make_cloud(points, fit);
    CheckReport report;
    report.cells = cloud.filtration.tree.cells;
    report.features = features;
    report.epsilon = cloud.filtration.scales.epsilon;
    check_graphs(report, cloud, fit.filtration.alpha, options);
    return report;
}

CheckReport check_result(const StoredResult& result) {
    const FitOptions fit = result.options();
    CheckReport report = begin(result, fit);
    check_convergence(report, result, fit, nullptr);
    check_stored_scales(report, result);
    return report;
}

CheckReport check_result(const StoredResult& result, const DataView& given, const CheckOptions& options) {
    const FitOptions fit = result.options();
    CheckReport report = begin(result, fit);
    const std::optional<DataValues> ordered = in_order_of_fit(given, result.order);
    const DataView X = ordered ? view_of(*ordered) : given;
    const auto data = std::visit([](const auto& view) { return DataMatrix<double>(view); }, X);
    require(data.cells() == result.cells(), "the data must have the {} cells of the fit, got {}",
            result.cells(), data.cells());
    require(report.features == 0 || data.features() == report.features,
            "the data must have the {} features of the fit, got {}", report.features, data.features());
    report.features = data.features();
    require(!result.space || result.space->coordinates.cols() == result.cells(),
            "{}: the space of the result has {} cells, the fit {}", result.name,
            result.space ? result.space->coordinates.cols() : 0, result.cells());
    const Cloud cloud = make_cloud(
        Points(result.space ? DataView(view_of(result.space->coordinates)) : X, fit.filtration.metric), fit);
    check_graphs(report, cloud, fit.filtration.alpha, options);
    const Problem<double> problem{&data,          cloud.filtration.graph.get(), result.epsilon,
                                  result.penalty, result.scale_weight,          result.coupling};
    check_convergence(report, result, fit, &problem);
    check_embeddings(report, result, data);
    return report;
}

} // namespace pnmf
