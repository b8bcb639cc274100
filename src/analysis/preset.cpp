#include "analysis/supported_rank.hpp"
#include "analysis/without_loop.hpp"
#include "cells/io/local_cells.hpp"
#include "io/formats.hpp"
#include "io/local_values.hpp"
#include "results/program_entries.hpp"
#include "solvers/choose_device.hpp"
#include "words.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/io/preparation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace pnmf {
namespace {

// The practical model for cells (docs/choosing-scales.md has the study behind it).
constexpr Index variable_genes = 2000;
constexpr Index principal_component_count = 30;
constexpr Index neighbors_of_cells = 8;
constexpr Index most_rank = 30;
constexpr double unitless_alpha = 2.0; ///< exp(−d²/ε²) does not depend on the unit of distances
constexpr double default_scale_error = 0.05;
constexpr double tolerance_of_cells = 2e-3;
constexpr Index neighbors_in_tissue = 64; ///< lists reach twice as far as the coarsest scale

constexpr Index most_points_in_pairs = 2000; ///< above, points get a graph of neighbours
constexpr Index neighbors_of_points = 15;

bool is_cell_format(const std::string& format) {
    constexpr std::array formats{"h5ad", "h5mu", "zarr", "loom", "10x-h5", "10x-folder", "mtx"};
    return std::find(formats.begin(), formats.end(), format) != formats.end();
}

/// Sets an option of the fit unless the user has.
template <class Field, class Value>
void prefer(const AnalysisOptions& options, const char* name, Field& field, const Value& value) {
    if (!options.given.contains(name)) {
        field = value;
    }
}

/// Few scales that stand for all, unless what the user asks for takes its scales as they are.
void prefer_few_scales(const AnalysisOptions& options, FitOptions& fit) {
    const bool takes_all =
        fit.solver.algorithm != Algorithm::stationary || (fit.start && *fit.start != Start::nested);
    if (!takes_all) {
        prefer(options, "scale-error", fit.scale_error, std::optional(default_scale_error));
    }
}

/// "all", a number, or a column.
GeneChoice gene_choice(const std::string& text) {
    GeneChoice choice;
    if (text == "all") {
        return choice;
    }
    if (const std::optional<Index> count = whole_number(text)) {
        require(*count >= 1, "at least 1 gene must be kept, got {}", *count);
        choice.most_variable = count;
    } else {
        choice.column = text;
    }
    return choice;
}

std::string word_of(ValueKind kind) {
    return kind == ValueKind::expression ? "expression that is not logged"
           : kind == ValueKind::logged   ? "logarithms"
                                         : std::string(name_of(kind));
}

void require_factorisable(const ValueFinding& values, const Dataset& data) {
    require(values.kind != ValueKind::scaled, Remedy::choose_layer,
            "values are below 0 ({}): they are centred or scaled, and no nonnegative factorisation of them "
            "exists; {}{}. Give counts, or log-normalised values as they were before scaling",
            values.why,
            data.facts.has_raw ? "the file has raw, which may hold what they were made from"
                               : "there is neither a layer 'counts' nor raw to take instead",
            data.facts.layers.empty() ? std::string{}
                                      : fmt::format(" (layers: {})", fmt::join(data.facts.layers, ", ")));
}

/// How values are normalised, with the line that says so.
void plan_values(const Dataset& data, const AnalysisOptions& options, Analysis& analysis) {
    PrepareOptions& prepare = analysis.prepare;
    prepare.unit_cells = true;
    if (options.transform) {
        prepare.normalize =
            *options.transform == Transform::log_unit ? Normalize::logarithm : Normalize::none;
        prepare.unit_cells = *options.transform == Transform::log_unit;
        return;
    }
    const bool of_X = !data.input.layer || *data.input.layer == "X" || *data.input.layer == "raw";
    const ValueFinding values = recognise_values(data, {.log_recorded = of_X && data.facts.log_recorded});
    require_factorisable(values, data);
    if (options.normalize) {
        prepare.normalize = *options.normalize;
        return;
    }
    const bool logged = values.kind == ValueKind::logged;
    prepare.normalize = logged ? Normalize::none : Normalize::counts;
    analysis.choices.push_back(
        {fmt::format("values: {} ({}{}); {}", word_of(values.kind), values.why,
                     values.sure ? "" : ", by their size alone",
                     logged ? "no second logarithm is taken"
                            : "each cell is scaled to a sum of 10,000, then log(1 + x)"),
         "normalize"});
}

void plan_genes(const Dataset& data, const AnalysisOptions& options, Analysis& analysis) {
    if (!options.genes.empty()) {
        analysis.prepare.genes = gene_choice(options.genes);
        return;
    }
    constexpr const char* column = "highly_variable";
    if (io::find_column(data.feature_table, column) != nullptr) {
        analysis.prepare.genes.column = column;
        analysis.choices.push_back({"genes: those marked highly_variable in the file", "genes"});
    } else if (data.features() > variable_genes) {
        analysis.prepare.genes.most_variable = variable_genes;
        const bool takes_logarithms = analysis.prepare.normalize != Normalize::none;
        // Who chose genes before must see that these are others: anndata.concat drops the column.
        analysis.choices.push_back(
            {fmt::format("genes: the {} of {} that vary most{}{}", variable_genes, data.features(),
                         takes_logarithms
                             ? fmt::format(", {} of them by counts beside genes of the same mean",
                                           variable_genes / overdispersed_part)
                             : "",
                         data.input.format == "h5ad" || data.input.format == "zarr"
                             ? "; chosen anew, the file marks none as highly_variable"
                             : ""),
             "genes"});
    }
}

void plan_space(const Dataset& data, const AnalysisOptions& options, Analysis& analysis) {
    if (analysis.preset == Preset::spatial) {
        require(options.space.empty() || options.space == "obsm:" + options.places,
                "in a tissue distances come from the places of the cells: a space cannot be given too");
        require(data.space.has_value(),
                "the preset spatial needs the places of the cells, and there are none");
        analysis.choices.push_back(
            {fmt::format("distances between cells: from their places, {}", data.space->name), "places"});
        analysis.prepare.components = principal_component_count;
        return;
    }
    if (data.space) {
        return; // it was read with the data
    }
    if (!options.space.empty()) {
        const SpaceChoice choice = space_choice(options.space);
        require(choice.kind != SpaceChoice::Kind::stored, "the data have no obsm '{}'", choice.key);
        if (choice.kind == SpaceChoice::Kind::components) {
            analysis.prepare.components = choice.components;
        }
        return;
    }
    if (analysis.preset == Preset::cells || !options.without_loop.empty()) {
        analysis.prepare.components = principal_component_count;
        analysis.choices.push_back(
            {fmt::format("distances between cells: from {} principal components, not from all genes",
                         principal_component_count),
             "space"});
    }
}

void plan_cells(const Dataset& data, const AnalysisOptions& options, Analysis& analysis) {
    plan_values(data, options, analysis);
    plan_genes(data, options, analysis);
    FitOptions& fit = analysis.fit;
    prefer(options, "alpha", fit.filtration.alpha, unitless_alpha);
    if (analysis.preset == Preset::spatial) {
        prefer(options, "scales", fit.filtration.scales.strategy, ScaleStrategy::neighborhoods);
    } else {
        prefer_few_scales(options, fit);
    }
    if (fit.solver.algorithm == Algorithm::stationary && fit.solver.stop == StopRule::certificate) {
        prefer(options, "tolerance", fit.solver.tolerance, std::optional(tolerance_of_cells));
    }
    analysis.precision = options.precision.value_or(Precision::single);
}

void plan_points(const AnalysisOptions& options, Analysis& analysis) {
    analysis.prepare.transform = options.transform.value_or(Transform::none);
    analysis.prepare.normalize = options.normalize.value_or(Normalize::none);
    if (!options.genes.empty()) {
        analysis.prepare.genes = gene_choice(options.genes);
    }
    prefer(options, "alpha", analysis.fit.filtration.alpha, unitless_alpha);
    prefer_few_scales(options, analysis.fit);
    analysis.precision = options.precision.value_or(Precision::full);
}

/// Keeps the counts of each cell, as they are in the file, as a column of the table of cells: afterwards
/// nobody can tell how deeply a cell was sequenced. Nothing where the values are no counts.
void keep_counts(Dataset& data) {
    if (recognise_values(data).kind != ValueKind::counts) {
        return;
    }
    std::vector<double> counts(static_cast<std::size_t>(data.cells()), 0.0);
    io::for_each_value(data, [&](Index j, Index, double x) { counts[static_cast<std::size_t>(j)] += x; });
    io::share_cells(data, counts);
    io::set_column(data.cell_table, {.name = counts_column, .values = std::move(counts)});
}

/// What version 0.1 did.
void plan_paper(const Dataset& data, const AnalysisOptions& options, Analysis& analysis) {
    const Transform usual = is_cell_format(data.input.format) ? Transform::log_unit : Transform::none;
    analysis.prepare.normalize = options.normalize.value_or(Normalize::none);
    analysis.prepare.transform = options.transform.value_or(options.normalize ? Transform::none : usual);
    if (!options.transform && !options.normalize) {
        analysis.choices.push_back({usual == Transform::none
                                        ? "transform: none (default)"
                                        : "transform: log10(1+x), then cells of length 1 (default)",
                                    "transform"});
    }
    if (!options.genes.empty()) {
        analysis.prepare.genes = gene_choice(options.genes);
    }
    analysis.precision = options.precision.value_or(Precision::full);
}

/// The rank for telling cells apart, which gains from more programs than the values support; so the user
/// hears how many these are (docs/choosing-rank.md).
void plan_rank(const Dataset& data, Analysis& analysis, const AnalysisOptions& options) {
    std::optional<Index>& rank = analysis.fit.rank;
    const bool given = options.given.contains("rank");
    std::string text = fmt::format("rank {}", rank.value_or(0));
    if (!given) {
        const auto root = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(data.cells()))));
        rank = std::min({root, most_rank, data.features(), data.cells()});
        text = fmt::format("rank {}: the square root of the number of cells, at most {}", *rank, most_rank);
    }
    if (!rank) {
        return; // it is still to be chosen
    }
    const Index supported = analysis.preset == Preset::cells ? supported_rank(data, *rank) : *rank;
    if (given && supported == *rank) {
        return;
    }
    if (supported < *rank) {
        text +=
            fmt::format("{} the values support about {} program{}; more help to tell cells apart, but their "
                        "genes may be chance",
                        given ? ":" : ";", supported, supported == 1 ? "" : "s");
    }
    analysis.choices.push_back({text, "rank"});
}

