#include "input_options.hpp"
#include "scales_output.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pnmf::cli {
namespace {

const std::map<std::string, ScaleStrategy> strategies{{"canonical", ScaleStrategy::canonical},
                                                      {"uniform", ScaleStrategy::uniform},
                                                      {"random", ScaleStrategy::random},
                                                      {"sufficient", ScaleStrategy::sufficient}};

struct ScalesOptions {
    InputOptions input;
    std::string metric = "euclidean";
    bool distances = false;
    bool points = false;
    std::string strategy = "canonical";
    std::optional<Index> max_scales;
    std::uint64_t seed = 0;
    std::optional<int> threads;
    bool json = false;
    std::string output;
};

/// The values as in the file, for INPUT that is not data to factorise.
Dataset read_as_is(const ScalesOptions& options, CLI::App& verb, const char* why) {
    for (const char* other : {"--transform", "--drop-empty", "--labels"}) {
        require(verb.count(other) == 0, "{} cannot be used with {}", other, why);
    }
    Dataset data = read_only(options.input);
    print_notices(data.notices);
    return data;
}

Points read_points(const ScalesOptions& options, CLI::App& verb) {
    const Metric metric = options.metric == "cosine" ? Metric::cosine : Metric::euclidean;
    const auto to_points = [&](Dataset& data) {
        return std::visit([metric](auto& X) { return Points(std::move(X), metric); }, data.X);
    };
    if (!options.distances && !options.points) {
        Input input = read_input(options.input);
        return to_points(input.data);
    }
    require(!options.distances || verb.count("--metric") == 0, "--metric cannot be used with --distances");
    Dataset data = read_as_is(options, verb, options.distances ? "--distances" : "--points");
    try {
        if (options.points) {
            return to_points(data);
        }
        return Points::from_distances(data.is_sparse() ? to_dense(std::get<SparseMatrix<double>>(data.X))
                                                       : std::move(std::get<Matrix>(data.X)));
    } catch (const InputError& e) {
        fail("{}: {}", options.input.path, e.what());
    }
}

void check(const ScalesOptions& options) {
    require(!options.max_scales || *options.max_scales >= 2, "--max-scales must be at least 2, got {}",
            options.max_scales.value_or(0));
    require(!options.threads || *options.threads >= 1, "--threads must be at least 1, got {}",
            options.threads.value_or(0));
    if (!options.output.empty()) {
        check_scales_file(options.output);
    }
}

void run(const ScalesOptions& options, CLI::App& verb) {
    check(options);
    if (options.threads) {
        set_thread_count(*options.threads);
    }
    const Points points = read_points(options, verb);
    ScalesResult result;
    result.metric = options.distances ? "own distances" : options.metric;
    result.strategy = options.strategy;
    result.seed = options.seed;
    result.tree = minimum_spanning_tree(points);
    result.scales = choose_scales(points, result.tree,
                                  {.strategy = strategies.at(options.strategy), .seed = options.seed});
    result.available = result.scales.size();
    if (options.max_scales && *options.max_scales < result.available) {
        result.scales = thin(result.scales, *options.max_scales);
        fmt::print(stderr, "scales: {} of {}, evenly spaced in rank, finest and coarsest kept\n",
                   result.scales.size(), result.available);
    }
    result.edges = edge_counts(points, result.scales.epsilon);
    if (const Index copies = duplicates(result.tree); copies > 0) {
        fmt::print(stderr,
                   "duplicates: {} of {} cells repeat an earlier cell; they are joined at every scale\n",
                   copies, result.tree.cells);
    }
    if (!options.output.empty()) {
        write_scales_file(result, options.output);
    }
    fmt::print("{}", options.json ? to_json_text(result) : to_table(result));
}

} // namespace

void add_scales(CLI::App& app) {
    auto options = std::make_shared<ScalesOptions>();
    CLI::App* verb = app.add_subcommand("scales", "Scales at which the connectivity of the cells changes (H0 "
                                                  "persistence)");
    add_input_options(*verb, options->input);
    verb->add_option("--metric", options->metric, "Distance between cells")
        ->check(CLI::IsMember({"euclidean", "cosine"}))
        ->type_name("euclidean|cosine")
        ->capture_default_str();
    verb->add_flag("--distances", options->distances, "INPUT is a table of distances, cells x cells");
    verb->add_flag("--points", options->points,
                   "INPUT is a point cloud: coordinates of any sign, taken as they are")
        ->excludes("--distances");
    verb->add_option("--scales", options->strategy, "How the scales are chosen")
        ->check(CLI::IsMember(strategies))
        ->type_name("canonical|uniform|random|sufficient")
        ->capture_default_str();
    verb->add_option("--max-scales", options->max_scales,
                     "Keep at most T, evenly spaced in rank, with the finest and the coarsest")
        ->type_name("T");
    verb->add_option("--seed", options->seed, "For random and sufficient scales")->capture_default_str();
    verb->add_option("--threads", options->threads,
                     "Threads to work with (default: all); no result depends on it");
    verb->add_flag("--json", options->json, "Print JSON instead of a table");
    verb->add_option(
            "-o,--output", options->output,
            "Also write the H0 diagram, merge tree and scales to FILE: .json, or .csv for the scales alone")
        ->type_name("FILE");
    verb->callback([options, verb] { run(*options, *verb); });
}

} // namespace pnmf::cli
