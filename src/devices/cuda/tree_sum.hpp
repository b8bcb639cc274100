#pragma once

#include "cells/cell_blocks.hpp"
#include "devices/cuda/block_parts.hpp"
#include "devices/cuda/device_memory.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

namespace pnmf::cuda {

/// Sums of parts on the device along the tree of blocks: some blocks at a time, whose parts are joined in
/// place; these sums are kept until they have their neighbours.
template <class Real>
class TreeSum {
  public:
    /// parts(first, count) are those of consecutive blocks, `size` numbers each, at most `at_once` blocks, a
    /// power of two. Where the sum stands is overwritten by the next one.
    const Real* over(const BlockNode& node, Index at_once, std::int64_t size,
                     const std::function<Real*(Index, Index)>& parts) {
        free_.clear();
        for (DeviceArray<Real>& room : rooms_) {
            free_.push_back(&room);
        }
        BlockSum<Row> sum;
        for (Index first = node.first; first < node.past;) {
            const Index past = std::min(node.past, (first / at_once + 1) * at_once);
            Real* const joined = parts(first, past - first);
            cuda::join_parts(joined, size, past - first);
            if (first == node.first && past == node.past) {
                return joined;
            }
            sum.add(first, keep(joined, size));
            first = past;
        }
        return sum.finish().room->get();
    }

    /// Sums that are kept at most, of so many blocks.
    static Index most_kept(Index blocks, Index at_once) {
        Index kept = 0;
        for (Index batches = (blocks + at_once - 1) / at_once; batches > 0; batches /= 2) {
            ++kept;
        }
        return kept + 1;
    }

  private:
    struct Row {
        TreeSum* all = nullptr;
        DeviceArray<Real>* room = nullptr;

        Row& operator+=(const Row& other) {
            add_part<Real>(room->get(), other.room->get(), room->size());
            all->free_.push_back(other.room);
            return *this;
        }
    };

    Row keep(const Real* numbers, std::int64_t size) {
        if (free_.empty()) {
            free_.push_back(&rooms_.emplace_back());
        }
        DeviceArray<Real>* const room = free_.back();
        free_.pop_back();
        room->allocate(size);
        check(cudaMemcpyAsync(room->get(), numbers, room->bytes(), cudaMemcpyDeviceToDevice),
              "copying on the device");
        return {this, room};
    }

    std::deque<DeviceArray<Real>> rooms_;
    std::vector<DeviceArray<Real>*> free_;
};

} // namespace pnmf::cuda
