#pragma once

#include "report/payload.hpp"

#include <pnmf/io/dataset.hpp>
#include <pnmf/types.hpp>

#include <string>
#include <vector>

namespace pnmf::report {

/// Values by gene, as many genes as fit in `budget` bytes before compression.
///
/// First the features `listed`, then the other features, then `data.others`; those that vary most first. The
/// names are returned, those with values first; of features that did not fit as well. `expressed_genes` says
/// how many have values. A gene is its cells that are not zero: of each the step from the one before as bytes
/// (0 adds 255 and goes on, another is added and ends the step), and the value as a share of the gene's
/// largest, 1 to 255. Cost O(nonzeros).
///
/// Those that do not fit are added to `beside`, where it is not null, and then all names are returned: a line
/// that `beside.head` repeats, at byte `beside.offset`, then a zlib stream for each gene, of `beside_bytes`
/// bytes: steps, then shares. Cost O(nonzeros) for each `budget` bytes of them.
std::vector<std::string> add_expression(Payload& payload, const Dataset& data, std::vector<Index> listed,
                                        Index budget, std::string* beside = nullptr);

} // namespace pnmf::report
