#pragma once

#include "io/hdf5_handle.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace pnmf::io {

/// Copies into `root`, a file of these cells and features, what the .h5ad file `from` has in obsm, varm,
/// obsp, layers, raw and uns; what `root` has already stays. Cells and features may be some of those of
/// `from`, in its order: matrices then lose the others, and entries that are no matrices are left out.
///
/// Inside a trial read of the caller's. InputError when the file cannot be read, or has other cells.
void keep_parts(hdf5::Object& root, const std::filesystem::path& from,
                const std::vector<std::string>& cell_names, const std::vector<std::string>& feature_names);

} // namespace pnmf::io
