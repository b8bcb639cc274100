#include "input_options.hpp"
#include "report_page.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/match_features.hpp>
#include <pnmf/io/write_text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::vector<std::string> results;
    std::string output;
    InputOptions input; ///< its path is empty without --input
    bool json = false;
};

std::string program_name() {
    return std::string("pnmf ") + PNMF_VERSION;
}

fs::path result_file(const std::string& given) {
    fs::path path = fs::is_directory(given) ? fs::path(given) / "result.h5ad" : fs::path(given);
    require(fs::exists(path), "{}: there is no such result of `pnmf fit`", path.string());
    return path;
}

/// The data of a fit, prepared as they were for it; cells and genes are those of the result.
Dataset data_of(const InputOptions& input, const fs::path& result) {
    const AnnDataFile file = read_anndata(
        result,
        {.skip = {"X", "layers", "obs", "obsm", "varm", "uns/pnmf/H", "uns/pnmf/W", "uns/pnmf/merge_tree"}});
    Dataset data = read_only(input);
    check_dataset(data);
    const FeatureMatch match = match_features(data, file.feature_names);
    require(match.missing.empty(), "{}: these are not the data of {}: {} of its genes are missing, first {}",
            input.path, result.string(), match.missing.size(), match.missing.front());
    const AnnDataValue* stored = find(file.uns, "pnmf/transform");
    const auto* transform = stored == nullptr ? nullptr : std::get_if<std::string>(&stored->value);
    const std::string wanted = !input.transform.empty() ? input.transform
                               : transform != nullptr   ? *transform
                                                        : std::string("none");
    // A cell the fit has is there afterwards, or the names differ.
    prepare_matched(data, {.transform = wanted == "log-unit" ? Transform::log_unit : Transform::none,
                           .drop_empty_cells = true});
    return data;
}

void run(const Options& options) {
    require(options.results.size() <= 2, "a page compares two results at most, got {}",
            options.results.size());
    std::vector<ReportSource> sources;
    std::vector<Dataset> data;
    data.reserve(options.results.size());
    for (const std::string& given : options.results) {
        ReportSource source{.result = result_file(given)};
        if (!options.input.path.empty()) {
            data.push_back(data_of(options.input, source.result));
            source.data = &data.back();
        }
        sources.push_back(std::move(source));
    }
    const std::string html = report_html(sources, {.program = program_name()});
    write_text(options.output, html);
    if (options.json) {
        const nlohmann::ordered_json json{
            {"output", options.output}, {"bytes", html.size()}, {"results", options.results}};
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("wrote {}: {:.1f} MB\n", options.output, static_cast<double>(html.size()) / 1e6);
    }
}

} // namespace

bool write_page(const fs::path& page, const ReportSource& source) {
    try {
        write_text(page, report_html({source}, {.program = program_name()}));
        return true;
    } catch (const std::exception& e) {
        fmt::print(stderr, "warning: the result is written, but not its page: {}\n", e.what());
        return false;
    }
}

void add_report(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand("report", "Write a page to look at: one result, or two side by side");
    verb->add_option("RESULT", options->results, "A fit's folder or .h5ad file; a second one to compare")
        ->required();
    verb->add_option("-o,--output", options->output, "Page to write")->type_name("FILE.html")->required();
    add_input_options(*verb, options->input, "--input");
    CLI::Option* input = verb->get_option("--input");
    input->required(false)->description(
        "The data of the fit: adds colours by gene and the graph of each scale");
    input->type_name("INPUT");
    verb->get_option("--transform")->description("As in `pnmf fit` (default: as in the fit)");
    verb->remove_option(verb->get_option("--labels"));
    verb->remove_option(verb->get_option("--drop-empty"));
    verb->add_flag("--json", options->json, "Print JSON");
    verb->callback([options] { run(*options); });
}

} // namespace pnmf::cli
