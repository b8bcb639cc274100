#pragma once

#include "cells/processes.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

/// Work that ranks share out: each does some of the items, and then all know what all found. What is found of
/// an item must not depend on who looks. Items are shared out in one of two ways: in runs of blocks, for many
/// small items that lie side by side, or dealt like cards, for few long ones.
namespace pnmf {

/// The first of `count` items that rank r does, r = ranks: `count`.
inline Index first_of_rank(Index count, Index r, Index ranks) {
    return count * r / ranks;
}

/// `parallel_for` over the items of this rank.
inline void over_items_of_rank(Communicator& ranks, Index count, const std::function<void(Index)>& body) {
    const Index first = first_of_rank(count, ranks.rank(), ranks.size());
    const Index past = first_of_rank(count, ranks.rank() + 1, ranks.size());
    parallel_for(past - first, [&](Index i) { body(first + i); });
}

/// `parallel_blocks` over the blocks of this rank.
inline void over_blocks_of_rank(Communicator& ranks, Index count, Index block,
                                const std::function<void(Index, Index)>& body) {
    over_items_of_rank(ranks, (count + block - 1) / block,
                       [&](Index b) { body(b * block, std::min(count, (b + 1) * block)); });
}

/// After `over_blocks_of_rank`, or with blocks of one after `over_items_of_rank`: the values of the other
/// ranks, `width` of them for each item. They arrive where they belong.
template <class Value>
void gather_blocks(Communicator& ranks, Index block, std::span<Value> values, Index width = 1) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (ranks.size() == 1 || values.empty()) {
        return;
    }
    const Index count = std::ssize(values) / width;
    const auto first = [&](int r) {
        return std::min(count, block * first_of_rank((count + block - 1) / block, r, ranks.size()));
    };
    const auto part = [&](int r) {
        return values.subspan(static_cast<std::size_t>(width * first(r)),
                              static_cast<std::size_t>(width * (first(r + 1) - first(r))));
    };
    std::vector<Communicator::Outgoing> sends;
    std::vector<Communicator::Incoming> receives;
    for (int r = 0; r < ranks.size(); ++r) {
        if (r != ranks.rank() && !part(ranks.rank()).empty()) {
            sends.push_back({r, std::as_bytes(std::span<const Value>(part(ranks.rank())))});
        }
        if (r != ranks.rank() && !part(r).empty()) {
            receives.push_back({r, std::as_writable_bytes(part(r))});
        }
    }
    ranks.exchange(sends, receives);
}

/// The same for the columns of a matrix.
template <class Number>
void gather_blocks(Communicator& ranks, Index block, DenseMatrix<Number>& columns) {
    gather_blocks(ranks, block, std::span<Number>(columns.data(), static_cast<std::size_t>(columns.size())),
                  columns.rows());
}

/// Sends out(r) to each rank r and receives in(r) from it, spans of values of one kind. What a rank has for
/// itself is copied. Empty ones do not travel.
template <class Value, class Out, class In>
void exchange_parts(Communicator& ranks, const Out& out, const In& in) {
    std::vector<Communicator::Outgoing> sends;
    std::vector<Communicator::Incoming> receives;
    for (int r = 0; r < ranks.size(); ++r) {
        const std::span<const Value> leaving = out(r);
        const std::span<Value> arriving = in(r);
        if (r == ranks.rank()) {
            std::copy(leaving.begin(), leaving.end(), arriving.begin());
            continue;
        }
        if (!leaving.empty()) {
            sends.push_back({r, std::as_bytes(leaving)});
        }
        if (!arriving.empty()) {
            receives.push_back({r, std::as_writable_bytes(arriving)});
        }
    }
    ranks.exchange(sends, receives);
}

/// The rank that an item is dealt to.
inline int dealt_to(const Communicator& ranks, Index item) {
    return static_cast<int>(item % ranks.size());
}

inline bool is_mine(const Communicator& ranks, Index item) {
    return dealt_to(ranks, item) == ranks.rank();
}

/// Those i below `count` of which item first + i is dealt to this rank, ascending.
inline std::vector<Index> mine_among(const Communicator& ranks, Index count, Index first = 0) {
    std::vector<Index> mine;
    for (Index i = 0; i < count; ++i) {
        if (is_mine(ranks, first + i)) {
            mine.push_back(i);
        }
    }
    return mine;
}

/// A value of each item, from the ranks that they were dealt to, on all ranks.
template <class Value>
void gather_dealt(Communicator& ranks, std::span<Value> values) {
    if (ranks.size() == 1) {
        return;
    }
    std::vector<Value> mine;
    std::vector<Index> counts(static_cast<std::size_t>(ranks.size()), 0);
    for (Index i = 0; i < std::ssize(values); ++i) {
        ++counts[dealt_to(ranks, i)];
        if (is_mine(ranks, i)) {
            mine.push_back(values[i]);
        }
    }
    const std::vector<Value> all = gather_to_all(ranks, std::span<const Value>(mine), counts);
    auto next = all.begin();
    for (int r = 0; r < ranks.size(); ++r) {
        for (Index i = r; i < std::ssize(values); i += ranks.size()) {
            values[i] = *next++;
        }
    }
}

/// The labels of `cells` cells that the rank `from` has, on all ranks.
inline void broadcast_labels(Communicator& ranks, Index cells, int from, std::vector<Index>& labels) {
    if (ranks.size() == 1) {
        return;
    }
    std::vector<std::int32_t> sent(static_cast<std::size_t>(cells)); // labels are small: half the bytes
    if (ranks.rank() == from) {
        std::transform(labels.begin(), labels.end(), sent.begin(),
                       [](Index label) { return static_cast<std::int32_t>(label); });
    }
    broadcast(ranks, std::span(sent), from);
    labels.assign(sent.begin(), sent.end());
}

} // namespace pnmf
