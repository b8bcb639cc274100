#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/io/h5ad.hpp>

#include <functional>
#include <vector>

namespace pnmf {

/// The column of the cells' table with the counts of each cell, before any gene was left out.
inline constexpr const char* counts_column = "pnmf_counts";

/// `uns/pnmf/programs` (`result_file.hpp` lists its entries). Nothing where there are no programs. `usages`
/// (`program_usages`) is asked for where the counts of the cells are known: it is as large as an embedding.
void add_programs(AnnDataMap& uns, const Assessment& assessment, const std::vector<TableColumn>& cell_table,
                  const std::function<Matrix()>& usages);

} // namespace pnmf
