#include "check_report.hpp"
#include "input_options.hpp"
#include "option_flags.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write_text.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/option_list.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
    InputOptions input;
    std::string data;
    FiltrationOptions filtration;
    std::uint64_t seed = 0;
    std::optional<Index> most_intervals;
    int threads = 0;
    std::string output;
    bool points = false;
    bool json = false;
    bool strict = false;
};

/// A result of `pnmf fit`; its factors stay in the file.
struct StoredResult {
    fs::path path;
    AnnDataFile file;
    FiltrationOptions filtration;
    std::uint64_t seed = 0;
    Penalty penalty;
    Algorithm algorithm = Algorithm::stationary;
    double tolerance = 0.0;
    std::vector<double> epsilon;
    bool has_basis = false;

    Matrix H(Index t) const { return read_slab(path, "uns/pnmf/H", t); }
    Matrix W(Index t) const { return read_slab(path, "uns/pnmf/W", t); }
};

bool has_array(const fs::path& path, const std::string& name) {
    try {
        return array_shape(path, name).size() == 3;
    } catch (const InputError&) {
        return false;
    }
}

/// The file of a result when the path is one: a folder with result.h5ad, or an .h5ad with embeddings.
std::optional<fs::path> result_file(const fs::path& path) {
    const fs::path file = fs::is_directory(path) ? path / "result.h5ad" : path;
    if (file.extension() == ".h5ad" && fs::exists(file) && has_array(file, "uns/pnmf/H")) {
        return file;
    }
    return std::nullopt;
}

std::vector<double> numbers(const StoredResult& result, const std::string& name) {
    if (const AnnDataValue* entry = find(result.file.uns, "pnmf/" + name)) {
        if (const auto* array = std::get_if<NumericArray>(&entry->value)) {
            return std::visit(
                [](const auto& values) { return std::vector<double>(values.begin(), values.end()); },
                array->values);
        }
    }
    return {};
}

std::string text(const StoredResult& result, const std::string& name) {
    const AnnDataValue* entry = find(result.file.uns, "pnmf/" + name);
    const auto* value = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value);
    return value == nullptr ? "" : *value;
}

template <class Enum>
Enum named(const std::string& name) {
    const std::optional<Enum> known = value_named<Enum>(name);
    require(known.has_value(), "'{}' is none of the values that are known", name);
    return *known;
}

void read_options(StoredResult& result) {
    const std::string options = text(result, "options");
    try {
        const Json json = Json::parse(options);
        result.penalty = {.graph = json.at("lambda1").get<double>(),
                          .smoothness = json.at("lambda2").get<double>(),
                          .anchor = json.at("lambda3").get<double>()};
        if (const auto penalty = numbers(result, "penalty"); penalty.size() == 3) { // what was in effect
            result.penalty = {.graph = penalty[0], .smoothness = penalty[1], .anchor = penalty[2]};
        }
        result.filtration.alpha = json.at("alpha").get<double>();
        result.filtration.metric = named<Metric>(json.at("metric").get<std::string>());
        if (!json.at("neighbors").is_null()) {
            result.filtration.neighbors = json.at("neighbors").get<Index>();
        }
        result.filtration.search = named<NeighborSearch>(json.value("search", "automatic"));
        result.seed = json.value("seed", result.seed);
        SolverOptions solver;
        solver.algorithm = result.algorithm = named<Algorithm>(json.at("algorithm").get<std::string>());
        solver.stop = named<StopRule>(json.at("stop-rule").get<std::string>());
        result.tolerance =
            json.at("tolerance").is_null() ? default_tolerance(solver) : json.at("tolerance").get<double>();
        if (solver.stop == StopRule::relative_decrease || solver.algorithm != Algorithm::stationary) {
            result.tolerance = default_tolerance(SolverOptions{}); // it did not stop on the certificate
        }
    } catch (const std::exception& e) {
        fail("{}: uns/pnmf/options cannot be understood: {}", result.path.string(), e.what());
    }
}

StoredResult read_result(const fs::path& path) {
    StoredResult result;
    result.path = path;
    result.file = read_anndata(
        path, {.skip = {"X", "layers", "obsm", "varm", "uns/pnmf/H", "uns/pnmf/W", "uns/pnmf/merge_tree"}});
    result.epsilon = numbers(result, "epsilon");
    const auto shape = array_shape(path, "uns/pnmf/H");
    require(!result.epsilon.empty() && shape[0] == std::ssize(result.epsilon) &&
                shape[2] == std::ssize(result.file.cell_names),
            "{}: uns/pnmf/H and uns/pnmf/epsilon do not have the shapes of a result of `pnmf fit`",
            path.string());
    result.has_basis = has_array(path, "uns/pnmf/W");
    read_options(result);
    return result;
}

/// The data, their cells at all scales, and every edge of the graphs.
struct Cloud {
    Dataset data;
    Filtration filtration;
    SortedEdges sorted;
};

