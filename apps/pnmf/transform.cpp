#include "input_options.hpp"
#include "transform_output.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/match_features.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/embed.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
    std::string result;
    InputOptions input;
    std::string output;
    std::string scales = "recommended";
    std::string graph;
    int threads = 0;
    bool json = false;
};

/// What a fit's result says about itself; its factors stay in the file.
struct StoredFit {
    fs::path path;
    std::vector<std::string> features;
    std::vector<std::string> cells;
    std::vector<double> epsilon;
    Index recommended = 0;
    std::string transform;
    Penalty penalty;
    double alpha = 0.0;
    Metric metric = Metric::euclidean;
    std::optional<Index> neighbors;
};

/// The entry uns/pnmf/NAME of one kind; InputError when it is not there.
template <class Value>
const Value& entry(const AnnDataFile& file, const fs::path& path, const std::string& name) {
    const AnnDataValue* found = find(file.uns, "pnmf/" + name);
    const Value* value = found == nullptr ? nullptr : std::get_if<Value>(&found->value);
    require(value != nullptr, "{}: uns/pnmf/{} is missing: this is not a result of `pnmf fit`", path.string(),
            name);
    return *value;
}

void read_fit_options(StoredFit& fit, const std::string& text) {
    try {
        const Json options = Json::parse(text);
        fit.penalty = {.graph = options.at("lambda1").get<double>(),
                       .smoothness = 0.0,
                       .anchor = options.at("lambda3").get<double>()};
        fit.alpha = options.at("alpha").get<double>();
        fit.metric = options.at("metric").get<std::string>() == "cosine" ? Metric::cosine : Metric::euclidean;
        if (!options.at("neighbors").is_null()) {
            fit.neighbors = options.at("neighbors").get<Index>();
        }
    } catch (const Json::exception& e) {
        fail("{}: uns/pnmf/options cannot be understood: {}", fit.path.string(), e.what());
    }
}

/// InputError unless an array of three axes has the shape scales × rows × columns; −1 stands for any number.
void check_shape(const fs::path& path, const std::string& name, Index scales, Index rows, Index cols) {
    const std::vector<Index> shape = array_shape(path, "uns/pnmf/" + name);
    require(shape.size() == 3 && shape[0] == scales && (rows < 0 || shape[1] == rows) &&
                (cols < 0 || shape[2] == cols),
            "{}: uns/pnmf/{} does not have the shape that scales, genes and cells of the file give it",
            path.string(), name);
}

StoredFit read_fit(const fs::path& given) {
    StoredFit fit;
    fit.path = fs::is_directory(given) ? given / "result.h5ad" : given;
    require(fs::exists(fit.path), "{}: there is no such result of `pnmf fit`", fit.path.string());
    const AnnDataFile file = read_anndata(fit.path, {.skip = {"X", "layers", "obsm", "varm", "uns/pnmf/H",
                                                              "uns/pnmf/W", "uns/pnmf/merge_tree"}});
    fit.features = file.feature_names;
    fit.cells = file.cell_names;
    const auto* epsilon =
        std::get_if<std::vector<double>>(&entry<NumericArray>(file, fit.path, "epsilon").values);
    require(epsilon != nullptr && !epsilon->empty(), "{}: uns/pnmf/epsilon holds no scales",
            fit.path.string());
    fit.epsilon = *epsilon;
    fit.recommended = entry<std::int64_t>(file, fit.path, "recommended");
    require(fit.recommended >= 0 && fit.recommended < std::ssize(fit.epsilon),
            "{}: uns/pnmf/recommended is {}, but there are {} scales", fit.path.string(), fit.recommended,
            fit.epsilon.size());
    fit.transform = entry<std::string>(file, fit.path, "transform");
    read_fit_options(fit, entry<std::string>(file, fit.path, "options"));
    try {
        check_shape(fit.path, "W", std::ssize(fit.epsilon), std::ssize(fit.features), -1);
    } catch (const InputError& e) {
        fail("{}: a result with its bases is needed; run `pnmf fit` with --save-basis ({})",
             fit.path.string(), e.what());
    }
    return fit;
}

/// The positions, from 0, of the scales asked for; users count from 1, the finest.
std::vector<Index> chosen_scales(const std::string& text, const StoredFit& fit) {
    const Index count = std::ssize(fit.epsilon);
    std::vector<Index> chosen;
    if (text == "recommended") {
        return {fit.recommended};
    }
    if (text == "all") {
        for (Index t = 0; t < count; ++t) {
            chosen.push_back(t);
        }
        return chosen;
    }
    for (const std::string& part : CLI::detail::split(text, ',')) {
        Index number = 0;
        const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), number);
        require(error == std::errc() && rest == part.data() + part.size() && number >= 1 && number <= count,
                "--scales must be recommended, all, or numbers from 1 (finest) to {} with commas, got {}",
                count, text);
        require(std::find(chosen.begin(), chosen.end(), number - 1) == chosen.end(),
                "--scales names scale {} more than once", number);
        chosen.push_back(number - 1);
    }
    return chosen;
}

