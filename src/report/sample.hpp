#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/types.hpp>

namespace pnmf::report {

/// A result and data with some of their cells, for a page that cannot show all.
StoredResult sample_of(const StoredResult& result, const std::vector<Index>& cells);
Dataset sample_of(const Dataset& data, const std::vector<Index>& cells);

} // namespace pnmf::report
