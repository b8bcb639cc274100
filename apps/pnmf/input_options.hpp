#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/io/preparation.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pnmf::cli {

/// What a verb reads and how: the same options for every verb that takes data.
struct InputOptions {
    std::string path;
    std::string cells;     ///< empty: the format's default
    std::string transform; ///< empty: the format's default
    std::string layer;
    std::string variable;
    std::string labels;
    std::string batch;  ///< where batches are read from, for verbs that take them; empty: none
    std::string sample; ///< where the slice of each cell is read from; empty: one slice
    std::string within; ///< RESULT:CLUSTER whose cells alone take part; empty: all
    bool drop_empty = false;
};

/// Adds INPUT (or another `name` of the data), --cells, --transform, --layer, --variable, --drop-empty and
/// --labels to a verb. `options` must live as long as the verb's callback.
void add_input_options(CLI::App& verb, InputOptions& options, const std::string& name = "INPUT");

/// Adds --batch to a verb that makes graphs.
void add_batch_option(CLI::App& verb, InputOptions& options);

/// The same as choices, of which only those given are set.
InputChoices choices_of(const InputOptions& options);

/// Reads the data and prepares them; labels become the column "label" of the table of cells. Says on stderr,
/// a line each, what was chosen on the way.
Dataset read_input(const InputOptions& options);
/// The same with an entry of obsm as `Dataset::space`; empty: none.
Dataset read_input(const InputOptions& options, const std::string& space);

/// Reads as `options` say without preparing: values and names are as in the file. Says nothing.
Dataset read_only(const InputOptions& options);

/// Prints each notice as a line on stderr.
void print_notices(const std::vector<std::string>& notices);

} // namespace pnmf::cli
