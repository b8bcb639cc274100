#include "check_report.hpp"
#include "input_options.hpp"
#include "option_flags.hpp"
#include "say.hpp"
#include "verbs.hpp"

#include <pnmf/diagnostics/check.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/batches.hpp>
#include <pnmf/io/write_text.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/results/stored_result.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

struct CheckRequest {
    InputOptions input;
    std::string data;
    FitOptions fit; ///< how graphs and scales are made of data; a result has its own
    CheckOptions check;
    int threads = 0;
    std::string output;
    bool points = false;
    bool json = false;
    bool strict = false;
};

Dataset read_data(const CheckRequest& options) {
    if (options.points) {
        require(options.input.transform.empty() && !options.input.drop_empty,
                "--transform and --drop-empty cannot be used with --points");
        Dataset data = read_only(options.input);
        if (!options.input.batch.empty()) {
            add_batches(data, options.input.batch);
        }
        print_notices(data.notices);
        return data;
    }
    return read_input(options.input);
}

CheckReport check_input(const CheckRequest& options) {
    const Dataset data = read_data(options);
    FitOptions fit = options.fit;
    if (const auto batches = batches_of(data)) {
        fit.filtration.batch = batches->of_cell;
    }
    return check_data(view_of(data.X), fit, options.check);
}

CheckReport check_stored(const CheckRequest& options, const fs::path& path) {
    const StoredResult result = read_stored_result(path);
    if (options.data.empty()) {
        say("--data INPUT, with the data of the fit, checks more\n");
        return check_result(result);
    }
    const Dataset data = read_data_of(result, options.data, choices_of(options.input));
    print_notices(data.notices);
    return check_result(result, view_of(data.X), options.check);
}

void run(CheckRequest options, const CLI::App& verb) {
    if (options.threads > 0) {
        set_thread_count(options.threads);
    }
    const auto stored = find_result(options.input.path);
    if (stored) {
        for (const char* other :
             {"--alpha", "--metric", "--neighbors", "--scales", "--max-scales", "--seed", "--points"}) {
            require(verb.count(other) == 0, "{} cannot be used with a result: it has its own", other);
        }
    } else {
        require(options.data.empty(), "--data is for results of `pnmf fit`, and {} is none",
                options.input.path);
    }
    const CheckReport report = stored ? check_stored(options, *stored) : check_input(options);
    const std::string of = stored ? stored->string() : options.input.path;
    const std::string data = stored ? options.data : options.input.path;
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
    add_input_options(*verb, options->input, "RESULT|INPUT");
    verb->get_option("RESULT|INPUT")
        ->description(
            "Folder or .h5ad file of a fit, or data: .h5ad, 10x folder or .h5, .mtx[.gz], .csv[.gz], "
            ".tsv[.gz], .npy or .mat");
    verb->add_option("--data", options->data,
                     "For a result: the data it was made from. Without them little can be checked")
        ->type_name("INPUT");
    add_batch_option(*verb, options->input);
    FiltrationOptions& filtration = options->fit.filtration;
    verb->add_option("--alpha", filtration.alpha,
                     "An edge of length d has the weight exp(-d^2/epsilon^alpha)")
        ->capture_default_str();
    add_flag_for(*verb, "metric", filtration.metric, "Distance between cells");
    verb->add_option(
        "--neighbors", filtration.neighbors,
        "Join each cell to this many nearest neighbours, and along the spanning tree [all pairs]");
    add_flag_for(*verb, "scales", filtration.scales.strategy, "How the scales are chosen");
    verb->add_option("--max-scales", filtration.scales.max_scales, "Keep at most this many scales [all]");
    verb->add_option("--seed", options->fit.seed,
                     "Seed of everything random: scales, and the search for neighbours")
        ->check(not_negative())
        ->capture_default_str();
    verb->add_flag("--points", options->points,
                   "INPUT is a point cloud, used as it is; values may be negative");
    verb->add_option(
            "--intervals", options->check.most_intervals,
            "Look at this many intervals between neighbouring distances at most [as many as a second "
            "allows]")
        ->check(whole_number_from(1));
    verb->add_option("--threads", options->threads,
                     "Threads to use; results do not depend on it [OMP_NUM_THREADS, or all processors]")
        ->check(whole_number_from(1));
    verb->add_option("-o,--output", options->output, "Also write all findings to this .json file")
        ->type_name("FILE");
    verb->add_flag("--json", options->json, "Print the results as JSON, for other programs");
    verb->add_flag("--strict", options->strict, "Exit with code 3 if a statement does not hold");
    verb->callback([options, verb] { run(*options, *verb); });
}

} // namespace pnmf::cli
