#include "batch_table.hpp"
#include "input_flags.hpp"
#include "json_text.hpp"
#include "option_flags.hpp"
#include "say.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/results/score_result.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct ScoreRequest : InputFlags {
    std::string merge;
    std::string clusters_file;
    bool keep_clusters = false;
    Index clusters = 0;
    ScoringOptions scoring;
    bool json = false;
};

/// What is scored, and of which cells.
struct Scored {
    std::optional<StoredResult> fit; ///< none for a plain embedding
    ScoredEmbeddings embeddings;
    Dataset cells; ///< their names and table; no values
};

/// A data set of n cells without values, for labels to be matched with.
Dataset without_values(std::vector<std::string> names, std::vector<TableColumn> table) {
    Dataset data;
    data.X = Matrix(0, std::ssize(names));
    data.cell_names = std::move(names);
    data.cell_table = std::move(table);
    return data;
}

Scored of_fit(const fs::path& path) {
    Scored scored;
    scored.fit = read_stored_result(path);
    StoredResult& fit = *scored.fit;
    print_notices(fit.order.notice.empty() ? std::vector<std::string>{} : std::vector{fit.order.notice});
    if (!fit.order.whole) {
        say("{}: {} of the {} cells of the fit are here; they alone are scored\n", fit.name, fit.cells(),
            fit.order.of_fit);
    }
    scored.cells = without_values(fit.file.cell_names, fit.file.cell_table);
    return scored;
}

Scored of_embedding(InputFlags input) {
    if (!input.analysis.cells) {
        input.analysis.cells = CellAxis::rows;
        say("{}: cells are the rows (default); --cells columns changes it\n", input.path);
    }
    Dataset data = read_only(input);
    Scored scored;
    Matrix H = data.is_sparse() ? to_dense(std::get<SparseMatrix<double>>(data.X))
                                : std::move(std::get<Matrix>(data.X));
    scored.embeddings.at = [H = std::move(H)](Index) { return H; };
    scored.cells = without_values(std::move(data.cell_names), std::move(data.cell_table));
    return scored;
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
    const ScoreRequest& options;
    const Scored& scored;
    std::vector<Index> labels; ///< empty for none
    ResultScores found;
    std::optional<BatchScores> batches{}; ///< of a fit that knew batches
};

const char* plural(Index count) {
    return count == 1 ? "" : "s";
}

Index cells_without(const std::vector<Index>& labels) {
    return std::count(labels.begin(), labels.end(), unlabelled);
}

/// How well one clustering agrees with the labels.
Agreement agreement_of(const std::vector<Index>& labels, const std::vector<Index>& clusters) {
    return {.ari = {adjusted_rand_index(labels, clusters)},
            .nmi = {normalized_mutual_information(labels, clusters)},
            .ami = {adjusted_mutual_information(labels, clusters)},
            .purity = {purity(labels, clusters)},
            .accuracy = {accuracy(labels, clusters)}};
}

Json json_of(const Report& report) {
    Json json;
    json["result"] = report.options.path;
    json["cells"] = report.scored.cells.cells();
    if (!report.labels.empty()) {
        json["cells_without_label"] = cells_without(report.labels);
    }
    json["clusters"] = report.found.clusters;
    json["starts"] = report.options.scoring.starts;
    json["seeds"] = report.options.scoring.seeds;
    if (report.found.scales.front().agreement) {
        add_agreement(json, *report.found.scales.front().agreement); // the finest scale: "pNMF" of the paper
    }
    for (Index t = 0; t < std::ssize(report.found.scales); ++t) {
        const EmbeddingScores& scores = report.found.scales[t];
        Json scale;
        scale["scale"] = t + 1;
        if (!report.scored.embeddings.epsilon.empty()) {
            scale["epsilon"] = report.scored.embeddings.epsilon[t];
        }
        if (scores.agreement) {
            add_agreement(scale, *scores.agreement);
        }
        scale["silhouette"] = scores.silhouette ? Json(*scores.silhouette) : Json(nullptr);
        scale["seed_agreement"] = scores.seed_agreement;
        const ScaleScores& free = report.found.assessment.scores;
        scale["gap_prominence"] = free.gap_prominence[t]; // JSON has null for NaN
        scale["neighbor_stability"] = free.stability[t];
        scale["resampling"] = free.resampling[t];
        scale["combined"] = free.combined[t];
        scale["inertia"] = scores.inertia;
        json["scales"].push_back(std::move(scale));
    }
    const Index recommended = report.found.assessment.recommended;
    json["recommended"] = {{"scale", recommended + 1}, {"chosen_with_labels", false}};
    if (report.found.scales[recommended].agreement) {
        add_agreement(json["recommended"], *report.found.scales[recommended].agreement);
    }
    for (const auto& [name, clusters] :
         {std::pair("consensus", &report.found.consensus), std::pair("hierarchy", &report.found.hierarchy)}) {
        if (!clusters->empty() && !report.labels.empty()) {
            json[name] = {{"chosen_with_labels", false}};
            add_agreement(json[name], agreement_of(report.labels, *clusters));
        }
    }
    if (report.batches) {
        json["batch"] = Json::parse(to_json(*report.batches));
    }
    if (const auto best = best_scale(report.found.scales)) {
        json["best"] = {{"scale", *best + 1}, {"chosen_with_labels", true}};
        add_agreement(json["best"], *report.found.scales[*best].agreement);
    }
    return json;
}

