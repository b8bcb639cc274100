#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// The order in which a fit works on its cells, where that is not the order of the data
/// (docs/decisions/0170-order-of-cells.md).
struct FitOrder {
    std::vector<std::int32_t> cell; ///< of the data, at each place of the fit; empty: the order of the data

    bool empty() const { return cell.empty(); }
};

/// The place of each cell. The inverse of the inverse is the order.
FitOrder inverse(const FitOrder& order);

} // namespace pnmf
