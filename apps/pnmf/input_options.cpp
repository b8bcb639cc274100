#include "input_options.hpp"

#include <fmt/core.h>

#include <cstdio>

namespace pnmf::cli {

void add_input_options(CLI::App& verb, InputOptions& options, const std::string& name) {
    verb.add_option(name, options.path,
                    "Data: .h5ad, 10x folder or .h5, .mtx[.gz], .csv[.gz], .tsv[.gz], .npy or .mat")
        ->required();
    const char* group = "Input";
    verb.add_option("--cells", options.cells,
                    "Axis that holds the cells (default rows for .h5ad and .npy, else columns)")
        ->check(CLI::IsMember({"rows", "columns"}).description(""))
        ->type_name("rows|columns")
        ->group(group);
    verb.add_option(
            "--transform", options.transform,
            "log-unit: log10(1+x), then cells of length 1 (default for .h5ad, 10x and .mtx, else none)")
        ->check(CLI::IsMember({"none", "log-unit"}).description(""))
        ->type_name("none|log-unit")
        ->group(group);
    verb.add_option("--layer", options.layer, "Layer of an .h5ad file to read instead of X")
        ->type_name("NAME")
        ->group(group);
    verb.add_option("--variable", options.variable, "Variable of a .mat file that holds the data")
        ->type_name("NAME")
        ->group(group);
    verb.add_flag("--drop-empty", options.drop_empty, "Leave out cells that are zero everywhere")
        ->group(group);
    verb.add_option("--labels", options.labels,
                    "Labels of the cells: a column of the data, or a table of text")
        ->type_name("COLUMN|FILE[:COLUMN]")
        ->group(group);
}

Dataset read_only(const InputOptions& options) {
    ReadOptions read;
    if (!options.cells.empty()) {
        read.cells = options.cells == "rows" ? CellAxis::rows : CellAxis::columns;
    }
    if (!options.layer.empty()) {
        read.layer = options.layer;
    }
    if (!options.variable.empty()) {
        read.variable = options.variable;
    }
    return read_dataset(options.path, read);
}

Input read_input(const InputOptions& options) {
    Input input;
    input.data = read_only(options);
    Dataset& data = input.data;
    input.transform = options.transform.empty()     ? default_transform(options.path)
                      : options.transform == "none" ? Transform::none
                                                    : Transform::log_unit;
    if (!options.labels.empty()) {
        // As a last column of the table, labels follow the cells when some are dropped.
        data.cell_table.push_back({.name = "", .values = read_labels(options.labels, data)});
    }
    prepare(data, {.transform = input.transform, .drop_empty_cells = options.drop_empty});
    if (!options.labels.empty()) {
        input.labels = std::move(std::get<std::vector<std::string>>(data.cell_table.back().values));
        data.cell_table.pop_back();
    }
    if (options.transform.empty()) {
        data.notices.emplace_back(
            input.transform == Transform::none
                ? "transform: none (default); --transform log-unit changes it"
                : "transform: log10(1+x), then cells of length 1 (default); --transform none "
                  "changes it");
    }
    print_notices(data.notices);
    return input;
}

void print_notices(const std::vector<std::string>& notices) {
    for (const std::string& notice : notices) {
        fmt::print(stderr, "{}\n", notice);
    }
}

} // namespace pnmf::cli