std::string cells_of_table(const EmbeddingScores& scores) {
    std::string text;
    if (scores.agreement) {
        for (const MeanAndDeviation& score : {scores.agreement->ari, scores.agreement->nmi,
                                              scores.agreement->purity, scores.agreement->accuracy}) {
            text += fmt::format("  {:5.3f} ± {:5.3f}", score.mean, score.deviation);
        }
    }
    text += scores.silhouette ? fmt::format("  {:10.3f}", *scores.silhouette) : fmt::format("  {:>10}", "-");
    text += fmt::format("  {:5.3f}", scores.seed_agreement);
    return text;
}

/// Ways to use all scales, a line each: what the paper defines, and what needs no labels.
void print_choices(const Report& report) {
    const Index recommended = report.found.assessment.recommended;
    put("\npNMF: finest scale                           {}\n", cells_of_table(report.found.scales.front()));
    put("recommended: scale {:<5} (without labels)      {}\n", recommended + 1,
        cells_of_table(report.found.scales[recommended]));
    if (report.labels.empty()) {
        return;
    }
    const auto one = [&](const char* name, const std::vector<Index>& clusters) {
        if (!clusters.empty()) {
            const Agreement a = agreement_of(report.labels, clusters);
            put("{}  {:5.3f}          {:5.3f}          {:5.3f}          {:5.3f}\n", name, a.ari.mean,
                a.nmi.mean, a.purity.mean, a.accuracy.mean);
        }
    };
    one("consensus over scales (without labels)     ", report.found.consensus);
    one("hierarchy along scales (without labels)    ", report.found.hierarchy);
    const Index best = *best_scale(report.found.scales);
    put("pNMF-best (scale {}, chosen with the labels) {}\n", best + 1,
        cells_of_table(report.found.scales[best]));
}

void print_table(const Report& report) {
    const bool labelled = report.found.scales.front().agreement.has_value();
    const bool fit = !report.scored.embeddings.epsilon.empty();
    put("scale{}{}  silhouette  seeds  scales\n", fit ? "     epsilon" : "",
        labelled ? "            ARI            NMI         purity       accuracy" : "");
    for (Index t = 0; t < std::ssize(report.found.scales); ++t) {
        const double stability = report.found.assessment.scores.stability[t];
        put("{:5}{}{}   {}\n", t + 1,
            fit ? fmt::format("  {:10.4g}", report.scored.embeddings.epsilon[t]) : "",
            cells_of_table(report.found.scales[t]),
            std::isnan(stability) ? "    -" : fmt::format("{:5.3f}", stability));
    }
    if (report.found.scales.size() > 1) {
        print_choices(report);
    }
}

void write_clusters(const Report& report, const fs::path& path) {
    std::string text = "cell";
    for (std::size_t t = 0; t < report.found.scales.size(); ++t) {
        text += fmt::format("\tscale{}", t + 1);
    }
    text += '\n';
    for (Index j = 0; j < report.scored.cells.cells(); ++j) {
        text += report.scored.cells.cell_names[j];
        for (const EmbeddingScores& scores : report.found.scales) {
            text += fmt::format("\t{}", scores.clusters[j] + 1);
        }
        text += '\n';
    }
    write_text(path, text);
}

/// The clusters of every scale as columns `pnmf_scale_1`, … of `obs`.
void keep_clusters(const Report& report, const fs::path& file) {
    std::vector<std::string> categories;
    for (Index c = 1; c <= report.found.clusters; ++c) {
        categories.push_back(std::to_string(c));
    }
    std::vector<TableColumn> columns;
    for (const EmbeddingScores& scores : report.found.scales) {
        std::vector<std::string> names;
        for (const Index cluster : scores.clusters) {
            names.push_back(categories[static_cast<std::size_t>(cluster)]);
        }
        columns.push_back({.name = fmt::format("pnmf_scale_{}", columns.size() + 1),
                           .values = std::move(names),
                           .categorical = true,
                           .categories = categories});
    }
    add_cell_columns(file, columns);
    say("{}: clusters of {} scales in obs, pnmf_scale_1 and so on\n", file.string(), columns.size());
}