/// Whether the cells have numbers x and y.
bool has_place_columns(const Dataset& data) {
    const auto has_numbers = [&](const char* name) {
        const TableColumn* column = io::find_column(data.cell_table, name);
        return column != nullptr && std::holds_alternative<std::vector<double>>(column->values);
    };
    return has_numbers("x") && has_numbers("y");
}

} // namespace

PresetFinding find_preset(const Dataset& data, bool has_places) {
    if (has_places) {
        return {Preset::spatial, "the file has the places of its cells"};
    }
    if (is_cell_format(data.input.format)) {
        return {Preset::cells,
                fmt::format("the file is of a format for cells{}",
                            has_place_columns(data) ? "; if its columns x and y are places in a tissue, the "
                                                      "preset spatial finds domains too"
                                                    : "")};
    }
    double zeros = 0.0;
    if (const auto* dense = std::get_if<Matrix>(&data.X)) {
        zeros = sum_of(io::processes_of(data), static_cast<double>((dense->array() == 0.0).count()));
    } else {
        const auto& sparse = std::get<SparseMatrix<double>>(data.X);
        zeros = static_cast<double>(data.features()) * static_cast<double>(data.cells()) -
                sum_of(io::processes_of(data), static_cast<double>(sparse.value.size()));
    }
    const bool mostly_zero =
        zeros > 0.5 * static_cast<double>(data.features()) * static_cast<double>(data.cells());
    if (mostly_zero && recognise_values(data).whole) {
        return {Preset::cells, "whole numbers, most of them 0, as counts are"};
    }
    return {Preset::points, "the values do not look like counts"};
}

