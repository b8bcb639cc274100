#pragma once

#include <pnmf/types.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace pnmf {

/// The nearest of one cell so far.
class Shortlist {
  public:
    explicit Shortlist(Index count) : count_(static_cast<std::size_t>(count)) { found_.reserve(full()); }

    /// Others `first`, `first` + 1, … at these keys, smaller is nearer.
    void offer(Index first, const float* keys, Index size) {
        for (Index r = 0; r < size; ++r) {
            if (keys[r] < limit_) {
                found_.emplace_back(keys[r], static_cast<std::int32_t>(first + r));
                if (found_.size() == full()) {
                    shrink();
                }
            }
        }
    }

    void copy_to(std::vector<std::int32_t>& cells, Index without) {
        shrink();
        cells.clear();
        for (const auto& [key, cell] : found_) {
            if (cell != without) {
                cells.push_back(cell);
            }
        }
    }

  private:
    std::size_t full() const { return 2 * count_ + 64; }

    void shrink() {
        if (found_.size() > count_) {
            const auto last = found_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
            std::nth_element(found_.begin(), last, found_.end());
            limit_ = last->first;
            found_.resize(count_);
        }
    }

    std::size_t count_;
    float limit_ = std::numeric_limits<float>::infinity();
    std::vector<std::pair<float, std::int32_t>> found_;
};

} // namespace pnmf
