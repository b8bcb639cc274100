#include "input_options.hpp"
#include "say.hpp"

#include <pnmf/io/batches.hpp>

#include <fmt/core.h>

#include <cstdio>

namespace pnmf::cli {

void add_input_options(CLI::App& verb, InputOptions& options, const std::string& name) {
    verb.add_option(name, options.path,
                    "The data: .h5ad, 10x folder or .h5, .mtx[.gz], .csv[.gz], .tsv[.gz], .npy or .mat")
        ->required();
    const char* group = "Input";
    verb.add_option("--cells", options.cells,
                    "Where the cells are in the file [rows for .h5ad and .npy, else columns]")
        ->check(CLI::IsMember({"rows", "columns"}).description(""))
        ->type_name("rows|columns")
        ->group(group);
    verb.add_option("--transform", options.transform,
                    "log-unit: log10(1+x), then each cell is scaled to length 1 [log-unit for .h5ad, 10x and "
                    ".mtx, else none]")
        ->check(CLI::IsMember({"none", "log-unit"}).description(""))
        ->type_name("none|log-unit")
        ->group(group);
    verb.add_option("--layer", options.layer, "Layer of an .h5ad file to read instead of X")
        ->type_name("NAME")
        ->group(group);
    verb.add_option("--variable", options.variable, "Variable of a .mat file that holds the data")
        ->type_name("NAME")
        ->group(group);
    verb.add_flag("--drop-empty", options.drop_empty,
                  "Leave out cells without any count; otherwise they are an error")
        ->group(group);
    verb.add_option("--labels", options.labels,
                    "Known labels of the cells: a column of the data, or a text table")
        ->type_name("COLUMN|FILE[:COLUMN]")
        ->group(group);
}

void add_batch_option(CLI::App& verb, InputOptions& options) {
    verb.add_option(
            "--batch", options.batch,
            "Batches of the cells: a column of the data, or a text table. Each cell then gets neighbours in "
            "every batch, so that tree, scales and graphs join types and not batches; the values that are "
            "factorised are not corrected")
        ->type_name("COLUMN|FILE[:COLUMN]")
        ->group("Input");
}

InputChoices choices_of(const InputOptions& options) {
    InputChoices choices{.drop_empty_cells = options.drop_empty, .labels = options.labels};
    if (!options.batch.empty()) {
        choices.batch = options.batch;
    }
    if (!options.cells.empty()) {
        choices.cells = options.cells == "rows" ? CellAxis::rows : CellAxis::columns;
    }
    if (!options.layer.empty()) {
        choices.layer = options.layer;
    }
    if (!options.variable.empty()) {
        choices.variable = options.variable;
    }
    if (!options.transform.empty()) {
        choices.transform = transform_from(options.transform);
    }
    return choices;
}

Dataset read_only(const InputOptions& options) {
    return read_dataset(options.path, read_options(choices_of(options)));
}

Dataset read_input(const InputOptions& options) {
    return read_input(options, "");
}

Dataset read_input(const InputOptions& options, const std::string& space) {
    ReadOptions reading = read_options(choices_of(options));
    if (!space.empty()) {
        reading.space = space;
    }
    Dataset data = read_dataset(options.path, reading);
    const Transform transform = choices_of(options).transform.value_or(default_transform(options.path));
    if (!options.labels.empty()) {
        add_labels(data, options.labels);
    }
    if (!options.batch.empty()) {
        add_batches(data, options.batch);
    }
    prepare(data, {.drop_empty_cells = options.drop_empty, .transform = transform});
    if (options.transform.empty()) {
        data.notices.emplace_back(
            transform == Transform::none
                ? "transform: none (default); --transform log-unit changes it"
                : "transform: log10(1+x), then cells of length 1 (default); --transform none "
                  "changes it");
    }
    print_notices(data.notices);
    return data;
}

void print_notices(const std::vector<std::string>& notices) {
    for (const std::string& notice : notices) {
        say("{}\n", notice);
    }
}

} // namespace pnmf::cli