Dataset read_data(const Options& options, const InputOptions& input) {
    if (options.points) {
        require(input.transform.empty() && !input.drop_empty,
                "--transform and --drop-empty cannot be used with --points");
        Dataset data = read_only(input);
        print_notices(data.notices);
        return data;
    }
    return read_input(input).data;
}

Cloud make_cloud(Dataset data, const FiltrationOptions& options, std::uint64_t seed) {
    require(data.cells() >= 2, "there must be at least 2 cells, got {}", data.cells());
    require(
        options.neighbors || data.cells() <= largest_set_of_pairs,
        "all pairs of {} cells do not fit (at most {}): --neighbors K takes a graph of nearest neighbours",
        data.cells(), largest_set_of_pairs);
    const Points points = std::visit([&](const auto& X) { return Points(X, options.metric); }, data.X);
    Filtration filtration = make_filtration(points, options, seed);
    SortedEdges sorted = edges_of(points, filtration);
    return {std::move(data), std::move(filtration), std::move(sorted)};
}

void append(Findings& findings, Findings more) {
    findings.insert(findings.end(), more.begin(), more.end());
}

/// Theorems about scales, graphs and spectra.
void check_graphs(CheckReport& report, const Cloud& cloud, double alpha,
                  std::optional<Index> most_intervals) {
    const ComponentCounts counts = component_counts(cloud.sorted);
    const std::vector<double> canonical = canonical_scales(cloud.filtration.tree).epsilon;
    report.canonical = scale_set_properties(counts, canonical);
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
           findings(piecewise_lipschitz(cloud.sorted, alpha, distances, most_intervals), *report.lipschitz,
                    adjacent_lipschitz(cloud.sorted, alpha, distances, most_intervals), *report.increments));
    report.spectrum = spectrum_path(*cloud.filtration.graph, cloud.sorted, report.epsilon);
    append(report.findings, findings(*report.spectrum, report.increments->increment, report.increments->gap,
                                     report.lipschitz->C));
    report.correlations = IncrementCorrelations{
        .pairs = all - 1,
        .epsilon_laplacian = pearson(report.increments->gap, report.increments->increment),
        .laplacian_embedding = {},
        .epsilon_embedding = {}};
}

/// What a result shows by itself.
void check_result(CheckReport& report, const StoredResult& result, const Cloud* cloud) {
    const auto scales = static_cast<Index>(result.epsilon.size());
    Convergence convergence = trace_convergence(numbers(result, "objective"));
    const auto H = [&](Index t) { return result.H(t); };
    const auto W = [&](Index t) { return result.W(t); };
    look_at_factors(convergence, result.algorithm, scales, H,
                    result.has_basis ? std::function<Matrix(Index)>(W) : nullptr);
    convergence.kkt = numbers(result, "kkt");
    if (std::ssize(convergence.kkt) != scales) {
        convergence.kkt.clear();
    }
    if (cloud != nullptr && result.has_basis) {
        const auto X =
            std::visit([](const auto& values) { return DataMatrix<double>(values); }, cloud->data.X);
        Factors<double> factors;
        for (Index t = 0; t < scales; ++t) {
            factors.W.push_back(result.W(t));
            factors.H.push_back(result.H(t));
        }
        const Problem<double> problem{&X, cloud->filtration.graph.get(), result.epsilon, result.penalty};
        evaluate_kkt(convergence, result.algorithm, problem, factors);
    }
    append(report.findings, findings(convergence, result.algorithm, result.tolerance));
    report.convergence = std::move(convergence);
}

/// Theorem (embedding_increment_bounds) and the correlations.
void check_embeddings(CheckReport& report, const StoredResult& result, const Cloud& cloud) {
    if (!report.increments) {
        return;
    }
    const auto X = std::visit([](const auto& values) { return DataMatrix<double>(values); }, cloud.data.X);
    const std::vector<double>& dL = report.increments->increment;
    report.embeddings = embedding_increments(
        std::ssize(result.epsilon), [&](Index t) { return result.H(t); }, dL, gram_norm(X), result.penalty);
    if (result.has_basis) {
        report.embeddings->residual_change = residual_changes(
            X, std::ssize(result.epsilon), [&](Index t) { return result.H(t); },
            [&](Index t) { return result.W(t); });
    }
    append(report.findings, findings(*report.embeddings, result.penalty, report.convergence->kkt_all));
    report.correlations->laplacian_embedding = pearson(dL, report.embeddings->increment);
    report.correlations->epsilon_embedding = pearson(report.increments->gap, report.embeddings->increment);
}

/// The scales of a result against the deaths it keeps, when the data are not there.
void check_stored_scales(CheckReport& report, const StoredResult& result) {
    const std::vector<double> deaths = numbers(result, "deaths");
    if (deaths.empty()) {
        return;
    }
    SortedEdges tree(static_cast<Index>(deaths.size()) + 1, {});
    for (std::size_t i = 0; i < deaths.size(); ++i) {
        tree.edges.push_back(
            {.length = deaths[i], .i = static_cast<Index>(i), .j = static_cast<Index>(i) + 1});
    }
    report.used = scale_set_properties(component_counts(tree), result.epsilon);
    report.findings.push_back({.statement = "all other statements",
                               .what = "need the data: --data INPUT",
                               .verdict = Verdict::not_checked});
}

