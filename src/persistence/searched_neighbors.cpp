#include "persistence/neighbors_of.hpp"
#include "persistence/searched_pairs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

/// The k nearest of one cell among those listed.
class ListRanking {
  public:
    ListRanking(const PairBounds& bounds, Index k) : bounds_(bounds), k_(static_cast<std::size_t>(k)) {}

    /// Whether they are the k nearest of all cells.
    bool rank(Index cell, const SearchedLists& lists) {
        nearest_.clear();
        limit_ = std::numeric_limits<double>::infinity();
        const std::int32_t* const others = lists.cell.data() + cell * lists.count;
        const double* const bound = lists.bound.data() + cell * lists.count;
        for (Index r = 0; r < lists.count && others[r] >= 0; ++r) {
            if (bound[r] > limit_) {
                return true; // so are all after it, and those not listed
            }
            offer({bounds_.points().distance(cell, others[r]), others[r]});
        }
        return nearest_.size() == k_ && lists.beyond[cell] > limit_;
    }

    const std::vector<std::pair<double, Index>>& nearest() const { return nearest_; }

  private:
    void offer(const std::pair<double, Index>& other) {
        if (nearest_.size() == k_ && nearest_.back() < other) {
            return;
        }
        nearest_.insert(std::upper_bound(nearest_.begin(), nearest_.end(), other), other);
        if (nearest_.size() > k_) {
            nearest_.pop_back();
        }
        if (nearest_.size() == k_) {
            limit_ = bounds_.key_above(nearest_.back().first);
        }
    }

    const PairBounds& bounds_;
    std::size_t k_;
    double limit_ = 0.0; ///< pairs with a larger key are farther than the k-th nearest so far
    std::vector<std::pair<double, Index>> nearest_;
};

} // namespace

Index searched_count(Index k) {
    // Rounding must not push one of the k beyond the list: twice as many leave memory for near ties, and 32
    // is what costs a device no more than fewer.
    return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(std::max<Index>(2 * k, 32))));
}

Neighbors searched_neighbors(const PairBounds& bounds, const SearchedLists& lists, Index k) {
    const Index n = bounds.points().count();
    Neighbors result;
    result.index.resize(k, n);
    result.distance.resize(k, n);
    std::vector<char> known(static_cast<std::size_t>(n), 0);
    parallel_blocks(n, 256, [&](Index begin, Index end) {
        ListRanking ranking(bounds, k);
        for (Index cell = begin; cell < end; ++cell) {
            if (!ranking.rank(cell, lists)) {
                continue;
            }
            known[cell] = 1;
            for (Index r = 0; r < k; ++r) {
                result.distance(r, cell) = ranking.nearest()[r].first;
                result.index(r, cell) = ranking.nearest()[r].second;
            }
        }
    });
    std::vector<Index> open;
    for (Index cell = 0; cell < n; ++cell) {
        if (known[cell] == 0) {
            open.push_back(cell);
        }
    }
    exact_neighbors_of(bounds, open, result);
    return result;
}

TreeAndNeighbors searched_tree_and_neighbors(const Points& points, Index neighbors, PairSearcher& searcher) {
    const Index n = points.count();
    require(neighbors >= 1 && neighbors < n,
            "the number of neighbours must be at least 1 and less than the {} cells, got {}", n, neighbors);
    std::vector<std::int32_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    const PairBounds bounds(points);
    SearchedLists lists = searcher.search(
        {.cells = all, .count = std::min(searched_count(neighbors), searcher.most()), .reach = true});
    TreeAndNeighbors found;
    found.neighbors.emplace();
    found.neighbors->edges = edges_of_neighbors(searched_neighbors(bounds, lists, neighbors));
    found.tree = searched_tree(bounds, searcher, std::move(lists));
    return found;
}

} // namespace pnmf
