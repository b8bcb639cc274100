#include <pnmf/linalg/fit_order.hpp>

namespace pnmf {

FitOrder inverse(const FitOrder& order) {
    FitOrder result;
    result.cell.resize(order.cell.size());
    for (Index place = 0; place < std::ssize(order.cell); ++place) {
        result.cell[order.cell[place]] = static_cast<std::int32_t>(place);
    }
    return result;
}

} // namespace pnmf
