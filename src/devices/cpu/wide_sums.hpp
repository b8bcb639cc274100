#pragma once

#include "devices/cpu/shift_forest.hpp"

#include "cells/processes.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace pnmf {

/// Numbers in a row that are added to others one by one.
struct NumberRow {
    double* numbers = nullptr;
    Index width = 0;

    NumberRow& operator+=(const NumberRow& other) {
        for (Index i = 0; i < width; ++i) {
            numbers[i] += other.numbers[i];
        }
        return *this;
    }
};

/// Sums over wide components that every process has in part: a row of numbers for each slot, those of a
/// process in the order of scales, components and nodes. `fill` writes this process's, `sums` reads those of
/// all processes. Other numbers may travel with them.
class WideSums {
  public:
    WideSums(const ShiftForest& forest, Processes& processes, Index width)
        : forest_(forest), processes_(processes), width_(width),
          mine_(static_cast<std::size_t>(mine_count())) {}

    /// Calls `value(entry, row)` for the entries of wide components at scale t, which writes the numbers of
    /// one block. `Row` says how the rows of two blocks, or of two nodes, become one.
    template <class Row, class ValueOf>
    void fill(Index t, const ValueOf& value) {
        const auto& level = forest_[t];
        const std::vector<BlockNode>& nodes = forest_.shares().nodes;
        double* next = mine_.data() + level.slots_before[forest_.place()] * width_;
        BlockSum<Row> sum;
        std::vector<double> rows;
        for (Index w = 0; w < level.wide(); ++w) {
            const Index entries = level.first_entry[w + 1] - level.first_entry[w];
            rows.resize(static_cast<std::size_t>(entries * width_));
            std::size_t node = 0;
            for (Index i = 0; i < entries; ++i) {
                const Index entry = level.first_entry[w] + i;
                const Index block = level.block[entry];
                if (!sum.empty() && block >= nodes[node].past) {
                    next = std::copy_n(sum.finish().numbers, width_, next);
                }
                while (block >= nodes[node].past) {
                    ++node;
                }
                double* const row = rows.data() + i * width_;
                value(entry, row);
                sum.add(block, Row{row, width_});
            }
            if (!sum.empty()) {
                next = std::copy_n(sum.finish().numbers, width_, next);
            }
        }
    }

    /// `beside`: numbers of this process that travel along; `counts_beside` says how many each process has,
    /// none where it is empty.
    void exchange(std::span<const double> beside = {}, const std::vector<Index>& counts_beside = {}) {
        std::vector<Index> counts = forest_.slots();
        first_.assign(1, 0);
        for (std::size_t r = 0; r < counts.size(); ++r) {
            counts[r] = counts[r] * width_ + (counts_beside.empty() ? 0 : counts_beside[r]);
            first_.push_back(first_.back() + counts[r]);
        }
        mine_.insert(mine_.end(), beside.begin(), beside.end());
        if (processes_.count() > 1) {
            all_ = gather_to_all<double>(processes_, mine_, counts);
        } else {
            std::swap(all_, mine_);
        }
        mine_.resize(static_cast<std::size_t>(mine_count()));
    }

    /// What travelled along from process r.
    std::span<const double> beside(int r) const {
        const Index begin = first_[r] + forest_.slots()[r] * width_;
        return std::span(all_).subspan(static_cast<std::size_t>(begin),
                                       static_cast<std::size_t>(first_[r + 1] - begin));
    }

    /// Calls `use(w, numbers)` with the sum of each wide component of scale t; once after each exchange.
    template <class Row, class Use>
    void sums(Index t, const Use& use) {
        const auto& level = forest_[t];
        const BlockShares& shares = forest_.shares();
        std::vector<double*> next;
        for (Index r = 0; r < shares.processes(); ++r) {
            next.push_back(all_.data() + first_[r] + level.slots_before[r] * width_);
        }
        BlockSum<Row> sum;
        for (Index w = 0; w < level.wide(); ++w) {
            for (Index s = level.first_slot[w]; s < level.first_slot[w + 1]; ++s) {
                double*& row = next[shares.process_of_node[level.node[s]]];
                sum.add(shares.nodes[level.node[s]].first, Row{row, width_});
                row += width_;
            }
            use(w, sum.finish().numbers);
        }
    }

  private:
    Index mine_count() const { return forest_.slots()[forest_.place()] * width_; }

    const ShiftForest& forest_;
    Processes& processes_;
    Index width_;
    std::vector<double> mine_;
    std::vector<double> all_;
    std::vector<Index> first_;
};

/// The first half of a row is added, of the second half the smaller numbers stay.
struct SumAndLeast {
    double* numbers = nullptr;
    Index width = 0;

    SumAndLeast& operator+=(const SumAndLeast& other) {
        for (Index i = 0; i < width / 2; ++i) {
            numbers[i] += other.numbers[i];
        }
        for (Index i = width / 2; i < width; ++i) {
            numbers[i] = std::min(numbers[i], other.numbers[i]);
        }
        return *this;
    }
};

} // namespace pnmf
