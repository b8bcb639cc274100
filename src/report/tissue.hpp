#pragma once

#include "report/payload.hpp"

#include <pnmf/results/stored_result.hpp>

#include <vector>

namespace pnmf::report {

/// Of a result with domains: where its cells are in the tissue, slice by slice, and their domains at the
/// given scales (positions of the result). Numbers are those of the chosen scale, and a domain keeps its
/// number from one scale to the next where most of its cells stay together.
void add_tissue(Payload& payload, const StoredResult& result, const std::vector<Index>& scales);

} // namespace pnmf::report
