#pragma once

#include "io/mat.hpp"

#include <pnmf/linalg/sparse.hpp>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

/// The variables of MATLAB files: versions 5 and 7 by matio, 7.3, which is HDF5, by our own layer, where
/// every size is checked.
namespace pnmf::io {

struct MatSummary {
    std::string name;
    std::vector<Index> shape;
    bool numbers = false; ///< real numbers, dense or sparse
};

using MatValue = std::variant<MatArray, SparseMatrix<double>>;

std::vector<MatSummary> list_mat_5(const std::filesystem::path& path);
std::vector<MatSummary> list_mat_73(const std::filesystem::path& path);

/// InputError when there is no such variable, when it does not hold real numbers, or when the file is
/// damaged.
MatValue load_mat_5(const std::filesystem::path& path, const std::string& variable);
MatValue load_mat_73(const std::filesystem::path& path, const std::string& variable);

} // namespace pnmf::io
