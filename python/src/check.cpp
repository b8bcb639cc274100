#include "arrays.hpp"
#include "module.hpp"
#include "options.hpp"
#include "watch.hpp"

#include <pnmf/diagnostics/convergence.hpp>
#include <pnmf/diagnostics/embedding_increments.hpp>
#include <pnmf/diagnostics/lipschitz.hpp>
#include <pnmf/diagnostics/scale_set_properties.hpp>
#include <pnmf/diagnostics/spectrum.hpp>
#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>

#include <utility>

namespace pnmf::python {
namespace {

/// The cells at all scales, and every edge of their graphs.
struct Cloud {
    Filtration filtration;
    SortedEdges sorted;
    std::vector<double> epsilon; ///< the scales to check: those of the filtration, or of a fit
};

Cloud make_cloud(const DataView& X, const FitOptions& options) {
    const FiltrationOptions& chosen = options.filtration;
    const Points points(X, chosen.metric);
    require(points.count() >= 2, "there must be at least 2 cells, got {}", points.count());
    require(chosen.neighbors || points.count() <= largest_set_of_pairs,
            "all pairs of {} cells do not fit (at most {}): neighbors takes a graph of nearest neighbours",
            points.count(), largest_set_of_pairs);
    Filtration filtration = make_filtration(points, chosen, options.seed);
    SortedEdges sorted = edges_of(points, filtration);
    std::vector<double> epsilon = filtration.scales.epsilon;
    return {std::move(filtration), std::move(sorted), std::move(epsilon)};
}

void append(Findings& all, Findings more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// Theorems about scales, graphs and spectra; the increments of the Laplacian between the scales.
AdjacentLipschitz check_graphs(Findings& all, const Cloud& cloud, double alpha,
                               std::optional<Index> most_intervals) {
    const ComponentCounts counts = component_counts(cloud.sorted);
    const ScaleSetProperties canonical =
        scale_set_properties(counts, canonical_scales(cloud.filtration.tree).epsilon);
    append(all,
           findings(canonical, nested_graphs(*cloud.filtration.graph, cloud.sorted, counts, cloud.epsilon)));
    if (cloud.epsilon.size() < 2) {
        return {};
    }
    const auto distances = cloud.sorted.distance_scales(complete_scale(cloud.filtration.tree));
    const LipschitzConstants constants = lipschitz_constants(cloud.sorted, alpha, distances);
    AdjacentLipschitz increments =
        adjacent_lipschitz(cloud.sorted, alpha, cloud.epsilon, static_cast<Index>(cloud.epsilon.size()));
    append(all, findings(piecewise_lipschitz(cloud.sorted, alpha, distances, most_intervals), constants,
                         adjacent_lipschitz(cloud.sorted, alpha, distances, most_intervals), increments));
    append(all, findings(spectrum_path(*cloud.filtration.graph, cloud.sorted, cloud.epsilon),
                         increments.increment, increments.gap, constants.C));
    return increments;
}

/// Descent, certificate and the bounds on the increments of the embeddings.
void check_fit(Findings& all, const Cloud& cloud, const DataView& X, const FitOptions& options,
               const Factors<double>& factors, const std::vector<double>& objective,
               const AdjacentLipschitz& increments) {
    const auto scales = static_cast<Index>(cloud.epsilon.size());
    const auto H = [&](Index t) { return factors.H[static_cast<std::size_t>(t)]; };
    const auto W = [&](Index t) { return factors.W[static_cast<std::size_t>(t)]; };
    const Algorithm algorithm = options.solver.algorithm;
    const auto data = std::visit([](const auto& view) { return DataMatrix<double>(view); }, X);
    Convergence convergence = trace_convergence(objective);
    look_at_factors(convergence, algorithm, scales, H, W);
    const Problem<double> problem{&data, cloud.filtration.graph.get(), cloud.epsilon, options.penalty};
    evaluate_kkt(convergence, algorithm, problem, factors);
    append(all, findings(convergence, algorithm,
                         options.solver.tolerance.value_or(default_tolerance(options.solver))));
    if (scales < 2) {
        return;
    }
    EmbeddingIncrements embeddings =
        embedding_increments(scales, H, increments.increment, gram_norm(data), options.penalty);
    embeddings.residual_change = residual_changes(data, scales, H, W);
    append(all, findings(embeddings, options.penalty, convergence.kkt_all));
}

py::list to_python(const Findings& all) {
    py::list rows;
    for (const Finding& finding : all) {
        rows.append(py::make_tuple(finding.statement, finding.what, finding.measured, finding.bound,
                                   std::string(name_of(finding.verdict)), finding.note));
    }
    return rows;
}

/// `fit` is None, or (scales, embeddings, bases, objective) of a fit with the same options.
py::list check(const py::object& X, const py::dict& given, const py::object& fit,
               std::optional<Index> most_intervals, std::optional<int> threads) {
    const Threads held(threads);
    const Cells cells(X);
    const FitOptions options = options_of(given);
    Factors<double> factors;
    std::vector<double> objective;
    std::vector<double> epsilon;
    if (!fit.is_none()) {
        const auto parts = fit.cast<py::tuple>();
        epsilon = parts[0].cast<std::vector<double>>();
        for (const auto& H : parts[1]) {
            factors.H.push_back(columns_of(py::reinterpret_borrow<Array>(H)));
        }
        for (const auto& W : parts[2]) {
            factors.W.push_back(columns_of(py::reinterpret_borrow<Array>(W)));
        }
        objective = parts[3].cast<std::vector<double>>();
    }
    Findings all;
    run_watched(
        [&](const Reporter&) {
            Cloud cloud = make_cloud(cells.view(), options);
            if (!epsilon.empty()) {
                cloud.epsilon = epsilon;
                const DataView view = cells.view();
                const auto data =
                    std::visit([](const auto& values) { return DataMatrix<double>(values); }, view);
                check_factors(Problem<double>{&data, cloud.filtration.graph.get(), epsilon, options.penalty},
                              factors);
            }
            const AdjacentLipschitz increments =
                check_graphs(all, cloud, options.filtration.alpha, most_intervals);
            if (!epsilon.empty()) {
                check_fit(all, cloud, cells.view(), options, factors, objective, increments);
            }
        },
        py::none());
    return to_python(all);
}

} // namespace

void bind_check(py::module_& module) {
    module.def("check", &check, py::arg("X"), py::arg("options"), py::arg("fit"), py::arg("most_intervals"),
               py::arg("threads"));
}

} // namespace pnmf::python