Analysis plan_analysis(const Dataset& data, const AnalysisOptions& options) {
    require(!options.normalize || !options.transform,
            "normalize and transform say the same thing in two ways: give one of them");
    Analysis analysis;
    analysis.fit = options.fit;
    analysis.preset = options.preset;
    if (options.preset == Preset::automatic) {
        const bool read = data.space && data.space->name == fmt::format("obsm:{}", usual_places);
        const bool has_places =
            !options.places.empty() || (read && options.space.empty() && options.batch.empty());
        const PresetFinding found = find_preset(data, has_places);
        analysis.preset = found.preset;
        analysis.choices.push_back(
            {fmt::format("preset {}: {}", name_of(found.preset), found.why), "preset"});
    }
    analysis.prepare.drop_empty_cells = options.drop_empty_cells;
    analysis.prepare.cells_min = options.cells_min;
    analysis.prepare.genes_min = options.genes_min;
    switch (analysis.preset) {
    case Preset::spatial:
    case Preset::cells:
        plan_cells(data, options, analysis);
        break;
    case Preset::points:
        plan_points(options, analysis);
        break;
    default:
        plan_paper(data, options, analysis);
    }
    plan_space(data, options, analysis);
    return analysis;
}

namespace {

/// What one unit of the places is, with the line that says so.
void plan_unit(Dataset& data, Analysis& analysis, const AnalysisOptions& options) {
    const bool tissue = analysis.preset == Preset::spatial;
    if (options.unit_um) {
        require(tissue, "a unit of places is for the preset spatial, not for {}", name_of(analysis.preset));
        require(std::isfinite(*options.unit_um) && *options.unit_um > 0.0,
                "a unit of the places must be more than 0 micrometres, got {}", *options.unit_um);
        data.space->unit_um = options.unit_um;
    } else if (tissue && data.space->unit_um) {
        analysis.choices.push_back(
            {fmt::format("places: one unit is {:.4g} µm, by the scale factors in the file",
                         *data.space->unit_um),
             "unit-um"});
    }
}

} // namespace

