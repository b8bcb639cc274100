#include "input_flags.hpp"
#include "json_text.hpp"
#include "option_flags.hpp"
#include "report_page.hpp"
#include "say.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

struct ReportRequest {
    std::vector<std::string> results;
    std::string output;
    InputFlags input; ///< its path is empty without --input
    std::uint64_t gene_bytes = 25'000'000;
    bool json = false;
};

std::string program_name() {
    return std::string("pnmf ") + PNMF_VERSION;
}

void run(const ReportRequest& options) {
    require(options.results.size() <= 2, "a page compares two results at most, got {}",
            options.results.size());
    std::vector<StoredResult> results;
    std::vector<Dataset> data;
    std::vector<ReportSource> sources;
    results.reserve(options.results.size());
    data.reserve(options.results.size());
    for (const std::string& given : options.results) {
        results.push_back(read_stored_result(given));
        ReportSource source{.result = &results.back()};
        if (!options.input.path.empty()) {
            InputChoices choices = input_choices(options.input.analysis);
            choices.most_others = std::numeric_limits<Index>::max(); // the page can have all
            data.push_back(read_data_of(results.back(), options.input.path, choices));
            source.data = &data.back();
        }
        sources.push_back(std::move(source));
    }
    const ReportFiles files = report_files(
        sources, {.program = program_name(), .expression_bytes = static_cast<Index>(options.gene_bytes)});
    write_report(options.output, files);
    if (options.json) {
        nlohmann::ordered_json json{
            {"output", options.output}, {"bytes", files.html.size()}, {"results", options.results}};
        if (!files.genes.empty()) {
            json["genes"] = genes_beside(options.output).string();
            json["genes_bytes"] = files.genes.size();
        }
        put_json(json);
        return;
    }
    put("wrote {}: {:.1f} MB\n", options.output, static_cast<double>(files.html.size()) / 1e6);
    if (!files.genes.empty()) {
        put("wrote {}: {:.1f} MB, genes that do not fit into the page, which opens it\n",
            genes_beside(options.output).string(), static_cast<double>(files.genes.size()) / 1e6);
    }
}

} // namespace

bool write_page(const fs::path& page, const ReportSource& source) {
    try {
        write_report(page, report_files({source}, {.program = program_name()}));
        return true;
    } catch (const std::exception& e) {
        say("warning: the result is written, but not its page: {}\n", e.what());
        return false;
    }
}

void add_report(CLI::App& app) {
    auto options = std::make_shared<ReportRequest>();
    CLI::App* verb =
        app.add_subcommand("report", "Write a page for the browser: one result, or two side by side");
    verb->add_option("RESULT", options->results, "Folder or .h5ad file of a fit; give two to compare them")
        ->required();
    verb->add_option("-o,--output", options->output, "Page to write")->type_name("FILE.html")->required();
    add_input_flags(*verb, options->input, {"cells", "layer", "variable", "transform"}, "--input");
    CLI::Option* input = verb->get_option("--input");
    input->required(false)->description(
        "The data of the fit; adds colours by gene and the graph of each scale to the page");
    input->type_name("INPUT");
    verb->get_option("--transform")->description("As in `pnmf fit` [as in the fit]");
    verb->add_option("--gene-bytes", options->gene_bytes,
                     "Values of genes in the page itself, before they are packed, such as 25M; those that do "
                     "not fit go into FILE.genes beside it")
        ->type_name("SIZE")
        ->transform(CLI::AsSizeValue(true))
        ->capture_default_str();
    add_threads_flag(*verb);
    add_json_flag(*verb, options->json);
    verb->callback([options] { run(*options); });
}

} // namespace pnmf::cli
