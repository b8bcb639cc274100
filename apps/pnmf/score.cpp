#include "input_options.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write_text.hpp>
#include <pnmf/metrics/assess.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/consensus.hpp>
#include <pnmf/metrics/scoring.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
    InputOptions input;
    std::string merge;
    std::string clusters_file;
    bool keep_clusters = false;
    Index clusters = 0;
    ScoringOptions scoring;
    bool json = false;
};

/// What is scored: one embedding, or one for each scale of a fit.
struct Embeddings {
    Index scales = 1;
    std::function<Matrix(Index)> at; ///< d × n
    std::vector<double> epsilon;     ///< of a fit
    std::vector<double> deaths;      ///< of a fit
    std::optional<Index> clusters;   ///< k of a fit
    Dataset cells;                   ///< their names and table; no values
};

/// A data set of n cells without values, for labels to be matched with.
Dataset without_values(std::vector<std::string> names, std::vector<TableColumn> table) {
    Dataset data;
    data.X = Matrix(0, std::ssize(names));
    data.cell_names = std::move(names);
    data.cell_table = std::move(table);
    return data;
}

/// The numbers at a path of `uns`; none when they are not there.
std::vector<double> numbers(const AnnDataFile& file, const std::string& path) {
    const AnnDataValue* entry = find(file.uns, path);
    const auto* array = entry == nullptr ? nullptr : std::get_if<NumericArray>(&entry->value);
    const auto* values = array == nullptr ? nullptr : std::get_if<std::vector<double>>(&array->values);
    return values == nullptr ? std::vector<double>{} : *values;
}

Embeddings fit_embeddings(const fs::path& path) {
    AnnDataFile file = read_anndata(
        path, {.skip = {"X", "layers", "varm", "obsm", "uns/pnmf/H", "uns/pnmf/W", "uns/pnmf/objective"}});
    const std::vector<Index> shape = array_shape(path, "uns/pnmf/H");
    require(shape.size() == 3 && shape[2] == std::ssize(file.cell_names),
            "{}: uns/pnmf/H must have the shape scales x rank x {} cells", path.string(),
            file.cell_names.size());
    Embeddings result;
    result.scales = shape[0];
    result.at = [path](Index t) { return read_slab(path, "uns/pnmf/H", t); };
    result.epsilon = numbers(file, "pnmf/epsilon");
    result.deaths = numbers(file, "pnmf/deaths");
    if (const AnnDataValue* entry = find(file.uns, "pnmf/cluster_count")) {
        if (const auto* count = std::get_if<std::int64_t>(&entry->value)) {
            result.clusters = *count;
        }
    }
    require(result.epsilon.empty() || std::ssize(result.epsilon) == result.scales,
            "{}: uns/pnmf/epsilon has {} scales and uns/pnmf/H {}", path.string(), result.epsilon.size(),
            result.scales);
    result.cells = without_values(std::move(file.cell_names), std::move(file.cell_table));
    return result;
}

Embeddings plain_embedding(InputOptions input) {
    if (input.cells.empty()) {
        input.cells = "rows";
        fmt::print(stderr, "{}: cells are the rows (default); --cells columns changes it\n", input.path);
    }
    Dataset data = read_only(input);
    Embeddings result;
    Matrix H = data.is_sparse() ? to_dense(std::get<SparseMatrix<double>>(data.X))
                                : std::move(std::get<Matrix>(data.X));
    result.at = [H = std::move(H)](Index) { return H; };
    result.cells = without_values(std::move(data.cell_names), std::move(data.cell_table));
    return result;
}

/// The .h5ad file of a fit, which may be given by its folder; none for a plain embedding.
std::optional<fs::path> fit_file(const fs::path& path) {
    if (fs::is_directory(path)) {
        require(fs::exists(path / "result.h5ad"), "{}: the folder of a fit must hold result.h5ad",
                path.string());
        return path / "result.h5ad";
    }
    return path.extension() == ".h5ad" ? std::optional(path) : std::nullopt;
}

Json json_of(const MeanAndDeviation& score) {
    return {{"mean", score.mean}, {"sd", score.deviation}};
}

