#include "anndata.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "watch.hpp"

#include <pnmf/assess/group_tree.hpp>
#include <pnmf/assess/loops.hpp>
#include <pnmf/assess/neighborhoods.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/consensus.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/metrics/scoring.hpp>
#include <pnmf/results/score_result.hpp>

namespace pnmf::python {
namespace {

using Labels = py::array_t<std::int64_t, py::array::c_style>;

py::tuple pair_of(const MeanAndDeviation& value) {
    return py::make_tuple(value.mean, value.deviation);
}

py::dict scores_of(const EmbeddingScores& scores) {
    py::dict result;
    result["clusters"] = array_of(scores.clusters);
    result["inertia"] = scores.inertia;
    result["seed_agreement"] = scores.seed_agreement;
    result["silhouette"] = scores.silhouette ? py::cast(*scores.silhouette) : py::none();
    if (scores.agreement) {
        result["ari"] = pair_of(scores.agreement->ari);
        result["nmi"] = pair_of(scores.agreement->nmi);
        result["ami"] = pair_of(scores.agreement->ami);
        result["purity"] = pair_of(scores.agreement->purity);
        result["accuracy"] = pair_of(scores.agreement->accuracy);
    }
    return result;
}

template <double (*score)(const std::vector<Index>&, const std::vector<Index>&)>
double of_labels(const Labels& labels, const Labels& clusters) {
    return score(labels_of(labels), labels_of(clusters));
}

py::dict run_kmeans(const Array& X, Index clusters, Index starts, Index max_iterations, double tolerance,
                    std::uint64_t seed) {
    const Matrix columns = columns_of(X);
    KMeansResult found;
    run_watched(
        [&](const Reporter&) {
            found = kmeans(columns, {clusters, starts, max_iterations, tolerance, seed});
        },
        py::none());
    py::dict result;
    result["labels"] = array_of(found.labels);
    result["centres"] = rows_of(std::move(found.centres));
    result["inertia"] = found.inertia;
    result["iterations"] = found.iterations;
    result["converged"] = found.converged;
    return result;
}

py::dict score(const Array& H, const Labels& labels, std::optional<Index> clusters, Index starts, Index seeds,
               std::uint64_t first_seed, bool silhouette) {
    const Matrix columns = columns_of(H);
    const std::vector<Index> known = labels_of(labels);
    EmbeddingScores scores;
    run_watched(
        [&](const Reporter&) {
            scores = score_embedding(columns, known,
                                     {.clusters = clusters,
                                      .starts = starts,
                                      .seeds = seeds,
                                      .first_seed = first_seed,
                                      .silhouette = silhouette});
        },
        py::none());
    return scores_of(scores);
}

/// `score_result` of what `anndata_file` takes; scales are numbered from 0.
py::dict score_stored(const py::dict& parts, const Labels& labels, std::optional<Index> clusters,
                      Index starts, Index seeds, std::uint64_t first_seed, std::optional<int> threads) {
    const Threads held(threads);
    const StoredResult stored = stored_result(anndata_file(parts), "the result");
    const std::vector<Index> known = labels_of(labels);
    ResultScores found;
    run_watched(
        [&](const Reporter&) {
            found = score_result(
                stored, known,
                {.clusters = clusters, .starts = starts, .seeds = seeds, .first_seed = first_seed});
        },
        py::none());
    py::list scales;
    for (const EmbeddingScores& scores : found.scales) {
        scales.append(scores_of(scores));
    }
    py::dict result;
    result["scales"] = scales;
    result["clusters"] = found.clusters;
    result["recommended"] = found.assessment.recommended;
    result["stability"] = array_of(found.assessment.scores.stability);
    result["consensus"] = array_of(found.consensus);
    result["hierarchy"] = array_of(found.hierarchy);
    result["notices"] = found.assessment.notices;
    return result;
}

py::array_t<double> silhouettes_of(const Array& X, const Labels& clusters) {
    const Matrix columns = columns_of(X);
    const std::vector<Index> labels = labels_of(clusters);
    Vector values;
    run_watched([&](const Reporter&) { values = silhouettes(columns, labels); }, py::none());
    return py::array_t<double>(values.size(), values.data());
}

double resampling(const Array& H, Index clusters, Index repeats, double fraction, Index starts,
                  std::uint64_t seed) {
    const Matrix columns = columns_of(H);
    double value = 0.0;
    run_watched(
        [&](const Reporter&) {
            value = resampling_stability(columns, {clusters, repeats, fraction, starts, seed});
        },
        py::none());
    return value;
}

std::vector<std::vector<Index>> at_scales(const Labels& clusters) {
    require(clusters.ndim() == 2, "clusters must have two axes, scales x cells");
    std::vector<std::vector<Index>> scales;
    for (py::ssize_t t = 0; t < clusters.shape(0); ++t) {
        scales.emplace_back(clusters.data(t, 0), clusters.data(t, 0) + clusters.shape(1));
    }
    return scales;
}

py::array_t<double> stability(const Labels& clusters, Index window) {
    return array_of(neighbor_stability(at_scales(clusters), window));
}

/// SciPy's linkage matrix of the consensus over scales, from the clusters of each.
py::array_t<double> consensus(const Labels& clusters) {
    const std::vector<std::vector<Index>> scales = at_scales(clusters);
    Hierarchy found;
    run_watched([&](const Reporter&) { found = consensus_over_scales(scales); }, py::none());
    return rows_of<double>(found.merges.transpose());
}

/// The same of the hierarchy along the scales, from a list of embeddings, n × d each.
py::array_t<double> hierarchy(const std::vector<Array>& embeddings) {
    std::vector<Matrix> scales;
    for (const Array& H : embeddings) {
        scales.push_back(columns_of(H));
    }
    Hierarchy found;
    run_watched(
        [&](const Reporter&) {
            found = hierarchy_along_scales(std::ssize(scales),
                                           [&](Index t) { return scales[static_cast<std::size_t>(t)]; });
        },
        py::none());
    return rows_of<double>(found.merges.transpose());
}

py::array_t<std::int64_t> cut_linkage(const Array& merges, Index clusters) {
    const std::vector<Index> labels = cut({.merges = columns_of(merges).transpose()}, clusters);
    return array_of(std::vector<std::int64_t>(labels.begin(), labels.end()));
}

/// `group_tree` from a list of embeddings, n × d each: SciPy's linkage, and the mean of each group.
py::dict tree_of_groups(const std::vector<Array>& embeddings, const Labels& groups,
                        const std::vector<double>& weight) {
    std::vector<Matrix> scales;
    for (const Array& H : embeddings) {
        scales.push_back(columns_of(H));
    }
    GroupTree tree = group_tree(
        std::ssize(scales), [&](Index t) { return scales[static_cast<std::size_t>(t)]; }, labels_of(groups),
        weight);
    py::dict result;
    result["linkage"] = rows_of<double>(tree.hierarchy.merges.transpose());
    result["means"] = rows_of(std::move(tree.means));
    return result;
}

/// Mixing of batches and purity of labels among the nearest rows of X.
py::dict neighborhoods(const Array& X, const Labels& batch, const Labels& labels, Index neighbors,
                       Index cells) {
    const Matrix columns = columns_of(X);
    NeighborhoodScores scores;
    run_watched(
        [&](const Reporter&) {
            scores = neighborhood_scores(Points(DataView(view_of(columns))), labels_of(batch),
                                         labels_of(labels), {.neighbors = neighbors, .cells = cells});
        },
        py::none());
    py::dict result;
    result["mixing"] = scores.mixing;
    result["purity"] = scores.purity;
    return result;
}

/// Loops of cells in a space, or, where there is none, in 30 components of X, most persistent first.
py::dict loops_of(const py::object& X, const std::optional<Array>& space, double level, Index clouds,
                  std::uint64_t seed, std::optional<int> threads) {
    constexpr Index components = 30;
    const Threads held(threads);
    const Cells cells(X);
    const Matrix given = space ? columns_of(*space) : Matrix();
    LoopFinding finding;
    run_watched(
        [&](const Reporter&) {
            const auto values = [&] {
                return std::visit([](const auto& view) { return DataMatrix<double>(view); }, cells.view());
            };
            finding = find_loops(space ? given : component_space(values(), components).coordinates,
                                 {.level = level, .null_clouds = clouds, .seed = seed});
        },
        py::none());
    py::list loops;
    for (const CellLoop& loop : finding.loops) {
        py::dict one;
        one["persistence"] = loop.persistence;
        one["p_value"] = loop.p_value;
        one["cells"] = loop.cells;
        one["birth"] = loop.birth;
        one["death"] = loop.death;
        one["phase"] = array_of(std::vector<double>(loop.phase.begin(), loop.phase.end()));
        loops.append(one);
    }
    py::dict result;
    result["loops"] = loops;
    result["dimensions"] = finding.dimensions;
    result["persistence"] = finding.persistence;
    result["p_value"] = finding.p_value;
    std::vector<double> birth;
    std::vector<double> death;
    for (const auto& [born, died] : finding.diagram) {
        birth.push_back(born);
        death.push_back(died);
    }
    result["birth"] = array_of(birth);
    result["death"] = array_of(death);
    result["joins"] = array_of(finding.joins);
    result["chance"] = finding.chance;
    return result;
}

/// The phases turned as the genes at these positions say, and how each gene follows them: gene, amplitude,
/// peak, share, p-value, adjusted p-value.
py::tuple genes_of_phase(const py::object& X, const Array& phase, const std::vector<Index>& zero,
                         const std::vector<Index>& next) {
    const Cells cells(X);
    const DataMatrix<double> values =
        std::visit([](const auto& view) { return DataMatrix<double>(view); }, cells.view());
    Vector phases = Eigen::Map<const Vector>(phase.data(), phase.size());
    std::vector<PhaseGene> genes = phase_genes(values, phases);
    if (!zero.empty() || !next.empty()) {
        phases = anchored(phases, genes, {.zero = zero, .next = next});
        genes = phase_genes(values, phases);
    }
    Matrix table(6, std::ssize(genes));
    for (Index g = 0; g < table.cols(); ++g) {
        const PhaseGene& one = genes[static_cast<std::size_t>(g)];
        table.col(g) << static_cast<double>(one.gene), one.amplitude, one.peak, one.share, one.p_value,
            one.adjusted;
    }
    return py::make_tuple(array_of(std::vector<double>(phases.begin(), phases.end())),
                          rows_of(std::move(table)));
}

/// `batch_scores` of a stored result as JSON; None where the fit knew no batches.
py::object scores_of_batches(const py::dict& parts, const Labels& labels) {
    const StoredResult result = stored_result(anndata_file(parts));
    std::optional<BatchScores> scores;
    run_watched([&](const Reporter&) { scores = batch_scores(result, labels_of(labels)); }, py::none());
    return scores ? py::object(py::str(to_json(*scores))) : py::object(py::none());
}

} // namespace

void bind_metrics(py::module_& module) {
    py::module_ metrics = module.def_submodule("metrics");
    metrics.def("adjusted_rand_index", &of_labels<adjusted_rand_index>);
    metrics.def("normalized_mutual_information", &of_labels<normalized_mutual_information>);
    metrics.def("adjusted_mutual_information", &of_labels<adjusted_mutual_information>);
    metrics.def("purity", &of_labels<purity>);
    metrics.def("accuracy", &of_labels<accuracy>);
    metrics.def("silhouettes", &silhouettes_of);
    metrics.def("kmeans", &run_kmeans);
    metrics.def("score_embedding", &score);
    metrics.def("resampling_stability", &resampling);
    metrics.def("neighbor_stability", &stability);
    metrics.def("score_result", &score_stored, py::arg("parts"), py::arg("labels"), py::arg("clusters"),
                py::arg("starts"), py::arg("seeds"), py::arg("first_seed"), py::arg("threads"));
    metrics.def("neighborhood_scores", &neighborhoods);
    metrics.def("batch_scores", &scores_of_batches);
    metrics.def("consensus_over_scales", &consensus);
    metrics.def("hierarchy_along_scales", &hierarchy);
    metrics.def("hierarchy_of_groups", &tree_of_groups);
    metrics.def("loops", &loops_of, py::arg("X"), py::arg("space"), py::arg("level"), py::arg("clouds"),
                py::arg("seed"), py::arg("threads"));
    metrics.def("phase_genes", &genes_of_phase, py::arg("X"), py::arg("phase"), py::arg("zero"),
                py::arg("next"));
    metrics.def("cut", &cut_linkage);
    metrics.def("merge_labels", &merge_labels);
    metrics.def("gap_prominence", [](const std::vector<double>& epsilon, const std::vector<double>& deaths) {
        return array_of(gap_prominence(epsilon, deaths));
    });
}

} // namespace pnmf::python
