#pragma once

#include "batch_table.hpp"
#include "io/formats.hpp"
#include "say.hpp"

#include <pnmf/assess/assess.hpp>
#include <pnmf/assess/domains.hpp>
#include <pnmf/assess/programs.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/solvers/fit.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What `pnmf fit` says at its end, as text.
namespace pnmf::cli {

using Json = nlohmann::ordered_json;

/// How far apart the cells are in an embedding: √(Σ‖h_j − mean‖² / Σ‖h_j‖²), 0 for a single point. For a few
/// digits; Σ‖h_j − mean‖² = Σ‖h_j‖² − n‖mean‖².
template <class Real>
double spread(const DenseMatrix<Real>& H) {
    Vector sum = Vector::Zero(H.rows());
    double size = 0.0;
    for (Index j = 0; j < H.cols(); ++j) {
        const auto cell = H.col(j).template cast<double>();
        sum += cell;
        size += cell.squaredNorm();
    }
    const double of_mean = sum.squaredNorm() / static_cast<double>(std::max<Index>(H.cols(), 1));
    return size > 0.0 ? std::sqrt(std::max(0.0, size - of_mean) / size) : 0.0;
}

/// How well each resolution agrees with the labels that the user gave, by the adjusted Rand index: 1 where
/// they are the same, 0 where they have no more to do with each other than chance makes. Cells without a
/// label are left out.
inline void add_agreement(Json& json, const std::vector<Index>& labels, const Assessment& assessment) {
    if (labels.empty()) {
        return;
    }
    const auto missing = std::count(labels.begin(), labels.end(), unlabelled);
    json["cells_without_label"] = missing;
    if (missing == std::ssize(labels)) {
        return; // those that had one were left out on the way
    }
    const auto recommended = static_cast<std::size_t>(assessment.recommended);
    json["label_ari"] = adjusted_rand_index(labels, assessment.clusters[recommended]);
    for (std::size_t r = 0; r < assessment.resolutions.all.size(); ++r) {
        json["resolutions"][r]["label_ari"] =
            adjusted_rand_index(labels, assessment.resolutions.all[r].labels);
    }
}

/// The clusters of a fit that keeps the loop which this one leaves out.
inline constexpr const char* with_loop_column = "pnmf_clusters_with_loop";

/// How far these are from those of the fit, where they were found.
inline void add_loop_comparison(Json& json, const Dataset& data, const Assessment& assessment) {
    if (const TableColumn* const column = io::find_column(data.cell_table, with_loop_column)) {
        const std::vector<Index> with = relabel(std::get<std::vector<std::string>>(column->values));
        const auto recommended = static_cast<std::size_t>(assessment.recommended);
        json["with_loop"] = {{"clusters", column->categories.size()},
                             {"ari", adjusted_rand_index(with, assessment.clusters[recommended])}};
    }
}

/// The same of the domains of each scale.
inline void add_agreement(Json& json, const std::vector<Index>& labels,
                          const std::optional<Domains>& domains) {
    for (std::size_t t = 0; domains && !labels.empty() && t < domains->labels.size(); ++t) {
        json["domains"]["label_ari"].push_back(adjusted_rand_index(labels, domains->labels[t]));
    }
}

/// The scales of a tissue: named by their distance and by how many cells are nearer than it.
inline void print_tissue(const Json& domains) {
    const bool labelled = domains.contains("label_ari");
    const bool measured = domains.contains("micrometres");
    put("\n scale  neighbours{}  same domain nearby{}\n", measured ? "   within µm" : "",
        labelled ? "  agreement with labels" : "");
    for (std::size_t t = 0; t < domains["neighbors"].size(); ++t) {
        put("{:>6}  {:>10.1f}{}  {:>18.2f}{}{}\n", t + 1, domains["neighbors"][t].get<double>(),
            measured ? fmt::format("  {:>10.4g}", domains["micrometres"][t].get<double>()) : "",
            domains["coherence"][t].get<double>(),
            labelled ? fmt::format("  {:>21.2f}", domains["label_ari"][t].get<double>()) : "",
            t + 1 == domains["scale"].get<std::size_t>() ? "  domains are of this scale" : "");
    }
}

/// At most nine scales, evenly spaced, finest and coarsest among them.
template <class Real>
void print_scales(const FitResult<Real>& result) {
    put("\n scale    epsilon  components  effective rank  spread\n");
    DenseMatrix<Real> buffer;
    for (const Index t : evenly_spaced(9, result.scales.size(), Rounding::down)) {
        put("{:>6} {:>10.4g}  {:>10}  {:>14.2f}  {:>6.3f}\n", t + 1, result.scales.epsilon[t],
            result.scales.betti0[t], result.effective_rank[t], spread(result.embedding(t, buffer)));
    }
}

/// The resolutions, from few clusters to many; nothing where their splits were not tested, or none passed.
inline void print_resolutions(const Json& resolutions) {
    if (resolutions.empty() || resolutions.back()["p_value"].is_null() ||
        resolutions.back()["k"].get<Index>() < 2) {
        return;
    }
    const auto number = [](const Json& value) {
        return value.is_null() ? std::string("-") : fmt::format("{:.2f}", value.get<double>());
    };
    const bool labelled = resolutions[0].contains("label_ari");
    put("\nclusters   scale  stability  largest p{}  column of obs\n",
        labelled ? "  agreement with labels" : "");
    for (std::size_t r = 0; r < resolutions.size(); ++r) {
        const Json& one = resolutions[r];
        put("{:>8}  {:>6}  {:>9}  {:>9.1g}{}  pnmf_clusters_{}{}\n", one["k"].get<Index>(),
            one["scale"].get<Index>(), number(one["stability"]), one["p_value"].get<double>(),
            labelled ? fmt::format("  {:>21}", number(one["label_ari"])) : "", r + 1,
            one["recommended"].get<bool>() ? ", recommended: also pnmf_clusters" : "");
    }
}

/// The programs of the recommended scale, in their order.
inline Json programs_json(const StoredResult& stored) {
    Json list = Json::array();
    const std::optional<StoredPrograms> programs = stored_programs(stored);
    if (!programs) {
        return list;
    }
    constexpr Index named = 5;
    const std::vector<std::vector<Index>> best = top_genes(programs->scores, named);
    for (const Index program : programs->order()) {
        const auto k = static_cast<std::size_t>(program);
        Json genes = Json::array();
        for (const Index gene : best[k]) {
            genes.push_back(programs->genes[static_cast<std::size_t>(gene)]);
        }
        const Index into = programs->merges_into[k];
        Json one{{"program", program_name(program)},
                 {"genes", std::move(genes)},
                 {"mean_usage", programs->mean_usage[k]},
                 {"persistence", programs->persistence[k]},
                 {"between_clusters", programs->between_clusters[k]},
                 {"merges_into", into < 0 ? Json(nullptr) : Json(program_name(into))}};
        if (!programs->depth_correlation.empty()) {
            one["depth_correlation"] = programs->depth_correlation[k];
            one["depth_driven"] = programs->follows_depth(program);
        }
        list.push_back(std::move(one));
    }
    return list;
}

/// At most eight programs, a line each.
inline void print_programs(const Json& programs) {
    constexpr std::size_t most = 8;
    if (programs.empty()) {
        return;
    }
    put("\nprogram  usage  persistence  marks clusters  genes that mark it\n");
    for (std::size_t i = 0; i < std::min(most, programs.size()); ++i) {
        const Json& one = programs[i];
        put("{:>7} {:>5.1f}%  {:>11.2f}  {:>14.2f}  {}{}\n", one["program"].get<std::string>(),
            100.0 * one["mean_usage"].get<double>(), one["persistence"].get<double>(),
            one["between_clusters"].get<double>(),
            fmt::join(one["genes"].get<std::vector<std::string>>(), " "),
            one.value("depth_driven", false) ? " (follows the depth of cells)" : "");
    }
    if (programs.size() > most) {
        put("{:>7} and {} more in programs.tsv\n", "", programs.size() - most);
    }
    if (!programs.front().contains("depth_driven")) {
        put("{:>7} whether they follow the depth of cells is not known: the values are no counts\n", "");
    }
}

template <class Real>
void print_summary(const Json& json, const FitResult<Real>& result, const std::string& files) {
    const Objective& first = result.trace.front();
    const Objective& last = result.trace.back();
    put("{} cells x {} features, rank {}, {} scales\n", json["cells"].get<Index>(),
        json["features"].get<Index>(), json["rank"].get<Index>(), result.scales.size());
    put("objective {:.5g} -> {:.5g} = fit {:.4g} + graph {:.4g} + smoothness {:.4g} + anchor {:.4g}\n",
        first.total(), last.total(), last.fit, last.graph, last.smoothness, last.anchor);
    put("{} after {} sweeps, KKT residual {:.0e}\n", json["stop"].get<std::string>(),
        json["sweeps"].get<Index>(), json["kkt"].get<double>());
    print_scales(result);
    print_resolutions(json["resolutions"]);
    if (const Index missing = json.value("cells_without_label", Index{0}); missing > 0) {
        put("{} of {} cells have no label and are left out of the agreement\n", missing,
            json["cells"].get<Index>());
    }
    if (json.contains("domains")) {
        print_tissue(json["domains"]);
    }
    if (json.contains("batch")) {
        print_batches(json["batch"]);
    }
    if (json.contains("programs")) {
        print_programs(json["programs"]);
    }
    const auto clusters = json["clusters"].get<Index>();
    if (json.contains("with_loop")) {
        const Json& with = json["with_loop"];
        put("\nwithout the loop {} cluster{}, with it {}: adjusted Rand index {:.2f} (obs/{})\n", clusters,
            clusters == 1 ? "" : "s", with["clusters"].get<Index>(), with["ari"].get<double>(),
            with_loop_column);
    }
    put("\nrecommended scale {}, {} cluster{}; wrote {}\n", json["recommended_scale"].get<Index>(), clusters,
        clusters == 1 ? "" : "s", files);
}

} // namespace pnmf::cli
