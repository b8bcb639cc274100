#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/linalg/data_matrix.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pnmf {

/// How the features of a data set compare with those that are wanted.
struct FeatureMatch {
    std::vector<std::string> missing; ///< wanted and not there, in the wanted order
    std::vector<std::string> extra;   ///< there and not wanted, in the data's order
    Index common = 0;
};

/// Makes the features of the data the wanted ones, in the wanted order, matched by name: missing ones become
/// zero in every cell, extra ones are left out, and the table about features goes. Keeps sparsity. InputError
/// when none is in common, or when a wanted name occurs more than once in the data.
FeatureMatch match_features(Dataset& data, const std::vector<std::string>& wanted);

/// Steps of the preparation, by name. A new one is a row of the table in `src/io/preparation.cpp`.
namespace step {
inline constexpr const char* genes = "genes";               ///< leaves out genes that are zero in every cell
inline constexpr const char* empty_cells = "empty-cells";   ///< leaves out cells that are zero in every gene
inline constexpr const char* log_unit = "log-unit";         ///< log10(1 + x), then cells of length 1
inline constexpr const char* rare_genes = "rare-genes";     ///< leaves out genes seen in few cells
inline constexpr const char* poor_cells = "poor-cells";     ///< leaves out cells with few genes seen
inline constexpr const char* counts_per = "counts-per";     ///< each cell to the same sum, `count`
inline constexpr const char* logarithm = "log1p";           ///< log(1 + x)
inline constexpr const char* chosen_genes = "chosen-genes"; ///< keeps those that vary most, or of a column
inline constexpr const char* components = "pca";            ///< the space: principal components of the values
inline constexpr const char* within = "within";             ///< the cells of one cluster of a result
inline constexpr const char* without_loop = "without-loop"; ///< a loop is left out of the space
inline constexpr const char* unit = "unit";                 ///< cells of length 1
} // namespace step

bool is_preparation_step(const std::string& name);

/// Of the genes that vary most, one in so many is chosen by `overdispersed_features`, where a logarithm of
/// the values is taken; the others by the variance of the logarithms. The first alone would leave much of the
/// noise, the second the markers of rare types out (docs/choosing-scales.md).
inline constexpr Index overdispersed_part = 4;

/// The steps that `prepare` does for these options, in order.
std::vector<PreparationStep> steps_for(const PrepareOptions& options);

/// Who makes the products with the values that so many principal components are found by; null: the CPU.
using ProductsChoice = std::function<std::unique_ptr<DataProducts>(const DataMatrix<double>&, Index)>;

/// `prepare` with such a choice.
void prepare(Dataset& data, const PrepareOptions& options, const ProductsChoice& choose);

/// What was done, in words: "counts per 10,000, log(1 + x), 2,000 genes, cells of length 1".
std::string words_of(const std::vector<PreparationStep>& steps);

/// The transform among the steps: the last one that changes values.
Transform transform_of(const InputRecord& record);
/// The same steps with another transform.
void set_transform(InputRecord& record, Transform transform);
/// The transform of that name; InputError for other words.
Transform transform_from(const std::string& name);

struct ApplyOptions {
    /// Genes of the fit, in its order: the data get these by name. Empty: the data keep theirs.
    std::vector<std::string> features{};
    bool drop_empty_cells = false; ///< cells that are zero in all these genes; else they are an error
    const Space* space = nullptr;  ///< of the fit: the step `components` gives the cells their coordinates
    Index most_others = 6'000'000; ///< values of `Dataset::others` at most
};

/// Does to other cells what the steps of a record did to those of the fit. Nothing is learned: genes that the
/// fit left out become zero, and stay out of the length of a cell. The steps become `data.input.steps`.
FeatureMatch apply_steps(Dataset& data, const std::vector<PreparationStep>& steps,
                         const ApplyOptions& options);

/// What the user says about a file, beside what a record says.
struct InputChoices {
    std::optional<CellAxis> cells{};
    std::optional<std::string> layer{};
    std::optional<std::string> modality{};
    std::optional<std::string> variable{};
    std::optional<Transform> transform{};
    bool drop_empty_cells = false;
    const Space* space = nullptr;       ///< of the fit, where new cells shall get coordinates in it
    std::string labels{};               ///< as in `read_labels`; become the column "label"
    std::optional<std::string> batch{}; ///< of the data of the fit: must be what the fit was told
    Index most_others = 6'000'000;      ///< values of `Dataset::others` at most, of the data of the fit
};

/// How a file is read.
ReadOptions read_options(const InputChoices& choices);

struct RecordedData {
    Dataset data;
    FeatureMatch match;
};

/// Reads the data of a fit again, as the fit read them: layer, axis and variable of the record, its genes
/// `features`, its steps. Empty cells are left out: a cell of the fit is not among them. InputError where a
/// choice contradicts the record, where the recorded layer is not there, or where genes are missing.
RecordedData read_data_again(const std::filesystem::path& path, const InputRecord& record,
                             const std::vector<std::string>& features, const InputChoices& choices = {});

/// Reads other cells as the fit read its own. A choice stands above the record, since other data may keep the
/// same numbers elsewhere; but the recorded layer is never replaced by X unless a choice says so. Missing
/// genes become zero, and `match` names them.
RecordedData read_new_cells(const std::filesystem::path& path, const InputRecord& record,
                            const std::vector<std::string>& features, const InputChoices& choices = {});

} // namespace pnmf
