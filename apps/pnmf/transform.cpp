#include "input_flags.hpp"
#include "json_text.hpp"
#include "option_flags.hpp"
#include "say.hpp"
#include "transform_output.hpp"
#include "verbs.hpp"
#include "words.hpp"

#include <pnmf/error.hpp>
#include <pnmf/results/transform_cells.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <optional>

namespace pnmf::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TransformRequest {
    std::string result;
    InputFlags input;
    std::string output;
    std::string scales = "recommended";
    std::string graph;
    bool json = false;
};

/// The positions, from 0, of the scales asked for; users count from 1, the finest.
std::vector<Index> chosen_scales(const std::string& text, const StoredResult& fit) {
    const Index count = fit.scales;
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
        const Index number = whole_number(part).value_or(0);
        require(number >= 1 && number <= count,
                "--scales must be recommended, all, or numbers from 1 (finest) to {} with commas, got {}",
                count, text);
        require(std::find(chosen.begin(), chosen.end(), number - 1) == chosen.end(),
                "--scales names scale {} more than once", number);
        chosen.push_back(number - 1);
    }
    return chosen;
}

void print_json(const TransformRequest& options, const StoredResult& fit, const RecordedData& fresh,
                const std::vector<TransformedScale>& scales) {
    Json json;
    json["result"] = fit.name;
    json["input"] = options.input.path;
    json["output"] = options.output;
    json["cells"] = fresh.data.cells();
    json["genes"] = fit.features.size();
    json["genes_missing"] = fresh.match.missing.size();
    json["genes_missing_names"] = fresh.match.missing;
    json["genes_ignored"] = fresh.match.extra.size();
    json["lambda1"] = options.graph.empty() ? 0.0 : fit.penalty.graph;
    json["lambda3"] = fit.penalty.anchor;
    json["scales"] = Json::array();
    for (const TransformedScale& report : scales) {
        Json one{{"scale", report.scale + 1},
                 {"epsilon", report.epsilon},
                 {"relative_error", report.cells.relative_error},
                 {"residual", report.cells.residual},
                 {"passes", report.cells.passes},
                 {"converged", report.cells.converged}};
        if (!options.graph.empty()) {
            one["cells_with_neighbours"] = report.with_neighbours;
        }
        json["scales"].push_back(std::move(one));
    }
    put_json(json);
}

void print_table(const TransformRequest& options, const Dataset& data,
                 const std::vector<TransformedScale>& scales) {
    put("{} cells, rank {}\n\n", data.cells(), scales.front().cells.H.rows());
    put(" scale     epsilon  relative error{}\n", options.graph.empty() ? "" : "  with neighbours");
    for (const TransformedScale& report : scales) {
        put("{:6}  {:10.4g}  {:14.4f}{}\n", report.scale + 1, report.epsilon, report.cells.relative_error,
            options.graph.empty() ? "" : fmt::format("  {:15}", report.with_neighbours));
    }
    put("\nwrote {}\n", options.output);
}

void run(const TransformRequest& options) {
    check_transform_file(options.output);
    const StoredResult fit = read_stored_result(options.result);
    print_notices(fit.order.notice.empty() ? std::vector<std::string>{} : std::vector{fit.order.notice});
    const std::vector<Index> scales = chosen_scales(options.scales, fit);
    require(fit.has_basis || (scales == std::vector<Index>{fit.recommended} && fit.recommended_basis()),
            "{}: the result has the programs of the recommended scale alone; `pnmf fit --save-basis` keeps "
            "those of all",
            fit.name);
    InputChoices choices = input_choices(options.input.analysis);
    if (!options.graph.empty() && fit.space) {
        choices.space = &*fit.space;
    }
    const RecordedData fresh = read_new_cells(options.input.path, fit.input, fit.features, choices);
    print_notices(fresh.data.notices);
    std::optional<Dataset> of_fit;
    if (!options.graph.empty()) {
        of_fit = read_data_of(fit, options.graph); // the choices above are about the new cells
    }
    const std::vector<TransformedScale> transformed =
        transform_cells(fit, fresh.data, scales, of_fit ? &*of_fit : nullptr);
    Transformed result{.cell_names = fresh.data.cell_names,
                       .cell_table = fresh.data.cell_table,
                       .scales = scales,
                       .epsilon = {},
                       .H = {}};
    for (const TransformedScale& one : transformed) {
        if (!one.cells.converged) {
            say("warning: at scale {} the residual is {:.1e} after {} passes\n", one.scale + 1,
                one.cells.residual, one.cells.passes);
        }
        result.epsilon.push_back(one.epsilon);
        result.H.push_back(one.cells.H);
    }
    write_transformed(options.output, result);
    if (options.json) {
        print_json(options, fit, fresh, transformed);
    } else {
        print_table(options, fresh.data, transformed);
    }
}

} // namespace

void add_transform(CLI::App& app) {
    auto options = std::make_shared<TransformRequest>();
    CLI::App* verb = app.add_subcommand(
        "transform", "Embed new cells with the gene programs of a fit, at one scale or several");
    verb->add_option(
            "RESULT", options->result,
            "Folder or .h5ad file of a fit; for other scales than the recommended one it must have been "
            "made with --save-basis")
        ->required();
    add_input_flags(*verb, options->input, of_reading, "NEW");
    verb->get_option("--transform")
        ->description("log-unit: log10(1+x), then cells of length 1 [as in the fit]");
    verb->get_option("--layer")->description("Layer of NEW to read; X is the matrix itself [as in the fit]");
    verb->add_option("-o,--output", options->output,
                     "File to write: .h5ad, .npy (cells as rows; several scales first), .csv or .tsv")
        ->required()
        ->type_name("FILE");
    verb->add_option("--scales", options->scales, "Scales to embed at; 1 is the finest")
        ->type_name("recommended|all|1,5,80")
        ->capture_default_str();
    verb->add_option("--graph", options->graph,
                     "The data of the fit; each new cell is then also drawn to its neighbours among them")
        ->type_name("INPUT");
    add_threads_flag(*verb);
    add_json_flag(*verb, options->json);
    verb->callback([options] { run(*options); });
}

} // namespace pnmf::cli
