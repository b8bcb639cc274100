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
#include <pnmf/graphs/dense_graph.hpp>
#include <pnmf/graphs/sparse_graph.hpp>
#include <pnmf/persistence/neighbor_tree.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <memory>

namespace pnmf::python {
namespace {

/// The points with everything that is made from them.
struct Cloud {
    SpanningTree tree;
    std::unique_ptr<const MultiscaleGraph> graph;
    SortedEdges sorted;
    std::vector<double> epsilon;
};

Cloud make_cloud(const DataView& X, const FitOptions& options) {
    const Points points(X, options.metric);
    require(points.count() >= 2, "there must be at least 2 cells, got {}", points.count());
    require(options.neighbors || points.count() <= largest_set_of_pairs,
            "all pairs of {} cells do not fit (at most {}): neighbors takes a graph of nearest neighbours",
            points.count(), largest_set_of_pairs);
    Cloud cloud;
    TreeAndNeighbors found = tree_and_neighbors(points, options.neighbors, options.search, options.seed);
    cloud.tree = std::move(found.tree);
    cloud.epsilon = choose_scales(points, cloud.tree, options.scales).epsilon;
    if (found.neighbors) {
        auto graph =
            std::make_unique<SparseMultiscaleGraph>(cloud.tree, found.neighbors->edges, options.alpha);
        cloud.sorted = edges_of(*graph);
        cloud.graph = std::move(graph);
    } else {
        cloud.sorted = all_pairs(points);
        cloud.graph = std::make_unique<DenseMultiscaleGraph>(points, cloud.tree, options.alpha);
    }
    return cloud;
}

void append(Findings& all, Findings more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// Theorems about scales, graphs and spectra; the increments of the Laplacian between the scales.
AdjacentLipschitz check_graphs(Findings& all, const Cloud& cloud, double alpha,
                               std::optional<Index> most_intervals) {
    const ComponentCounts counts = component_counts(cloud.sorted);
    const ScaleSetProperties canonical = scale_set_properties(counts, canonical_scales(cloud.tree).epsilon);
    append(all, findings(canonical, nested_graphs(*cloud.graph, cloud.sorted, counts, cloud.epsilon)));
    if (cloud.epsilon.size() < 2) {
        return {};
    }
    const auto distances = cloud.sorted.distance_scales(complete_scale(cloud.tree));
    const LipschitzConstants constants = lipschitz_constants(cloud.sorted, alpha, distances);
    AdjacentLipschitz increments =
        adjacent_lipschitz(cloud.sorted, alpha, cloud.epsilon, static_cast<Index>(cloud.epsilon.size()));
    append(all, findings(piecewise_lipschitz(cloud.sorted, alpha, distances, most_intervals), constants,
                         adjacent_lipschitz(cloud.sorted, alpha, distances, most_intervals), increments));
    append(all, findings(spectrum_path(*cloud.graph, cloud.sorted, cloud.epsilon), increments.increment,
                         increments.gap, constants.C));
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
    const Problem<double> problem{&data, cloud.graph.get(), cloud.epsilon, options.penalty};
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
                check_factors(Problem<double>{&data, cloud.graph.get(), epsilon, options.penalty}, factors);
            }
            const AdjacentLipschitz increments = check_graphs(all, cloud, options.alpha, most_intervals);
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