void add_agreement(Json& json, const Agreement& agreement) {
    json["ari"] = json_of(agreement.ari);
    json["nmi"] = json_of(agreement.nmi);
    json["purity"] = json_of(agreement.purity);
    json["accuracy"] = json_of(agreement.accuracy);
    json["ami"] = json_of(agreement.ami);
}

/// Scores of all scales with what they were computed from.
struct Report {
    const Options& options;
    const Embeddings& embeddings;
    std::vector<Index> labels; ///< empty for none
    Index clusters = 0;
    std::vector<EmbeddingScores> scores;
    Assessment assessment;
    std::vector<Index> consensus; ///< clusters by all scales together; empty for one scale or too many cells
    std::vector<Index> hierarchy; ///< the same by the hierarchy along the scales
};

/// How well one clustering agrees with the labels.
Agreement agreement_of(const std::vector<Index>& labels, const std::vector<Index>& clusters) {
    return {.ari = {adjusted_rand_index(labels, clusters)},
            .nmi = {normalized_mutual_information(labels, clusters)},
            .ami = {adjusted_mutual_information(labels, clusters)},
            .purity = {purity(labels, clusters)},
            .accuracy = {accuracy(labels, clusters)}};
}

/// NaN has no number in JSON.
Json json_of(double value) {
    return std::isnan(value) ? Json(nullptr) : Json(value);
}

Json json_of(const Report& report) {
    Json json;
    json["result"] = report.options.input.path;
    json["cells"] = report.embeddings.cells.cells();
    json["clusters"] = report.clusters;
    json["starts"] = report.options.scoring.starts;
    json["seeds"] = report.options.scoring.seeds;
    if (report.scores.front().agreement) {
        add_agreement(json, *report.scores.front().agreement); // the finest scale: "pNMF" of the paper
    }
    for (Index t = 0; t < std::ssize(report.scores); ++t) {
        const EmbeddingScores& scores = report.scores[t];
        Json scale;
        scale["scale"] = t + 1;
        if (!report.embeddings.epsilon.empty()) {
            scale["epsilon"] = report.embeddings.epsilon[t];
        }
        if (scores.agreement) {
            add_agreement(scale, *scores.agreement);
        }
        scale["silhouette"] = scores.silhouette ? Json(*scores.silhouette) : Json(nullptr);
        scale["seed_agreement"] = scores.seed_agreement;
        const ScaleScores& free = report.assessment.scores;
        scale["gap_prominence"] = json_of(free.gap_prominence[t]);
        scale["neighbor_stability"] = json_of(free.stability[t]);
        scale["resampling"] = json_of(free.resampling[t]);
        scale["combined"] = json_of(free.combined[t]);
        scale["inertia"] = scores.inertia;
        json["scales"].push_back(std::move(scale));
    }
    const Index recommended = report.assessment.recommended;
    json["recommended"] = {{"scale", recommended + 1}, {"chosen_with_labels", false}};
    if (report.scores[recommended].agreement) {
        add_agreement(json["recommended"], *report.scores[recommended].agreement);
    }
    for (const auto& [name, clusters] :
         {std::pair("consensus", &report.consensus), std::pair("hierarchy", &report.hierarchy)}) {
        if (!clusters->empty() && !report.labels.empty()) {
            json[name] = {{"chosen_with_labels", false}};
            add_agreement(json[name], agreement_of(report.labels, *clusters));
        }
    }
    if (const auto best = best_scale(report.scores)) {
        json["best"] = {{"scale", *best + 1}, {"chosen_with_labels", true}};
        add_agreement(json["best"], *report.scores[*best].agreement);
    }
    return json;
}

std::string cells_of_table(const EmbeddingScores& scores) {
    std::string text;
    auto out = std::back_inserter(text);
    if (scores.agreement) {
        for (const MeanAndDeviation& score : {scores.agreement->ari, scores.agreement->nmi,
                                              scores.agreement->purity, scores.agreement->accuracy}) {
            fmt::format_to(out, "  {:5.3f} ± {:5.3f}", score.mean, score.deviation);
        }
    }
    scores.silhouette ? fmt::format_to(out, "  {:10.3f}", *scores.silhouette)
                      : fmt::format_to(out, "  {:>10}", "-");
    fmt::format_to(out, "  {:5.3f}", scores.seed_agreement);
    return text;
}