std::string first_names(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() > shown ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

/// Reads the new cells, gives them the features of the fit, and transforms them as the fit's data were.
Dataset read_new(const InputOptions& input, const StoredFit& fit, FeatureMatch& match) {
    Dataset data = read_only(input);
    check_dataset(data);
    if (!input.labels.empty()) {
        std::vector<std::string> labels = read_labels(input.labels, data);
        std::erase_if(data.cell_table, [](const TableColumn& column) { return column.name == "label"; });
        data.cell_table.push_back({.name = "label", .values = std::move(labels), .categorical = true});
    }
    match = match_features(data, fit.features);
    if (!match.missing.empty()) {
        data.notices.push_back(
            fmt::format("{} of {} genes of the fit are missing in {} and taken as zero: {}",
                        match.missing.size(), fit.features.size(), input.path, first_names(match.missing)));
    }
    if (!match.extra.empty()) {
        data.notices.push_back(fmt::format("{} genes of {} are not in the fit and ignored: {}",
                                           match.extra.size(), input.path, first_names(match.extra)));
    }
    const std::string transform = input.transform.empty() ? fit.transform : input.transform;
    if (input.transform.empty()) {
        data.notices.push_back(
            fmt::format("transform: {} (as in the fit); --transform changes it", transform));
    }
    prepare_matched(data, {.transform = transform == "log-unit" ? Transform::log_unit : Transform::none,
                           .drop_empty_cells = input.drop_empty});
    return data;
}

/// The columns of both, side by side: `Points` wants one set. Sparse only when both are.
Points points_of(const Dataset& stored, const Dataset& fresh, Metric metric) {
    if (stored.is_sparse() && fresh.is_sparse()) {
        SparseMatrix<double> both = std::get<SparseMatrix<double>>(stored.X);
        const auto& added = std::get<SparseMatrix<double>>(fresh.X);
        const auto offset = both.start.back();
        both.cols += added.cols;
        for (Index j = 0; j < added.cols; ++j) {
            both.start.push_back(offset + added.start[j + 1]);
        }
        both.row.insert(both.row.end(), added.row.begin(), added.row.end());
        both.value.insert(both.value.end(), added.value.begin(), added.value.end());
        return Points(std::move(both), metric);
    }
    const auto dense = [](const Dataset& data) {
        return data.is_sparse() ? to_dense(std::get<SparseMatrix<double>>(data.X)) : std::get<Matrix>(data.X);
    };
    Matrix both(stored.features(), stored.cells() + fresh.cells());
    both << dense(stored), dense(fresh);
    return Points(std::move(both), metric);
}

/// Distances from the cells of the fit, read from the data it was made from, to the new ones.
Matrix distances_from_fit(const Options& options, const StoredFit& fit, const Dataset& fresh) {
    InputOptions input = options.input;
    input.path = options.graph;
    input.labels.clear();
    input.drop_empty = true; // a cell the fit has is there afterwards, or the names differ
    FeatureMatch match;
    const Dataset stored = read_new(input, fit, match);
    require(match.missing.empty(), "{}: these are not the data of the fit: {} of its genes are missing: {}",
            options.graph, match.missing.size(), first_names(match.missing));
    require(stored.cell_names == fit.cells,
            "{}: these are not the data of the fit: names or order of the cells differ ({} cells here, {} in "
            "{})",
            options.graph, stored.cells(), fit.cells.size(), fit.path.string());
    return distances_to_new(points_of(stored, fresh, fit.metric), stored.cells());
}

/// What was computed at one scale, beside the embedding.
struct ScaleReport {
    Index scale = 0;
    double epsilon = 0.0;
    EmbeddedCells<double> cells;
    Index joined = 0; ///< new cells with a stored neighbour
};

std::vector<ScaleReport> embed_at(const StoredFit& fit, const std::vector<Index>& scales, const Dataset& data,
                                  const std::optional<Matrix>& distances) {
    const auto X = std::visit([](const auto& values) { return DataMatrix<double>(values); }, data.X);
    std::vector<ScaleReport> reports;
    for (const Index t : scales) {
        ScaleReport report{.scale = t, .epsilon = fit.epsilon[t], .cells = {}};
        const Matrix W = read_slab(fit.path, "uns/pnmf/W", t);
        std::optional<StoredNeighbours<double>> neighbours;
        if (distances) {
            const Matrix H = read_slab(fit.path, "uns/pnmf/H", t);
            require(H.rows() == W.cols(), "{}: uns/pnmf/H and uns/pnmf/W differ in rank", fit.path.string());
            neighbours = stored_neighbours<double>(*distances, EdgeWeight(report.epsilon, fit.alpha), H,
                                                   fit.neighbors);
            report.joined = (neighbours->degree.array() > 0.0).count();
        }
        report.cells = embed_cells(X, W, fit.penalty, neighbours ? &*neighbours : nullptr);
        if (!report.cells.converged) {
            fmt::print(stderr, "warning: at scale {} the residual is {:.1e} after {} passes\n", t + 1,
                       report.cells.residual, report.cells.passes);
        }
        reports.push_back(std::move(report));
    }
    return reports;
}

void print_json(const Options& options, const StoredFit& fit, const Dataset& data, const FeatureMatch& match,
                const std::vector<ScaleReport>& reports) {
    Json json;
    json["result"] = fit.path.string();
    json["input"] = options.input.path;
    json["output"] = options.output;
    json["cells"] = data.cells();
    json["genes"] = fit.features.size();
    json["genes_missing"] = match.missing.size();
    json["genes_missing_names"] = match.missing;
    json["genes_ignored"] = match.extra.size();
    json["lambda1"] = options.graph.empty() ? 0.0 : fit.penalty.graph;
    json["lambda3"] = fit.penalty.anchor;
    json["scales"] = Json::array();
    for (const ScaleReport& report : reports) {
        Json one{{"scale", report.scale + 1},
                 {"epsilon", report.epsilon},
                 {"relative_error", report.cells.relative_error},
                 {"residual", report.cells.residual},
                 {"passes", report.cells.passes},
                 {"converged", report.cells.converged}};
        if (!options.graph.empty()) {
            one["cells_with_neighbours"] = report.joined;
        }
        json["scales"].push_back(std::move(one));
    }
    fmt::print("{}\n", json.dump(2));
}

void print_table(const Options& options, const Dataset& data, const std::vector<ScaleReport>& reports) {
    fmt::print("{} cells, rank {}\n\n", data.cells(), reports.front().cells.H.rows());
    fmt::print(" scale     epsilon  relative error{}\n", options.graph.empty() ? "" : "  with neighbours");
    for (const ScaleReport& report : reports) {
        fmt::print("{:6}  {:10.4g}  {:14.4f}{}\n", report.scale + 1, report.epsilon,
                   report.cells.relative_error,
                   options.graph.empty() ? "" : fmt::format("  {:15}", report.joined));
    }
    fmt::print("\nwrote {}\n", options.output);
}

void run(const Options& options) {
    if (options.threads > 0) {
        set_thread_count(options.threads);
    }
    check_transform_file(options.output);
    const StoredFit fit = read_fit(options.result);
    const std::vector<Index> scales = chosen_scales(options.scales, fit);
    if (!options.graph.empty()) {
        check_shape(fit.path, "H", std::ssize(fit.epsilon), -1, std::ssize(fit.cells));
    }
    FeatureMatch match;
    Dataset data = read_new(options.input, fit, match);
    print_notices(data.notices);
    std::optional<Matrix> distances;
    if (!options.graph.empty()) {
        distances = distances_from_fit(options, fit, data);
    }
    const std::vector<ScaleReport> reports = embed_at(fit, scales, data, distances);
    Transformed result{.cell_names = data.cell_names,
                       .cell_table = data.cell_table,
                       .scales = scales,
                       .epsilon = {},
                       .H = {}};
    for (const ScaleReport& report : reports) {
        result.epsilon.push_back(report.epsilon);
        result.H.push_back(report.cells.H);
    }
    write_transformed(options.output, result);
    if (options.json) {
        print_json(options, fit, data, match, reports);
    } else {
        print_table(options, data, reports);
    }
}

} // namespace

void add_transform(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* verb =
        app.add_subcommand("transform", "Embed new cells with the bases of a fit, at one scale or several");
    verb->add_option("RESULT", options->result, "A fit's folder or .h5ad file, made with --save-basis")
        ->required();
    add_input_options(*verb, options->input, "NEW");
    verb->get_option("--transform")
        ->description("log-unit: log10(1+x), then cells of length 1 (default: as in the fit)");
    verb->add_option("-o,--output", options->output,
                     "File to write: .h5ad, .npy (cells as rows; several scales first), .csv or .tsv")
        ->required()
        ->type_name("FILE");
    verb->add_option("--scales", options->scales, "Scales to embed at, numbered from 1, the finest")
        ->type_name("recommended|all|1,5,80")
        ->capture_default_str();
    verb->add_option("--graph", options->graph,
                     "The data of the fit: adds its graph term, between new cells and those of the fit")
        ->type_name("INPUT");
    verb->add_option("--threads", options->threads, "Threads; results do not depend on it [all cores]")
        ->check(CLI::PositiveNumber);
    verb->add_flag("--json", options->json, "Print JSON");
    verb->callback([options] { run(*options); });
}

} // namespace pnmf::cli