void prepare(Dataset& data, Analysis& analysis, const AnalysisOptions& options) {
    const bool tissue = analysis.preset == Preset::spatial;
    if (tissue || analysis.preset == Preset::cells || is_cell_format(data.input.format)) {
        keep_counts(data);
    }
    plan_unit(data, analysis, options);
    FitOptions& fit = analysis.fit;
    prepare(data, analysis.prepare, [&](const DataMatrix<double>& X, Index count) {
        return choose_products(fit.solver.device, X, count);
    });
    if (!options.without_loop.empty()) {
        analysis.with_loop = leave_out_loop(data, options.without_loop, options.space);
    }
    const std::optional<Batches> batches = batches_of(data);
    require(!tissue || !batches,
            "neighbours in a tissue cannot be balanced over batches: say which sample each "
            "cell is of instead, and cells get neighbours in their own sample");
    if (batches) {
        fit.filtration.batch = batches->of_cell;
    }
    if (tissue) {
        require(!data.local, "cells in a tissue are analysed by one process, there are {}",
                all_processes().count());
        separate_samples(data);
    }
    if (analysis.preset == Preset::paper) {
        return;
    }
    const Index n = data.cells();
    const bool cells = tissue || analysis.preset == Preset::cells;
    if (cells || batches || n > most_points_in_pairs) {
        const Index wanted = tissue ? neighbors_in_tissue : cells ? neighbors_of_cells : neighbors_of_points;
        if (n > 2) {
            prefer(options, "neighbors", fit.filtration.neighbors, std::optional(std::min(wanted, n - 1)));
        }
    }
    plan_rank(data, analysis, options);
}

FitOptions options_of_types(const FitOptions& of_tissue, Index cells) {
    AnalysisOptions asked;
    FitOptions types = of_tissue;
    types.filtration.scales = {.max_scales = of_tissue.filtration.scales.max_scales};
    types.filtration.neighbors = std::min(neighbors_of_cells, std::max<Index>(1, cells - 1));
    if (!types.scale_error) {
        prefer_few_scales(asked, types);
    }
    return types;
}

} // namespace pnmf
