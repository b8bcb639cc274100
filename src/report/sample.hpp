#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/types.hpp>

#include <string>
#include <vector>

namespace pnmf::report {

/// `count` of the cells, drawn by their names: results with the same cells show the same of them, whatever
/// the order. Ascending.
std::vector<Index> drawn_by_name(const std::vector<std::string>& names, Index count);

/// A result and data with some of their cells, for a page that cannot show all.
StoredResult sample_of(const StoredResult& result, const std::vector<Index>& cells);
Dataset sample_of(const Dataset& data, const std::vector<Index>& cells);

} // namespace pnmf::report