/// Ways to use all scales, a line each: what the paper defines, and what needs no labels.
void print_choices(const Report& report) {
    const Index recommended = report.assessment.recommended;
    fmt::print("\npNMF: finest scale                           {}\n", cells_of_table(report.scores.front()));
    fmt::print("recommended: scale {:<5} (without labels)      {}\n", recommended + 1,
               cells_of_table(report.scores[recommended]));
    if (report.labels.empty()) {
        return;
    }
    const auto one = [&](const char* name, const std::vector<Index>& clusters) {
        if (!clusters.empty()) {
            const Agreement a = agreement_of(report.labels, clusters);
            fmt::print("{}  {:5.3f}          {:5.3f}          {:5.3f}          {:5.3f}\n", name, a.ari.mean,
                       a.nmi.mean, a.purity.mean, a.accuracy.mean);
        }
    };
    one("consensus over scales (without labels)     ", report.consensus);
    one("hierarchy along scales (without labels)    ", report.hierarchy);
    const Index best = *best_scale(report.scores);
    fmt::print("pNMF-best (scale {}, chosen with the labels) {}\n", best + 1,
               cells_of_table(report.scores[best]));
}

void print_table(const Report& report) {
    const bool labelled = report.scores.front().agreement.has_value();
    const bool fit = !report.embeddings.epsilon.empty();
    fmt::print("scale{}{}  silhouette  seeds  scales\n", fit ? "     epsilon" : "",
               labelled ? "            ARI            NMI         purity       accuracy" : "");
    for (Index t = 0; t < std::ssize(report.scores); ++t) {
        const double stability = report.assessment.scores.stability[t];
        fmt::print("{:5}{}{}   {}\n", t + 1,
                   fit ? fmt::format("  {:10.4g}", report.embeddings.epsilon[t]) : "",
                   cells_of_table(report.scores[t]),
                   std::isnan(stability) ? "    -" : fmt::format("{:5.3f}", stability));
    }
    if (report.scores.size() > 1) {
        print_choices(report);
    }
}

void write_clusters(const Report& report, const fs::path& path) {
    std::string text = "cell";
    auto out = std::back_inserter(text);
    for (std::size_t t = 0; t < report.scores.size(); ++t) {
        fmt::format_to(out, "\tscale{}", t + 1);
    }
    text += '\n';
    for (Index j = 0; j < report.embeddings.cells.cells(); ++j) {
        text += report.embeddings.cells.cell_names[j];
        for (const EmbeddingScores& scores : report.scores) {
            fmt::format_to(out, "\t{}", scores.clusters[j] + 1);
        }
        text += '\n';
    }
    write_text(path, text);
}

/// The clusters of every scale as columns `pnmf_clusters_1`, … of `obs`.
void keep_clusters(const Report& report, const fs::path& file) {
    std::vector<std::string> categories;
    for (Index c = 1; c <= report.clusters; ++c) {
        categories.push_back(std::to_string(c));
    }
    std::vector<TableColumn> columns;
    for (const EmbeddingScores& scores : report.scores) {
        std::vector<std::string> names;
        for (const Index cluster : scores.clusters) {
            names.push_back(categories[static_cast<std::size_t>(cluster)]);
        }
        columns.push_back({.name = fmt::format("pnmf_clusters_{}", columns.size() + 1),
                           .values = std::move(names),
                           .categorical = true,
                           .categories = categories});
    }
    add_cell_columns(file, columns);
    fmt::print(stderr, "{}: clusters of {} scales in obs, pnmf_clusters_1 and so on\n", file.string(),
               columns.size());
}

