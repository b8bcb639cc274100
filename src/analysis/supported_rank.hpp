#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// About how many programs the values support, 1 to `most`: one, and one more for each principal component
/// whose variance is above that of the first of the same values without any structure. There, each gene has
/// its values in other cells, drawn at random (as Shekhar et al., Cell 2016, 166:1308, choose components).
/// At most 2,000 cells are looked at, evenly spaced. The same on all processes.
Index supported_rank(const Dataset& data, Index most);

} // namespace pnmf
