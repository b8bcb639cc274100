#pragma once

#include <pnmf/io/h5ad.hpp>

namespace pnmf::io {

/// `add_cell_columns`, and entries of `uns` with them; those of the same name are replaced.
void add_to_h5ad(const std::filesystem::path& path, const std::vector<TableColumn>& columns,
                 const AnnDataMap& uns);

} // namespace pnmf::io
