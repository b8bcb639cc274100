#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace pnmf::cli {

/// New cells at some scales of a fit.
struct Transformed {
    std::vector<std::string> cell_names;
    std::vector<TableColumn> cell_table;
    std::vector<Index> scales;   ///< positions, from 0
    std::vector<double> epsilon; ///< of these scales
    std::vector<Matrix> H;       ///< of these scales, d × cells
};

/// InputError unless the name ends in .h5ad, .npy, .csv or .tsv, the text also in .gz.
void check_transform_file(const std::filesystem::path& path);

/// Writes the embeddings, cells as rows. One scale: `obsm/X_pnmf`, an array of two axes, or columns d1, d2,
/// …. Several: `obsm/X_pnmf_t{t}`, an array of three axes with scales first, or columns t{t}_d1, …, where t
/// counts from 1, the finest scale of the fit.
void write_transformed(const std::filesystem::path& path, const Transformed& result);

} // namespace pnmf::cli
