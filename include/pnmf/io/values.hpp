#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/names.hpp>
#include <pnmf/types.hpp>

#include <string>
#include <vector>

namespace pnmf {

/// What the numbers of a data set are, as far as they show it themselves.
enum class ValueKind {
    counts,     ///< whole numbers ≥ 0: molecules or reads
    expression, ///< ≥ 0, not whole, on a linear scale: TPM, FPKM, RPKM, expected counts
    logged,     ///< ≥ 0, not whole, on a logarithmic scale
    scaled,     ///< some below 0: centred, scaled or corrected
};

template <>
struct EnumNames<ValueKind> {
    static constexpr auto values = name_table<ValueKind>({{"counts", ValueKind::counts},
                                                          {"expression", ValueKind::expression},
                                                          {"logged", ValueKind::logged},
                                                          {"scaled", ValueKind::scaled}});
};

/// What is known about the values beside themselves.
struct ValueHints {
    bool log_recorded = false; ///< the file says that they were logged (`uns["log1p"]` of Scanpy)
};

struct ValueFinding {
    ValueKind kind = ValueKind::counts;
    std::string why;    ///< "whole numbers up to 419"
    bool sure = true;   ///< false where only the size of the numbers speaks for it
    bool whole = false; ///< all are whole numbers
};

/// Largest value that is taken for a logarithm: log2(1 + x) of a million is 20.
inline constexpr double largest_logarithm = 25.0;

/// Tells counts, expression, logarithms and scaled values apart. Whole numbers are counts, whatever the file
/// says; but where none is above `largest_logarithm`, and the most frequent above 0 is not 1, they may be
/// rounded logarithms, and `sure` is false. Some below 0 are scaled; else a recorded logarithm is believed;
/// else the size of the largest value decides, and `sure` is false. NaN and infinity are left to
/// `check_dataset`.
ValueFinding recognise_values(const Dataset& data, const ValueHints& hints = {});

/// Each cell times target / (its sum): counts per 10,000 with 1e4. Empty cells stay.
void scale_cells_to(Dataset& data, double target);

/// x ← log(1 + x). InputError for values at or below −1.
void take_logarithms(Dataset& data);

/// Cells to length 1. Empty cells stay.
void scale_cells_to_unit_length(Dataset& data);

/// The features with the largest `feature_variances`, `count` of them or all that vary at all, ascending: the
/// total variance of Lun, McCarthy and Marioni (F1000Research 2016, 5:2122) when the values are
/// log-normalised. Of equal ones the first. Those of `also` that vary are among them.
std::vector<Index> variable_features(const Dataset& data, Index count, const std::vector<Index>& also = {});

/// The features with the largest `standardised_variances`: of counts, as they are before they are normalised.
std::vector<Index> overdispersed_features(const Dataset& data, Index count);

/// The variance of each feature over the cells, with n − 1; 0 for a single cell.
Vector feature_variances(const Dataset& data);

/// The variance of each feature measured by what is usual for its mean, "vst" of Stuart et al. (Cell 2019,
/// 177:1888): log10 of the variance is fitted on log10 of the mean by local quadratics, each over the nearest
/// 30 % of the features (at 64 places, with straight lines between them), and
///
///     Σ_j min((x_ij − μ_i) / σ_i, √n)² / (n − 1)
///
/// with σ_i from the fit. Markers of rare cells are far above 1 however rarely they are seen. 0 where a
/// feature does not vary or has no mean above 0. Does not depend on the number of threads or processes.
Vector standardised_variances(const Dataset& data);

} // namespace pnmf
