#include "input_flags.hpp"
#include "option_flags.hpp"
#include "say.hpp"
#include "scales_output.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>
#include <pnmf/names.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pnmf::cli {
namespace {

struct ScalesOptions : InputFlags {
    bool distances = false;
    bool points = false;
    bool json = false;
    std::string output;
};

/// The points that scales are of, with the options of a fit of them.
struct Cloud {
    Dataset data; ///< which the points may look at
    FitOptions fit;
    std::optional<Points> points;
};

/// Of INPUT that is not data to factorise: its values as in the file.
void take_as_is(Cloud& cloud, const ScalesOptions& options, const CLI::App& verb) {
    refuse_flags(verb, of_distances, {"cells", "layer", "variable"},
                 options.distances ? "--distances" : "--points");
    cloud.data = read_only(options);
    print_notices(cloud.data.notices);
    try {
        cloud.points =
            options.points
                ? points_of(cloud.data, cloud.fit.filtration.metric)
                : Points::from_distances(cloud.data.is_sparse()
                                             ? to_dense(std::get<SparseMatrix<double>>(cloud.data.X))
                                             : std::move(std::get<Matrix>(cloud.data.X)));
    } catch (const InputError& e) {
        fail("{}: {}", options.path, e.what());
    }
}

/// As `pnmf fit` with the same flags has them.
void take_planned(Cloud& cloud, const ScalesOptions& options, const CLI::App& verb) {
    Work work = read_work(options, verb);
    cloud.data = std::move(work.data);
    cloud.fit = work.analysis.fit;
    cloud.points = points_of(cloud.data, cloud.fit.filtration.metric);
    if (cloud.fit.scale_error) {
        say("`pnmf fit` keeps as many of these scales as stand for all (--scale-error)\n");
    }
}

/// Pairs of cells that are joined at each scale.
std::vector<Index> edges_at(const Points& points, const Filtration& filtration) {
    const std::vector<double>& scales = filtration.scales.epsilon;
    if (!filtration.neighbors) {
        return edge_counts(points, scales);
    }
    const SortedEdges edges = edges_of(points, filtration);
    std::vector<Index> counts;
    for (const double epsilon : scales) {
        counts.push_back(std::partition_point(edges.edges.begin(), edges.edges.end(),
                                              [&](const Edge& edge) { return edge.length < epsilon; }) -
                         edges.edges.begin());
    }
    return counts;
}

void run(const ScalesOptions& options, const CLI::App& verb) {
    if (!options.output.empty()) {
        check_scales_file(options.output);
    }
    require(!options.distances || verb.count("--metric") == 0, "--metric cannot be used with --distances");
    Cloud cloud{.data = {}, .fit = options.analysis.fit, .points = {}};
    options.distances || options.points ? take_as_is(cloud, options, verb)
                                        : take_planned(cloud, options, verb);
    const Points& points = *cloud.points;
    const FiltrationOptions& how = cloud.fit.filtration;
    ScalesResult result;
    result.metric = options.distances ? "own distances" : name_of(how.metric);
    result.strategy = name_of(how.scales.strategy);
    result.seed = cloud.fit.seed;
    Filtration filtration = tree_and_scales(points, cloud.fit);
    print_notices(filtration.notices);
    result.edges = edges_at(points, filtration);
    result.tree = std::move(filtration.tree);
    result.scales = std::move(filtration.scales);
    result.available = result.scales.available;
    if (result.scales.size() < result.available) {
        say("scales: {} of {}, evenly spaced in rank, finest and coarsest kept\n", result.scales.size(),
            result.available);
    }
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
    CLI::App* verb = app.add_subcommand(
        "scales", "List the scales at which groups of cells join (H0 persistence), as `pnmf fit` has them");
    options->analysis.given.insert("rank"); // none is looked for
    add_input_flags(*verb, *options, of_distances);
    add_fit_flags(*verb, *options, {"metric", "neighbors", "search", "scales", "max-scales", "seed"});
    verb->add_flag("--distances", options->distances, "INPUT is a table of distances between cells");
    verb->add_flag("--points", options->points,
                   "INPUT is a point cloud, used as it is; values may be negative")
        ->excludes("--distances");
    add_threads_flag(*verb);
    add_json_flag(*verb, options->json);
    verb->add_option(
            "-o,--output", options->output,
            "Also write to FILE: .json with H0 diagram, merge tree and scales, or .csv with the scales alone")
        ->type_name("FILE");
    verb->callback([options, verb] { run(*options, *verb); });
}

} // namespace pnmf::cli
