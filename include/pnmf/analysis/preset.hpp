#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/io/preparation.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/names.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pnmf {

/// A set of choices for a kind of data; each option that a user sets stands above it.
enum class Preset {
    automatic, ///< spatial, cells or points, by the file and its values
    cells,     ///< expression of genes: normalised, distances from principal components, few scales
    points,    ///< a cloud of points, taken as it is, few scales
    paper,     ///< the model of the paper: all pairs in X, α = 1.5, all canonical scales
    spatial,   ///< cells in a tissue: as `cells`, distances from places, scales of neighbourhoods
};

template <>
struct EnumNames<Preset> {
    static constexpr auto values = name_table<Preset>({{"auto", Preset::automatic},
                                                       {"cells", Preset::cells},
                                                       {"points", Preset::points},
                                                       {"paper", Preset::paper},
                                                       {"spatial", Preset::spatial}});
};

/// What a user asks for. What is empty or not among `given` is for the preset to choose.
/// `visit_input_options` lists all but the options of the fit.
struct AnalysisOptions {
    Preset preset = Preset::automatic;
    FitOptions fit{};
    std::set<std::string> given{}; ///< the options of `fit` that were set, by the names of `visit_options`
    std::optional<Precision> precision{};
    std::optional<Normalize> normalize{};
    std::optional<Transform> transform{}; ///< the older way to say how values are treated
    std::string genes{};                  ///< "all", a number, or a column of the table of features
    std::string space{};                  ///< "none", "pca:N" or "obsm:KEY"
    std::string places{};                 ///< "obsm:KEY" or "COLUMN,COLUMN", of the preset `spatial`
    std::optional<double> unit_um{};      ///< micrometres of one unit of the places
    std::string sample{};                 ///< the slice of each cell, as `add_samples` takes it
    std::string batch{};                  ///< as `add_batches` takes it; `automatic` is then never `spatial`
    std::string labels{};                 ///< as `read_labels` takes them
    std::string within{};                 ///< RESULT:CLUSTER whose cells alone take part (`keep_cluster`)
    std::string without_loop{};           ///< its number or a column of phases (`leave_out_loop`)
    std::optional<CellAxis> cells{};
    std::optional<std::string> layer{};    ///< of an .h5ad or .loom file
    std::optional<std::string> modality{}; ///< of a MuData file
    std::optional<std::string> variable{}; ///< of a .mat file
    bool drop_empty_cells = false;
    Index cells_min = 0; ///< as in `PrepareOptions`
    Index genes_min = 0;
};

/// The one list of what is chosen about an input: `visit(name, field, what it is, kind of value)` for each,
/// the kind for texts alone. It drives the program's flags, Python's arguments and their descriptions, and
/// R's.
template <class Options, class Visitor>
void visit_input_options(Options& o, const Visitor& visit) {
    visit("cells", o.cells,
          "where the cells are in the file [rows for .h5ad and .npy, and for a .csv or .tsv whose names say "
          "so; else columns]",
          "");
    visit("layer", o.layer, "layer of an .h5ad or .loom file to read instead of X", "NAME");
    visit("modality", o.modality, "which AnnData of a MuData file (.h5mu) to read [rna, or the only one]",
          "NAME");
    visit("variable", o.variable, "variable of a .mat file that holds the data", "NAME");
    visit("drop-empty", o.drop_empty_cells, "leave out cells without any count; otherwise they are an error",
          "");
    visit("labels", o.labels, "known labels of the cells: a column of the data, or a text table",
          "COLUMN|FILE[:COLUMN]");
    visit("preset", o.preset,
          "defaults for a kind of data; every other option you give overrides them. cells: gene expression; "
          "spatial: gene expression in a tissue; points: a point cloud; paper: the model of the paper, as "
          "version 0.1 did; auto: spatial where obsm has 'spatial', else cells for .h5ad, 10x, .mtx and "
          "counts, else points",
          "");
    visit("normalize", o.normalize,
          "how values are normalised. counts: each cell is scaled to a sum of 10,000, then log(1+x); log: "
          "log(1+x) alone [preset cells: chosen by looking at the values; else none]",
          "");
    visit("transform", o.transform,
          "log-unit: log10(1+x), then each cell is scaled to length 1, as version 0.1 did; instead of "
          "normalize [preset paper: log-unit for .h5ad, 10x and .mtx; else not used]",
          "");
    visit("genes", o.genes,
          "genes to keep: the N that vary most, all of them, or those marked in a column of var [preset "
          "cells: the column highly_variable, or 2000; else all]",
          "N|all|COLUMN");
    visit("cells-min", o.cells_min, "leave out genes that are seen in fewer than N cells", "N");
    visit("genes-min", o.genes_min, "leave out cells in which fewer than N genes are seen", "N");
    visit("space", o.space,
          "what distances between cells are measured in: N principal components, the values themselves "
          "(none), or coordinates stored in obsm [preset cells: pca:30; else none]",
          "pca:N|none|obsm:KEY");
    visit("places", o.places,
          "where the cells are in their tissue, for the preset spatial: an entry of obsm, or two or three "
          "columns of the table of cells [obsm:spatial, else x,y]",
          "obsm:KEY|COLUMN,COLUMN");
    visit(
        "unit-um", o.unit_um,
        "micrometres of one unit of the places, for the preset spatial: scales are then named in micrometres "
        "[of Visium by the diameter of its spots, 55; else not known]",
        "");
    visit("sample", o.sample,
          "which slice each cell is of, for the preset spatial: a column of the data, or a text table. Cells "
          "then have neighbours in their own slice alone",
          "COLUMN|FILE[:COLUMN]");
    visit("batch", o.batch,
          "batches of the cells: a column of the data, or a text table. Each cell then gets neighbours in "
          "every batch, so that tree, scales and graphs join types and not batches; the values that are "
          "factorised are not corrected",
          "COLUMN|FILE[:COLUMN]");
    visit("within", o.within,
          "take the cells of one cluster of an earlier result alone, to divide them further: its name in "
          "obs/pnmf_clusters, or in another column. Genes and components are chosen anew among them",
          "RESULT:[COLUMN=]CLUSTER");
    visit("without-loop", o.without_loop,
          "leave a loop such as the cell cycle out of the space in which distances are measured and clusters "
          "tested: its number among those that are found, or a column of the cells with their phases in "
          "radians. The values that are factorised stay as they are",
          "N|COLUMN");
    visit("precision", o.precision,
          "precision of the computation; float needs half the memory [preset cells: float; else double]", "");
}

