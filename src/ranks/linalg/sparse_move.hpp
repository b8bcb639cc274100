#pragma once

#include "ranks/linalg/divided_cells.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace pnmf {

/// Sparse columns that go to the processes that are to hold them: each has those of the cells `from[rank]`,
/// and gets those of `to[rank]`, which may overlap. Rows and values are moved one after the other.
class SparseMove {
  public:
    /// `start`: where each column begins here.
    SparseMove(std::span<const std::int64_t> start, const std::vector<CellRange>& from,
               const std::vector<CellRange>& to, Processes& processes);

    /// Where each column begins that arrives.
    const std::vector<std::int64_t>& arriving() const { return arriving_; }

    template <class Item>
    std::vector<Item> operator()(std::span<const Item> here) const {
        std::vector<Item> result(static_cast<std::size_t>(arriving_.back()));
        const auto part = [](auto items, std::span<const std::int64_t> start, const CellRange& held,
                             const CellRange& cells) {
            const std::int64_t begin = cells.count == 0 ? 0 : start[cells.first - held.first];
            const std::int64_t end = cells.count == 0 ? 0 : start[cells.past() - held.first];
            return items.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        };
        exchange_parts<Item>(
            processes_, [&](int r) { return part(here, leaving_, mine(), overlap(mine(), to_[r])); },
            [&](int r) { return part(std::span(result), arriving_, wanted(), overlap(from_[r], wanted())); });
        return result;
    }

  private:
    const CellRange& mine() const { return from_[processes_.place()]; }
    const CellRange& wanted() const { return to_[processes_.place()]; }

    std::span<const std::int64_t> leaving_;
    const std::vector<CellRange>& from_;
    const std::vector<CellRange>& to_;
    Processes& processes_;
    std::vector<std::int64_t> arriving_;
};

} // namespace pnmf
