#include "input_options.hpp"
#include "option_flags.hpp"
#include "say.hpp"
#include "scales_output.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>
#include <pnmf/names.hpp>
#include <pnmf/parallel.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pnmf::cli {
namespace {

struct ScalesOptions {
    InputOptions input;
    FiltrationOptions filtration;
    bool distances = false;
    bool points = false;
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
    const Metric metric = options.filtration.metric;
    const auto to_points = [&](Dataset& data) {
        return std::visit([metric](auto& X) { return Points(std::move(X), metric); }, data.X);
    };
    if (!options.distances && !options.points) {
        Dataset prepared = read_input(options.input);
        return to_points(prepared);
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

void run(const ScalesOptions& options, CLI::App& verb) {
    if (!options.output.empty()) {
        check_scales_file(options.output);
    }
    if (options.threads) {
        set_thread_count(*options.threads);
    }
    const Points points = read_points(options, verb);
    ScalesResult result;
    result.metric = options.distances ? "own distances" : name_of(options.filtration.metric);
    result.strategy = name_of(options.filtration.scales.strategy);
    result.seed = options.seed;
    Filtration filtration = tree_and_scales(points, options.filtration, options.seed);
    result.tree = std::move(filtration.tree);
    result.scales = std::move(filtration.scales);
    result.available = result.scales.available;
    if (result.scales.size() < result.available) {
        say("scales: {} of {}, evenly spaced in rank, finest and coarsest kept\n", result.scales.size(),
            result.available);
    }
    result.edges = edge_counts(points, result.scales.epsilon);
    if (const Index copies = duplicates(result.tree); copies > 0) {
        say("duplicates: {} of {} cells repeat an earlier cell; they are joined at every scale\n", copies,
            result.tree.cells);
    }
    if (!options.output.empty()) {
        write_scales_file(result, options.output);
    }
    put_text(options.json ? visible(to_json_text(result), Escapes::json) : visible(to_table(result)));
}

} // namespace

void add_scales(CLI::App& app) {
    auto options = std::make_shared<ScalesOptions>();
    CLI::App* verb =
        app.add_subcommand("scales", "List the scales at which groups of cells join (H0 persistence)");
    add_input_options(*verb, options->input);
    add_flag_for(*verb, "metric", options->filtration.metric, "Distance between cells");
    verb->add_flag("--distances", options->distances, "INPUT is a table of distances between cells");
    verb->add_flag("--points", options->points,
                   "INPUT is a point cloud, used as it is; values may be negative")
        ->excludes("--distances");
    add_flag_for(*verb, "scales", options->filtration.scales.strategy, "How the scales are chosen");
    verb->add_option("--max-scales", options->filtration.scales.max_scales,
                     "Keep at most T scales, evenly spaced, the finest and the coarsest among them [all]")
        ->check(whole_number_from(2))
        ->type_name("T");
    verb->add_option("--seed", options->seed, "Seed, for --scales random and sufficient")
        ->capture_default_str()
        ->check(not_negative());
    verb->add_option("--threads", options->threads,
                     "Threads to use; results do not depend on it [OMP_NUM_THREADS, or all processors]")
        ->check(whole_number_from(1));
    verb->add_flag("--json", options->json, "Print JSON, for other programs, instead of a table");
    verb->add_option(
            "-o,--output", options->output,
            "Also write to FILE: .json with H0 diagram, merge tree and scales, or .csv with the scales alone")
        ->type_name("FILE");
    verb->callback([options, verb] { run(*options, *verb); });
}

} // namespace pnmf::cli