/// With a number of clusters that the fit was not given, another scale may be recommended: said, not hidden.
void say_what_differs(const Report& report) {
    if (!report.scored.fit || !report.scored.fit->cluster_count) {
        return;
    }
    const StoredResult& fit = *report.scored.fit;
    const Index recommended = report.found.assessment.recommended;
    if (report.found.clusters != *fit.cluster_count) {
        say("{} cluster{} here, {} in the fit: the scale recommended here is {}, the fit recommended {}\n",
            report.found.clusters, plural(report.found.clusters), *fit.cluster_count, recommended + 1,
            fit.recommended + 1);
    } else if (recommended != fit.recommended) {
        say("the scale recommended here is {}, as where the number of clusters is given; the fit "
            "recommended {}\n",
            recommended + 1, fit.recommended + 1);
    }
}

void run(const ScoreRequest& options) {
    require(options.merge.empty() || !options.analysis.labels.empty(), "--merge needs --labels");
    const std::optional<fs::path> file = fit_file(options.path);
    require(file || !options.keep_clusters,
            "--keep-clusters needs the result of a fit, {} is an embedding alone; --write-clusters writes a "
            "table",
            options.path);
    Scored scored = file ? of_fit(*file) : of_embedding(options);
    if (scored.fit) {
        scored.embeddings = embeddings_of(*scored.fit);
    }
    std::vector<Index> labels;
    if (!options.analysis.labels.empty()) {
        std::vector<std::string> names = read_labels(options.analysis.labels, scored.cells);
        labels = relabel(options.merge.empty() ? names : merge_labels(names, options.merge));
        if (const Index missing = cells_without(labels); missing > 0) {
            say("{} of {} cells have no label and are left out of the agreement\n", missing, labels.size());
        }
    }
    ScoringOptions scoring = options.scoring;
    if (options.clusters != 0) {
        scoring.clusters = options.clusters;
    }
    Report report{.options = options, .scored = scored, .labels = std::move(labels), .found = {}};
    report.found = score_embeddings(scored.embeddings, report.labels, scoring);
    if (scored.fit) {
        report.batches = batch_scores(*scored.fit, report.labels);
    }
    print_notices(report.found.assessment.notices);
    say_what_differs(report);
    if (!options.clusters_file.empty()) {
        write_clusters(report, options.clusters_file);
    }
    if (options.keep_clusters) {
        keep_clusters(report, *file);
    }
    if (options.json) {
        put_json(json_of(report));
        return;
    }
    say("k-means with {} cluster{}, best of {} start{}, {} seed{}: mean ± standard deviation of one seed\n",
        report.found.clusters, plural(report.found.clusters), options.scoring.starts,
        plural(options.scoring.starts), options.scoring.seeds, plural(options.scoring.seeds));
    print_table(report);
    if (report.batches) {
        print_batches(Json::parse(to_json(*report.batches)));
    }
}

} // namespace

void add_score(CLI::App& app) {
    CLI::App* verb = app.add_subcommand(
        "score",
        "Cluster embeddings by k-means and compare the clusters with known labels. Scale 1 is the finest "
        "(Python counts from 0)");
    auto options = std::make_shared<ScoreRequest>();
    add_input_flags(*verb, *options, {"cells", "variable", "labels"}, "RESULT");
    verb->get_option("RESULT")->description(
        "Folder or .h5ad file of a fit, or an embedding as .npy, .mat or .csv, cells as rows");
    verb->get_option("--cells")->description("Where the cells of an embedding are [rows]");
    verb->add_option("--merge", options->merge, "Labels to treat as one, such as \"72h+96h,12h+24h\"");
    verb->add_option(
            "--clusters", options->clusters,
            "Number of clusters [as many as labels; without labels as in the fit, or the most stable number]")
        ->check(whole_number_from(1));
    verb->add_option("--starts", options->scoring.starts, "Starts of each k-means; the best one counts")
        ->capture_default_str();
    verb->add_option("--seeds", options->scoring.seeds, "Number of seeds to average over")
        ->capture_default_str();
    verb->add_option("--seed", options->scoring.first_seed, "The first seed")
        ->capture_default_str()
        ->check(not_negative());
    verb->add_option("--write-clusters", options->clusters_file,
                     "Write a table with the cluster of each cell at each scale")
        ->type_name("FILE");
    verb->add_flag(
        "--keep-clusters", options->keep_clusters,
        "Store the clusters of each scale in obs of the result, as pnmf_scale_1, pnmf_scale_2, ...");
    add_threads_flag(*verb);
    add_json_flag(*verb, options->json);
    verb->callback([options] { run(*options); });
}

} // namespace pnmf::cli
