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
        for (DeviceArray<Real>& buffer : buffers_) {
            free_.push_back(&buffer);
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
        return sum.finish().buffer->get();
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
        DeviceArray<Real>* buffer = nullptr;

        Row& operator+=(const Row& other) {
            add_part<Real>(buffer->get(), other.buffer->get(), buffer->size());
            all->free_.push_back(other.buffer);
            return *this;
        }
    };

    Row keep(const Real* numbers, std::int64_t size) {
        if (free_.empty()) {
            free_.push_back(&buffers_.emplace_back());
        }
        DeviceArray<Real>* const buffer = free_.back();
        free_.pop_back();
        buffer->allocate(size);
        check(cudaMemcpyAsync(buffer->get(), numbers, buffer->bytes(), cudaMemcpyDeviceToDevice),
              "copying on the device");
        return {this, buffer};
    }

    std::deque<DeviceArray<Real>> buffers_;
    std::vector<DeviceArray<Real>*> free_;
};

} // namespace pnmf::cuda