/// Those of them that say how any file is read.
InputChoices input_choices(const AnalysisOptions& options);

/// A choice that was made for the user: what and why, and the option that changes it.
struct Choice {
    std::string text;
    std::string option{}; ///< "normalize", "genes", …; empty: none
};

/// What will be done.
struct Analysis {
    Preset preset = Preset::paper; ///< never `automatic`
    PrepareOptions prepare{};
    FitOptions fit{};
    Precision precision = Precision::full;
    std::vector<Choice> choices{}; ///< at most eight
    /// Where a loop was left out, what it was left out of as it was before: the space of the cells, in a
    /// tissue their expression.
    std::optional<Matrix> with_loop{};
};

/// Which preset fits the data, and why.
struct PresetFinding {
    Preset preset = Preset::points;
    std::string why;
};
/// `spatial` where places were read; `cells` for .h5ad, 10x and MatrixMarket files, and for whole numbers
/// that are mostly zero; else `points`.
PresetFinding find_preset(const Dataset& data, bool has_places = false);

/// The layer that holds what should be factorised, where the user names none: "counts" when the file has one,
/// and "raw" where X holds scaled values; nothing: X.
std::optional<std::string> preferred_layer(const FileFacts& facts, std::optional<ValueKind> kind_of_X);

/// What the preset does with these data, values as in the file. InputError where no value can be factorised.
/// `path`-independent: the same for the program and for hosts that hold the data already.
Analysis plan_analysis(const Dataset& data, const AnalysisOptions& options);

/// Prepares the data as planned (`prepare`), and completes the plan by what depends on their size: rank and
/// neighbours; and by the batches of the cells that are left, where they are known (`add_batches`).
void prepare(Dataset& data, Analysis& analysis, const AnalysisOptions& options);

/// Data that are ready, and what is done with them.
struct PlannedData {
    Dataset data;
    Analysis analysis;
};

/// The one way in from a file: reads it, with the layer that holds what should be factorised and with all
/// that the options name about its cells, decides what is done (`plan_analysis`), and prepares the data.
/// `local` as in `ReadOptions`. The first choices are those of reading.
PlannedData read_planned(const std::filesystem::path& path, const AnalysisOptions& options,
                         bool local = false);

/// Where tree, scales and graphs of these data come from: their space, or the values themselves.
Points points_of(const Dataset& data, Metric metric);

/// How the types of cells in a tissue are found: as the preset `cells` finds clusters, by neighbours in
/// expression.
FitOptions options_of_types(const FitOptions& of_tissue, Index cells);

} // namespace pnmf
