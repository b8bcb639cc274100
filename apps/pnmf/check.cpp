#include "check_report.hpp"
#include "input_flags.hpp"
#include "option_flags.hpp"
#include "say.hpp"
#include "verbs.hpp"

#include <pnmf/diagnostics/check.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/results/stored_result.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

/// Options of a fit that its graphs and scales follow.
const OptionNames of_graphs{"alpha", "metric", "neighbors", "search", "scales", "max-scales", "seed"};

struct CheckRequest : InputFlags {
    std::string data;
    CheckOptions check;
    std::string output;
    bool points = false;
    bool json = false;
    bool strict = false;
};

/// Of a point cloud, used as it is.
CheckReport check_points(const CheckRequest& options, const CLI::App& verb) {
    refuse_flags(verb, of_distances, {"cells", "layer", "variable", "labels", "batch"}, "--points");
    Dataset data = read_only(options);
    FitOptions fit = options.analysis.fit;
    if (!options.analysis.batch.empty()) {
        add_batches(data, options.analysis.batch);
        fit.filtration.batch = batches_of(data)->of_cell;
    }
    print_notices(data.notices);
    return check_data(points_of(data, fit.filtration.metric), data.features(), fit, options.check);
}

/// Of the graphs and scales that `pnmf fit` would make of the data.
CheckReport check_input(const CheckRequest& options, const CLI::App& verb) {
    const Work work = read_work(options, verb);
    FitOptions fit = work.analysis.fit;
    fit.scale_error.reset(); // all scales, or those of --max-scales
    return check_data(points_of(work.data, fit.filtration.metric), work.data.features(), fit, options.check);
}

CheckReport check_stored(const CheckRequest& options, const fs::path& path) {
    const StoredResult result = read_stored_result(path);
    if (options.data.empty()) {
        say("--data INPUT, with the data of the fit, checks more\n");
        return check_result(result);
    }
    const Dataset data = read_data_of(result, options.data, input_choices(options.analysis));
    print_notices(data.notices);
    return check_result(result, view_of(data.X), options.check);
}

void run(const CheckRequest& options, const CLI::App& verb) {
    const auto stored = find_result(options.path);
    if (stored) {
        const std::string own = "a result: it has its own";
        refuse_flags(verb, of_distances,
                     {"cells", "layer", "variable", "drop-empty", "labels", "transform", "batch"}, own);
        refuse_flags(verb, of_graphs, {}, own);
        require(!options.points, "--points cannot be used with a result: it has its own");
    } else {
        require(options.data.empty(), "--data is for results of `pnmf fit`, and {} is none", options.path);
    }
    const CheckReport report = stored           ? check_stored(options, *stored)
                               : options.points ? check_points(options, verb)
                                                : check_input(options, verb);
    const std::string of = stored ? stored->string() : options.path;
    const std::string data = stored ? options.data : options.path;
    if (!options.output.empty()) {
        write_text(options.output, to_json_text(report, of, data));
    }
    put_text(options.json ? visible(to_json_text(report, of, data), Escapes::json)
                          : visible(to_table(report)));
    const bool fails = std::any_of(report.findings.begin(), report.findings.end(),
                                   [](const Finding& f) { return f.verdict == Verdict::fails; });
    if (options.strict && fails) {
        throw Exit{3};
    }
}

} // namespace

void add_check(CLI::App& app) {
    auto options = std::make_shared<CheckRequest>();
    CLI::App* verb = app.add_subcommand(
        "check",
        "Test the theorems of the paper on your data or on a result: each bound, what was measured, and "
        "whether it holds");
    options->analysis.given.insert("rank"); // none is looked for
    add_input_flags(*verb, *options, of_distances, "RESULT|INPUT");
    verb->get_option("RESULT|INPUT")
        ->description(
            "Folder or .h5ad file of a fit, or data: .h5ad, .zarr, 10x folder or .h5, .mtx[.gz], .csv[.gz], "
            ".tsv[.gz], .npy or .mat");
    verb->add_option("--data", options->data,
                     "For a result: the data it was made from. Without them little can be checked")
        ->type_name("INPUT");
    add_fit_flags(*verb, *options, of_graphs);
    verb->add_flag("--points", options->points,
                   "INPUT is a point cloud, used as it is; values may be negative");
    verb->add_option(
            "--intervals", options->check.most_intervals,
            "Look at this many intervals between neighbouring distances at most [as many as a second "
            "allows]")
        ->check(whole_number_from(1));
    add_threads_flag(*verb);
    verb->add_option("-o,--output", options->output, "Also write all findings to this .json file")
        ->type_name("FILE");
    add_json_flag(*verb, options->json);
    verb->add_flag("--strict", options->strict, "Exit with code 3 if a statement does not hold");
    verb->callback([options, verb] { run(*options, *verb); });
}

} // namespace pnmf::cli
