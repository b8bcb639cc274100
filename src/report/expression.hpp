#pragma once

#include "report/payload.hpp"

#include <pnmf/io/dataset.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf::report {

/// Values of X by gene, as many genes as fit in `budget` bytes before compression.
///
/// First those `listed`, then the others, those that vary most first; their features are returned, all p of
/// them in this order, and `expressed_genes` says how many have values. A gene is its cells that are not
/// zero: of each the step from the one before as bytes (0 adds 255 and goes on, another is added and ends the
/// step), and the value as a share of the gene's largest, 1 to 255. Cost O(nonzeros).
std::vector<Index> add_expression(Payload& payload, const Dataset& data, std::vector<Index> listed,
                                  Index budget);

} // namespace pnmf::report