/// The data that a result was made from; InputError when they are others.
Cloud cloud_of(const Options& options, const StoredResult& result) {
    InputOptions input = options.input;
    input.path = options.data;
    if (input.transform.empty()) {
        input.transform = text(result, "transform");
    }
    Dataset data = read_data(options, input);
    require(
        data.cell_names == result.file.cell_names && data.feature_names == result.file.feature_names,
        "{}: these are not the data of {}: {} cells and {} features here, {} and {} there, or their names "
        "differ",
        options.data, result.path.string(), data.cells(), data.features(), result.file.cell_names.size(),
        result.file.feature_names.size());
    FiltrationOptions filtration = result.filtration;
    filtration.scales = {};
    return make_cloud(std::move(data), filtration, result.seed);
}

CheckReport check_stored(const Options& options, const fs::path& path) {
    const StoredResult result = read_result(path);
    CheckReport report;
    report.path = path.string();
    report.data = options.data;
    report.cells = std::ssize(result.file.cell_names);
    report.features = std::ssize(result.file.feature_names);
    report.epsilon = result.epsilon;
    report.alpha = result.filtration.alpha;
    if (options.data.empty()) {
        check_result(report, result, nullptr);
        check_stored_scales(report, result);
        return report;
    }
    const Cloud cloud = cloud_of(options, result);
    check_graphs(report, cloud, result.filtration.alpha, options.most_intervals);
    check_result(report, result, &cloud);
    check_embeddings(report, result, cloud);
    return report;
}

CheckReport check_data(const Options& options) {
    const Cloud cloud = make_cloud(read_data(options, options.input), options.filtration, options.seed);
    CheckReport report;
    report.path = options.input.path;
    report.data = options.input.path;
    report.cells = cloud.data.cells();
    report.features = cloud.data.features();
    report.epsilon = cloud.filtration.scales.epsilon;
    report.alpha = options.filtration.alpha;
    check_graphs(report, cloud, options.filtration.alpha, options.most_intervals);
    return report;
}

void run(Options options, const CLI::App& verb) {
    if (options.threads > 0) {
        set_thread_count(options.threads);
    }
    const auto stored = result_file(options.input.path);
    if (stored) {
        for (const char* other :
             {"--alpha", "--metric", "--neighbors", "--scales", "--max-scales", "--seed", "--points"}) {
            require(verb.count(other) == 0, "{} cannot be used with a result: it has its own", other);
        }
    } else {
        require(options.data.empty(), "--data is for results of `pnmf fit`, and {} is none",
                options.input.path);
    }
    const CheckReport report = stored ? check_stored(options, *stored) : check_data(options);
    if (!options.output.empty()) {
        write_text(options.output, to_json_text(report));
    }
    fmt::print("{}", options.json ? to_json_text(report) : to_table(report));
    const bool fails = std::any_of(report.findings.begin(), report.findings.end(),
                                   [](const Finding& f) { return f.verdict == Verdict::fails; });
    if (options.strict && fails) {
        throw Exit{3};
    }
}

} // namespace

void add_check(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand(
        "check",
        "Hold the paper's theorems against data, or against a result and its data: every bound, what "
        "was measured, and whether it holds");
    add_input_options(*verb, options->input, "RESULT|INPUT");
    verb->add_option("--data", options->data,
                     "For a result: the data it was made from; without them little can be checked")
        ->type_name("INPUT");
    verb->add_option("--alpha", options->filtration.alpha, "Edge weights are exp(-d^2/epsilon^alpha)")
        ->capture_default_str();
    add_flag_for(*verb, "metric", options->filtration.metric, "Distance between cells");
    verb->add_option("--neighbors", options->filtration.neighbors,
                     "Graph of k nearest neighbours and the spanning tree [all pairs]");
    add_flag_for(*verb, "scales", options->filtration.scales.strategy, "How the scales are chosen");
    verb->add_option("--max-scales", options->filtration.scales.max_scales,
                     "Keep at most this many scales [all]");
    verb->add_option("--seed", options->seed, "For random and sufficient scales")->capture_default_str();
    verb->add_flag("--points", options->points,
                   "INPUT is a point cloud: coordinates of any sign, taken as they are");
    verb->add_option(
            "--intervals", options->most_intervals,
            "Intervals between neighbouring distances to look at, evenly spaced, at most [a second's "
            "work]")
        ->check(CLI::PositiveNumber);
    verb->add_option("--threads", options->threads, "Threads; results do not depend on it [all cores]")
        ->check(CLI::PositiveNumber);
    verb->add_option("-o,--output", options->output, "Also write everything to this .json file")
        ->type_name("FILE");
    verb->add_flag("--json", options->json, "Print JSON");
    verb->add_flag("--strict", options->strict, "Exit with code 3 when a statement fails");
    verb->callback([options, verb] { run(*options, *verb); });
}

} // namespace pnmf::cli
