#include "analysis_flags.hpp"

#include "option_flags.hpp"
#include "say.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/batches.hpp>
#include <pnmf/io/places.hpp>
#include <pnmf/results/within.hpp>
#include <pnmf/solvers/option_list.hpp>

#include <fmt/format.h>

#include <chrono>

namespace pnmf::cli {
namespace {

/// Each choice on a line, with the flag that changes it.
void print_choices(const std::vector<Choice>& choices) {
    for (const Choice& choice : choices) {
        say("{}{}\n", choice.text,
            choice.option.empty() ? "" : fmt::format(" (--{} changes it)", choice.option));
    }
}

} // namespace

void add_analysis_flags(CLI::App& verb, AnalysisFlags& options) {
    add_input_options(verb, options.input);
    verb.get_option("--transform")
        ->description(
            "log-unit: log10(1+x), then each cell is scaled to length 1, as version 0.1 did; instead of "
            "--normalize [preset paper: log-unit for .h5ad, 10x and .mtx; else not used]");
    const char* group = "Input";
    verb.add_option(
            "--preset", options.preset,
            "Defaults for a kind of data; every other option you give overrides them. cells: gene "
            "expression; "
            "spatial: gene expression in a tissue; points: a point cloud; paper: the model of the paper, as "
            "version 0.1 did; auto: spatial where obsm has 'spatial', else cells for .h5ad, 10x, .mtx and "
            "counts, else points")
        ->check(CLI::IsMember({"auto", "cells", "points", "paper", "spatial"}).description(""))
        ->type_name(joined_names<Preset>("|"))
        ->capture_default_str();
    verb.add_option(
            "--normalize", options.normalize,
            "How values are normalised. counts: each cell is scaled to a sum of 10,000, then log(1+x); "
            "log: log(1+x) alone [preset cells: chosen by looking at the values; else none]")
        ->check(CLI::IsMember({"none", "log", "counts"}).description(""))
        ->type_name(joined_names<Normalize>("|"))
        ->group(group);
    verb.add_option(
            "--genes", options.analysis.genes,
            "Genes to keep: the N that vary most, all of them, or those marked in a column of var [preset "
            "cells: the column highly_variable, or 2000; else all]")
        ->type_name("N|all|COLUMN")
        ->group(group);
    verb.add_option("--cells-min", options.analysis.cells_min,
                    "Leave out genes that are seen in fewer than N cells [0]")
        ->check(whole_number_from(0))
        ->type_name("N")
        ->group(group);
    verb.add_option("--genes-min", options.analysis.genes_min,
                    "Leave out cells in which fewer than N genes are seen [0]")
        ->check(whole_number_from(0))
        ->type_name("N")
        ->group(group);
}

void add_space_flag(CLI::App& verb, AnalysisFlags& options) {
    verb.add_option(
            "--space", options.analysis.space,
            "What distances between cells are measured in: N principal components, the values themselves "
            "(none), or coordinates stored in obsm [preset cells: pca:30; else none]")
        ->type_name("pca:N|none|obsm:KEY")
        ->group("Input");
}

void add_tissue_flags(CLI::App& verb, AnalysisFlags& options) {
    verb.add_option(
            "--places", options.analysis.places,
            "Where the cells are in their tissue, for the preset spatial: an entry of obsm, or two or "
            "three columns of the table of cells [obsm:spatial, else x,y]")
        ->type_name("obsm:KEY|COLUMN,COLUMN")
        ->group("Input");
    verb.add_option("--sample", options.input.sample,
                    "Which slice each cell is of, for the preset spatial: a column of the data, or a text "
                    "table. Cells then have neighbours in their own slice alone")
        ->type_name("COLUMN|FILE[:COLUMN]")
        ->group("Input");
}

AnalysisOptions analysis_options(const AnalysisFlags& options, const CLI::App& verb) {
    AnalysisOptions analysis = options.analysis;
    analysis.preset = *value_named<Preset>(options.preset);
    analysis.precision = value_named<Precision>(options.precision);
    analysis.normalize = value_named<Normalize>(options.normalize);
    const InputChoices input = choices_of(options.input);
    analysis.transform = input.transform;
    analysis.layer = input.layer;
    analysis.drop_empty_cells = input.drop_empty_cells;
    analysis.batches = !options.input.batch.empty();
    visit_options(analysis.fit, [&](const std::string& name, const auto&, const char*) {
        const CLI::Option* flag = verb.get_option_no_throw("--" + name); // not every verb has each of them
        if (flag != nullptr && flag->count() > 0) {
            analysis.given.insert(name);
        }
    });
    return analysis;
}

Work read_work(const AnalysisFlags& options) {
    const auto began = std::chrono::steady_clock::now();
    Work work;
    std::vector<Choice> choices;
    ReadOptions reading = read_options(choices_of(options.input));
    reading.divided = true;
    work.data = read_for_analysis(options.input.path, reading, options.analysis, choices);
    if (!options.input.labels.empty()) {
        add_labels(work.data, options.input.labels);
    }
    if (!options.input.batch.empty()) {
        add_batches(work.data, options.input.batch);
    }
    if (!options.input.sample.empty()) {
        add_samples(work.data, options.input.sample);
    }
    if (!options.input.within.empty()) {
        keep_cluster(work.data, options.input.within);
    }
    work.analysis = plan_analysis(work.data, options.analysis);
    require(options.input.sample.empty() || work.analysis.preset == Preset::spatial,
            "--sample is for the preset spatial, not for {}", name_of(work.analysis.preset));
    prepare(work.data, work.analysis, options.analysis);
    print_notices(work.data.notices);
    print_choices(choices);
    print_choices(work.analysis.choices);
    for (const Choice& choice : work.analysis.choices) {
        work.data.notices.push_back(choice.text);
    }
    work.reading = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return work;
}

} // namespace pnmf::cli
