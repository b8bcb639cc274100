#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/names.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

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
    bool batches = false;                 ///< there are batches: `automatic` is then never `spatial`
    std::optional<std::string> layer{};   ///< of an .h5ad file
    bool drop_empty_cells = false;
    Index cells_min = 0; ///< as in `PrepareOptions`
    Index genes_min = 0;
};

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

/// How the types of cells in a tissue are found: as the preset `cells` finds clusters, by neighbours in
/// expression.
FitOptions options_of_types(const FitOptions& of_tissue, Index cells);

/// Reads a file for an analysis: with the layer that holds what should be factorised and the space that is
/// asked for. `choices` gets a line where the user named no layer and another than X was taken.
Dataset read_for_analysis(const std::filesystem::path& path, const ReadOptions& reading,
                          const AnalysisOptions& options, std::vector<Choice>& choices);

} // namespace pnmf
