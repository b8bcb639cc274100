#pragma once

#include "cells/cell_blocks.hpp"
#include "cells/processes.hpp"

#include <pnmf/types.hpp>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace pnmf {

/// Sums over cells for scales [first, past), `width` numbers each: every process has those of its nodes of
/// the tree of blocks, and sends them to the process that owns the scale, which adds them up.
///
/// A process sends width · nodes · sizeof(Number) bytes for each scale that it does not own.
template <class Number>
class NodeSums {
  public:
    NodeSums(const BlockShares& shares, Processes& processes, Index first, Index past, Index width,
             const std::function<int(Index)>& owner)
        : shares_(shares), processes_(processes), first_(first), width_(width) {
        std::vector<Index> owned(static_cast<std::size_t>(processes.count()), 0);
        for (Index t = first; t < past; ++t) {
            owners_.push_back(owner(t));
            place_.push_back(owned[owners_.back()]++);
        }
        owned_ = owned[processes.place()];
        for (int r = 0; r < processes.count(); ++r) {
            to_.emplace_back(static_cast<std::size_t>(owned[r] * nodes(processes.place()) * width));
            from_.emplace_back(r == processes.place() ? 0
                                                      : static_cast<std::size_t>(owned_ * nodes(r) * width));
        }
    }

    /// Where the numbers of a scale and a node of this process go.
    Number* mine(Index t, Index node) {
        const Index place = place_[t - first_] * nodes(processes_.place()) + node;
        return to_[owners_[t - first_]].data() + place * width_;
    }

    void exchange() {
        exchange_parts<Number>(
            processes_, [&](int r) { return std::span<const Number>(to_[r]); },
            [&](int r) { return std::span<Number>(r == processes_.place() ? to_[r] : from_[r]); });
        from_[processes_.place()] = std::move(to_[processes_.place()]);
    }

    /// On the owner: the numbers of a scale and one of the nodes of all processes.
    Number* part(Index t, Index node) {
        const int rank = shares_.process_of_node[node];
        const Index place = place_[t - first_] * nodes(rank) + node - shares_.first_node[rank];
        return from_[rank].data() + place * width_;
    }

    /// On the owner, once for each scale: the sums over all cells.
    const Number* total(Index t) {
        BlockSum<Row> sum;
        for (Index node = 0; node < std::ssize(shares_.nodes); ++node) {
            sum.add(shares_.nodes[node].first, {part(t, node), width_});
        }
        return sum.finish().numbers;
    }

  private:
    struct Row {
        Number* numbers;
        Index width;

        Row& operator+=(const Row& other) {
            std::transform(numbers, numbers + width, other.numbers, numbers, std::plus<>());
            return *this;
        }
    };

    Index nodes(int rank) const { return shares_.first_node[rank + 1] - shares_.first_node[rank]; }

    const BlockShares& shares_;
    Processes& processes_;
    Index first_;
    Index width_;
    std::vector<int> owners_;
    std::vector<Index> place_; ///< of each scale among those of its owner
    Index owned_ = 0;
    std::vector<std::vector<Number>> to_;
    std::vector<std::vector<Number>> from_;
};

} // namespace pnmf
