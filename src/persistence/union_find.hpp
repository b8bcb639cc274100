#pragma once

#include <pnmf/types.hpp>

#include <numeric>
#include <vector>

namespace pnmf {

/// Disjoint sets of 0 … count − 1, joined by size, with path halving.
class UnionFind {
  public:
    explicit UnionFind(Index count)
        : parent_(static_cast<std::size_t>(count)), size_(static_cast<std::size_t>(count), 1), sets_(count) {
        std::iota(parent_.begin(), parent_.end(), Index{0});
    }

    /// The representative of the set of x.
    Index find(Index x) {
        while (parent_[x] != x) {
            parent_[x] = parent_[parent_[x]];
            x = parent_[x];
        }
        return x;
    }

    /// Joins the sets of a and b; false when they are one already.
    bool join(Index a, Index b) {
        a = find(a);
        b = find(b);
        if (a == b) {
            return false;
        }
        if (size_[a] < size_[b]) {
            std::swap(a, b);
        }
        parent_[b] = a;
        size_[a] += size_[b];
        --sets_;
        return true;
    }

    /// Members of the set of x.
    Index size(Index x) { return size_[find(x)]; }
    /// Number of sets.
    Index sets() const { return sets_; }

  private:
    std::vector<Index> parent_;
    std::vector<Index> size_;
    Index sets_;
};

} // namespace pnmf
