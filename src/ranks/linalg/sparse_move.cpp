#include "ranks/linalg/sparse_move.hpp"

#include <numeric>

namespace pnmf {

SparseMove::SparseMove(std::span<const std::int64_t> start, const std::vector<CellRange>& from,
                       const std::vector<CellRange>& to, Processes& processes)
    : leaving_(start), from_(from), to_(to), processes_(processes) {
    // How many entries each column has, first: then everybody knows what will arrive.
    const auto part = [](auto lengths, const CellRange& held, const CellRange& cells) {
        return cells.count == 0 ? lengths.first(0)
                                : lengths.subspan(static_cast<std::size_t>(cells.first - held.first),
                                                  static_cast<std::size_t>(cells.count));
    };
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(mine().count));
    for (Index j = 0; j < mine().count; ++j) {
        lengths[j] = start[j + 1] - start[j];
    }
    arriving_.assign(static_cast<std::size_t>(wanted().count) + 1, 0);
    exchange_parts<std::int64_t>(
        processes_,
        [&](int r) { return part(std::span<const std::int64_t>(lengths), mine(), overlap(mine(), to_[r])); },
        [&](int r) { return part(std::span(arriving_).subspan(1), wanted(), overlap(from_[r], wanted())); });
    std::partial_sum(arriving_.begin(), arriving_.end(), arriving_.begin());
}

} // namespace pnmf