Report score(const Options& options, const Embeddings& embeddings, std::vector<Index> labels,
             ScoringOptions scoring) {
    if (!scoring.clusters) {
        scoring.clusters =
            labels.empty() ? embeddings.clusters : *std::max_element(labels.begin(), labels.end()) + 1;
    }
    Report report{.options = options,
                  .embeddings = embeddings,
                  .labels = std::move(labels),
                  .clusters = 0,
                  .scores = {},
                  .assessment =
                      assess_scales(embeddings.scales, embeddings.at, embeddings.epsilon, embeddings.deaths,
                                    {.clusters = scoring.clusters, .seed = scoring.first_seed}),
                  .consensus = {},
                  .hierarchy = {}};
    print_notices(report.assessment.notices);
    report.clusters = report.assessment.cluster_count;
    scoring.clusters = report.clusters;
    report.scores = score_scales(embeddings.scales, embeddings.at, report.labels, scoring);
    if (embeddings.scales > 1 && embeddings.cells.cells() <= largest_hierarchy) {
        std::vector<std::vector<Index>> clusters;
        for (const EmbeddingScores& scores : report.scores) {
            clusters.push_back(scores.clusters);
        }
        report.consensus = cut(consensus_over_scales(clusters), report.clusters);
        report.hierarchy = cut(hierarchy_along_scales(embeddings.scales, embeddings.at), report.clusters);
    }
    return report;
}

void run(const Options& options) {
    require(options.merge.empty() || !options.input.labels.empty(), "--merge needs --labels");
    const std::optional<fs::path> file = fit_file(options.input.path);
    require(file || !options.keep_clusters,
            "--keep-clusters needs the result of a fit, {} is an embedding alone; --write-clusters writes a "
            "table",
            options.input.path);
    const Embeddings embeddings = file ? fit_embeddings(*file) : plain_embedding(options.input);
    std::vector<Index> labels;
    if (!options.input.labels.empty()) {
        std::vector<std::string> names = read_labels(options.input.labels, embeddings.cells);
        labels = relabel(options.merge.empty() ? names : merge_labels(names, options.merge));
    }
    ScoringOptions scoring = options.scoring;
    if (options.clusters != 0) {
        scoring.clusters = options.clusters;
    }
    const Report report = score(options, embeddings, std::move(labels), scoring);
    if (!options.clusters_file.empty()) {
        write_clusters(report, options.clusters_file);
    }
    if (options.keep_clusters) {
        keep_clusters(report, *file);
    }
    if (options.json) {
        fmt::print("{}\n", json_of(report).dump(2));
        return;
    }
    fmt::print(
        stderr,
        "k-means with {} clusters, best of {} starts, {} seeds: mean ± standard deviation of one seed\n",
        report.clusters, options.scoring.starts, options.scoring.seeds);
    print_table(report);
}

} // namespace

void add_score(CLI::App& app) {
    CLI::App* verb = app.add_subcommand(
        "score", "Cluster embeddings by k-means and compare with known labels, averaged over seeds");
    auto options = std::make_shared<Options>();
    verb->add_option("RESULT", options->input.path,
                     "A fit's folder or .h5ad file, or an embedding: .npy, .mat or .csv, cells as rows")
        ->required();
    verb->add_option("--labels", options->input.labels, "Labels of the cells: a column of obs, or a table")
        ->type_name("COLUMN|FILE[:COLUMN]");
    verb->add_option("--merge", options->merge, "Labels to treat as one, e.g. \"72h+96h,12h+24h\"");
    verb->add_option(
            "--clusters", options->clusters,
            "Clusters to look for (default: as many as labels, or as the fit chose, or by stability)")
        ->check(CLI::PositiveNumber);
    verb->add_option("--starts", options->scoring.starts, "Starts of each k-means, of which the best counts")
        ->capture_default_str();
    verb->add_option("--seeds", options->scoring.seeds, "Seeds to average over")->capture_default_str();
    verb->add_option("--seed", options->scoring.first_seed, "The first of them")->capture_default_str();
    verb->add_option("--cells", options->input.cells,
                     "Axis of an embedding that holds the cells (default rows)")
        ->check(CLI::IsMember({"rows", "columns"}))
        ->type_name("rows|columns");
    verb->add_option("--variable", options->input.variable,
                     "Variable of a .mat file that holds the embedding")
        ->type_name("NAME");
    verb->add_option("--write-clusters", options->clusters_file,
                     "Table to write: the cluster of each cell at each scale")
        ->type_name("FILE");
    verb->add_flag(
        "--keep-clusters", options->keep_clusters,
        "Add the clusters of each scale to obs of the result: pnmf_clusters_1, pnmf_clusters_2, ...");
    verb->add_flag("--json", options->json, "Print JSON");
    verb->callback([options] { run(*options); });
}

} // namespace pnmf::cli
