#pragma once

#include "cells/processes.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

/// Work that processes share out: each does some of the items, and then all know what all found. What is
/// found of an item must not depend on who looks. Items are shared out in one of two ways: in runs of blocks,
/// for many small items that lie side by side, or dealt like cards, for few long ones.
namespace pnmf {

/// The first of `count` items that process r does, r = processes: `count`.
inline Index first_of_process(Index count, Index r, Index processes) {
    return count * r / processes;
}

/// `parallel_for` over the items of this process.
inline void over_shared_items(Index count, const std::function<void(Index)>& body) {
    const Processes& processes = all_processes();
    const Index first = first_of_process(count, processes.place(), processes.count());
    const Index past = first_of_process(count, processes.place() + 1, processes.count());
    parallel_for(past - first, [&](Index i) { body(first + i); });
}

/// `parallel_blocks` over the blocks of this process.
inline void over_shared_blocks(Index count, Index block, const std::function<void(Index, Index)>& body) {
    over_shared_items((count + block - 1) / block,
                      [&](Index b) { body(b * block, std::min(count, (b + 1) * block)); });
}

/// After `over_shared_blocks`, or with blocks of one after `over_shared_items`: the values of the other
/// processes, `width` of them for each item. They arrive where they belong.
template <class Value>
void gather_blocks(Index block, std::span<Value> values, Index width = 1) {
    Processes& processes = all_processes();
    if (processes.count() == 1 || values.empty()) {
        return;
    }
    const Index count = std::ssize(values) / width;
    const auto first = [&](int r) {
        return std::min(count, block * first_of_process((count + block - 1) / block, r, processes.count()));
    };
    const auto part = [&](int r) {
        return values.subspan(static_cast<std::size_t>(width * first(r)),
                              static_cast<std::size_t>(width * (first(r + 1) - first(r))));
    };
    exchange_parts<Value>(
        processes, [&](int) { return part(processes.place()); }, [&](int r) { return part(r); });
}

/// The same for the columns of a matrix.
template <class Number>
void gather_blocks(Index block, DenseMatrix<Number>& columns) {
    gather_blocks(block, std::span<Number>(columns.data(), static_cast<std::size_t>(columns.size())),
                  columns.rows());
}

/// The process that an item is dealt to.
inline int dealt_to(const Processes& processes, Index item) {
    return static_cast<int>(item % processes.count());
}

inline bool is_mine(const Processes& processes, Index item) {
    return dealt_to(processes, item) == processes.place();
}

/// Those i below `count` of which item first + i is dealt to this process, ascending.
inline std::vector<Index> mine_among(const Processes& processes, Index count, Index first = 0) {
    std::vector<Index> mine;
    for (Index i = 0; i < count; ++i) {
        if (is_mine(processes, first + i)) {
            mine.push_back(i);
        }
    }
    return mine;
}

/// A value of each item, from the processes that they were dealt to, on all processes.
template <class Value>
void gather_dealt(std::span<Value> values) {
    Processes& processes = all_processes();
    if (processes.count() == 1) {
        return;
    }
    std::vector<Value> mine;
    std::vector<Index> counts(static_cast<std::size_t>(processes.count()), 0);
    for (Index i = 0; i < std::ssize(values); ++i) {
        ++counts[dealt_to(processes, i)];
        if (is_mine(processes, i)) {
            mine.push_back(values[i]);
        }
    }
    const std::vector<Value> all = gather_to_all(processes, std::span<const Value>(mine), counts);
    auto next = all.begin();
    for (int r = 0; r < processes.count(); ++r) {
        for (Index i = r; i < std::ssize(values); i += processes.count()) {
            values[i] = *next++;
        }
    }
}

/// The labels of `cells` cells that the process `from` has, on all processes.
inline void broadcast_labels(Index cells, int from, std::vector<Index>& labels) {
    Processes& processes = all_processes();
    if (processes.count() == 1) {
        return;
    }
    std::vector<std::int32_t> sent(static_cast<std::size_t>(cells)); // labels are small: half the bytes
    if (processes.place() == from) {
        std::transform(labels.begin(), labels.end(), sent.begin(),
                       [](Index label) { return static_cast<std::int32_t>(label); });
    }
    broadcast(processes, std::span(sent), from);
    labels.assign(sent.begin(), sent.end());
}

} // namespace pnmf
