#include "input_flags.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

namespace pnmf::cli {

namespace fs = std::filesystem;

namespace {

enum class Output { h5ad, zarr, npy, delimited, matrix_market };

struct ConvertOptions : InputFlags {
    std::string output;
    std::string output_cells;
};

Output recognise_output(const std::string& path) {
    std::string name = fs::path(path).filename().string();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name.ends_with(".h5ad")) {
        return Output::h5ad;
    }
    if (name.ends_with(".zarr")) {
        return Output::zarr;
    }
    if (name.ends_with(".npy")) {
        return Output::npy;
    }
    if (name.ends_with(".gz")) {
        name.resize(name.size() - 3);
    }
    if (name.ends_with(".csv") || name.ends_with(".tsv")) {
        return Output::delimited;
    }
    if (name.ends_with(".mtx")) {
        return Output::matrix_market;
    }
    fail("{}: the ending must be one of .h5ad, .zarr, .npy, .csv, .csv.gz, .tsv, .tsv.gz, .mtx and .mtx.gz",
         path);
}

/// Cells are the axis that reading the format takes them to be, unless asked otherwise.
CellAxis output_axis(const ConvertOptions& options, Output output) {
    if (!options.output_cells.empty()) {
        return options.output_cells == "rows" ? CellAxis::rows : CellAxis::columns;
    }
    return output == Output::npy || output == Output::h5ad ? CellAxis::rows : CellAxis::columns;
}

void write_array(const fs::path& path, const Dataset& data, CellAxis cells) {
    const auto* sparse = std::get_if<SparseMatrix<double>>(&data.X);
    Matrix X = sparse != nullptr ? to_dense(*sparse) : std::get<Matrix>(data.X);
    if (cells == CellAxis::rows) {
        X.transposeInPlace();
    }
    write_npy(path, X);
}

/// All of a file, not X alone.
void convert_to_zarr(const ConvertOptions& options, const CLI::App& verb) {
    require(
        fs::path(options.path).extension() == ".h5ad",
        "{}: only .h5ad files are written as Zarr stores, with all that is in them; convert to .h5ad first",
        options.path);
    OptionNames choices = of_reading;
    choices.insert("output-cells");
    refuse_flags(verb, choices, {}, "a Zarr store, which gets all of the file as it is");
    write_zarr(options.output, options.path);
    print_notices({fmt::format("{}: all of {} written", options.output, options.path)});
}

void convert(const ConvertOptions& options, const CLI::App& verb) {
    const Output output = recognise_output(options.output);
    if (output == Output::zarr) {
        convert_to_zarr(options, verb);
        return;
    }
    require(output != Output::h5ad || options.output_cells != "columns",
            "{}: cells are the rows of every .h5ad file", options.output);
    Dataset data = read_only(options);
    check_dataset(data);
    const AnalysisOptions& asked = options.analysis;
    if (!asked.labels.empty()) {
        add_labels(data, asked.labels);
    }
    if (asked.drop_empty_cells || asked.transform == Transform::log_unit) {
        prepare(data, {.drop_empty_cells = asked.drop_empty_cells,
                       .transform = asked.transform.value_or(Transform::none)});
    }
    const CellAxis cells = output_axis(options, output);
    switch (output) {
    case Output::zarr: // above
        break;
    case Output::h5ad:
        write_h5ad(options.output, data, {.compress = true});
        break;
    case Output::npy:
        write_array(options.output, data, cells);
        break;
    case Output::delimited:
        write_delimited(options.output, data, cells);
        break;
    case Output::matrix_market:
        write_matrix_market(options.output, data, cells);
        break;
    }
    const char* left_out = output == Output::h5ad        ? ""
                           : output == Output::delimited ? "; tables are left out"
                                                         : "; names and tables are left out";
    data.notices.push_back(fmt::format("{}: {} features x {} cells written, cells are the {}{}",
                                       options.output, data.features(), data.cells(),
                                       cells == CellAxis::rows ? "rows" : "columns", left_out));
    print_notices(data.notices);
}

} // namespace

void add_convert(CLI::App& app) {
    auto options = std::make_shared<ConvertOptions>();
    CLI::App* verb =
        app.add_subcommand("convert", "Write data in another format, chosen by the ending of OUTPUT");
    add_input_flags(*verb, *options, of_reading);
    verb->get_option("--transform")->description("log-unit: log10(1+x), then cells of length 1 [none]");
    verb->add_option(
            "OUTPUT", options->output,
            "File to write: .h5ad, .zarr (of an .h5ad file), .npy, .csv[.gz], .tsv[.gz] or .mtx[.gz]")
        ->required();
    verb->add_option("--output-cells", options->output_cells,
                     "Axis of OUTPUT that holds the cells (default rows for .h5ad and .npy, else columns)")
        ->check(CLI::IsMember({"rows", "columns"}).description(""))
        ->type_name("rows|columns");
    verb->callback([options, verb] { convert(*options, *verb); });
}

} // namespace pnmf::cli
