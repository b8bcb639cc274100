#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/io/h5ad.hpp>

#include <vector>

namespace pnmf {

/// The column of the cells' table with the counts of each cell, before any gene was left out.
inline constexpr const char* counts_column = "pnmf_counts";

/// `uns/pnmf/programs` (`result_file.hpp` lists its entries). Nothing where there are no programs.
void add_programs(AnnDataMap& uns, const Assessment& assessment, const std::vector<TableColumn>& cell_table);

} // namespace pnmf
