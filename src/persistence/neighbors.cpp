#include <pnmf/error.hpp>

#include "cells/shared_work.hpp"
#include "persistence/neighbors.hpp"
#include "persistence/neighbors_of.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

/// What may still be among the k nearest of one cell.
class Candidates {
  public:
    explicit Candidates(Index k) : k_(static_cast<std::size_t>(k)), full_(2 * k_ + 64) {}

    /// Pairs whose key is surely above this are out.
    double limit() const { return limit_; }

    void add(Index cell, double lower, double upper, const PairBounds& bounds) {
        found_.push_back({lower, upper, cell});
        if (found_.size() >= full_) {
            shrink(bounds);
        }
    }

    /// The k nearest by canonical distance, then index.
    std::vector<std::pair<double, Index>> nearest(Index cell, const PairBounds& bounds) {
        shrink(bounds);
        std::vector<std::pair<double, Index>> result;
        result.reserve(found_.size());
        for (const Candidate& candidate : found_) {
            result.emplace_back(bounds.points().distance(cell, candidate.cell), candidate.cell);
        }
        std::partial_sort(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(k_), result.end());
        result.resize(k_);
        return result;
    }

  private:
    struct Candidate {
        double lower = 0.0;
        double upper = 0.0;
        Index cell = 0;
    };

    /// k pairs are no farther than the k-th smallest upper bound: drop those that surely are.
    void shrink(const PairBounds& bounds) {
        const auto kth = found_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
        std::nth_element(found_.begin(), kth, found_.end(),
                         [](const Candidate& a, const Candidate& b) { return a.upper < b.upper; });
        limit_ = bounds.widen(kth->upper);
        std::erase_if(found_, [this](const Candidate& c) { return c.lower > limit_; });
        full_ = std::max(2 * k_ + 64,
                         2 * found_.size()); // many ties are kept, and not looked through at each one
    }

    std::size_t k_;
    std::size_t full_; ///< size at which to look through the list
    double limit_ = std::numeric_limits<double>::infinity();
    std::vector<Candidate> found_;
};

/// Offers the cells of `others` to the lists of the cells of `mine`; lower is others × mine.
void offer(const PairBounds::Panel& others, const PairBounds::Panel& mine, const Matrix& lower,
           const PairBounds& bounds, std::vector<Candidates>& lists) {
    for (Index a = 0; a < lower.cols(); ++a) {
        Candidates& list = lists[a];
        if (!(lower.col(a).minCoeff() <= list.limit())) {
            continue;
        }
        for (Index b = 0; b < lower.rows(); ++b) {
            if (lower(b, a) <= list.limit() && others.cells[b] != mine.cells[a]) {
                list.add(others.cells[b], lower(b, a), lower(b, a) + others.width[b] + mine.width[a], bounds);
            }
        }
    }
}

/// Where panels of `count` cells begin, and `count` at the end. The last ones are smaller, so that threads
/// end at about the same time; few cells are spread over the threads too. No result depends on it.
std::vector<Index> tapering_panels(Index count) {
    const Index fewest = std::clamp<Index>(count / 16, 8, panel_cells / 8);
    std::vector<Index> begin{0};
    while (begin.back() < count) {
        const Index left = count - begin.back();
        begin.push_back(begin.back() +
                        std::min(left, std::clamp<Index>(left / thread_count(), fewest, panel_cells)));
    }
    return begin;
}

} // namespace

void exact_neighbors_of(const PairBounds& bounds, std::span<const Index> cells, Neighbors& result) {
    std::vector<Index> all(static_cast<std::size_t>(bounds.points().count()));
    std::iota(all.begin(), all.end(), Index{0});
    exact_neighbors_of(bounds, cells, all, result);
}

void exact_neighbors_of(const PairBounds& bounds, std::span<const Index> cells, std::span<const Index> among,
                        Neighbors& result) {
    const Index k = result.index.rows();
    const Index tried = std::ssize(among);
    const auto count = std::ssize(cells);
    const std::vector<Index> first_cell = tapering_panels(count);
    parallel_for(std::ssize(first_cell) - 1, [&](Index item) {
        const Index begin = first_cell[item];
        const Index end = first_cell[item + 1];
        PairBounds::Panel mine;
        PairBounds::Panel others;
        Matrix lower;
        bounds.gather(cells.subspan(begin, end - begin), mine);
        std::vector<Candidates> lists(static_cast<std::size_t>(end - begin), Candidates(k));
        for (Index first = 0; first < tried; first += panel_cells) {
            bounds.gather(among.subspan(first, std::min(panel_cells, tried - first)), others);
            bounds.lower_bounds(others, mine, lower);
            offer(others, mine, lower, bounds, lists);
        }
        for (Index i = begin; i < end; ++i) {
            const auto nearest = lists[i - begin].nearest(cells[i], bounds);
            for (Index r = 0; r < k; ++r) {
                result.distance(r, cells[i]) = nearest[r].first;
                result.index(r, cells[i]) = nearest[r].second;
            }
        }
    });
}

Neighbors exact_neighbors(const Points& points, Index k) {
    std::vector<Index> all(static_cast<std::size_t>(points.count()));
    std::iota(all.begin(), all.end(), Index{0});
    return exact_neighbors(points, k, all);
}

Neighbors exact_neighbors(const Points& points, Index k, std::span<const Index> among) {
    const Index n = points.count();
    const Index tried = std::ssize(among);
    require(k >= 1 && k <= tried - 1, "the number of neighbours must be from 1 to {} for {} cells, got {}",
            tried - 1, tried, k);
    std::vector<Index> cells(static_cast<std::size_t>(n));
    std::iota(cells.begin(), cells.end(), Index{0});
    Neighbors result;
    result.index.resize(k, n);
    result.distance.resize(k, n);
    Processes& processes = all_processes(); // each takes a run of panels
    const Index panels = (n + panel_cells - 1) / panel_cells;
    const Index first =
        std::min(n, panel_cells * first_of_process(panels, processes.place(), processes.count()));
    const Index past =
        std::min(n, panel_cells * first_of_process(panels, processes.place() + 1, processes.count()));
    exact_neighbors_of(PairBounds(points), std::span<const Index>(cells).subspan(first, past - first), among,
                       result);
    gather_blocks(panel_cells, result.index);
    gather_blocks(panel_cells, result.distance);
    return result;
}

} // namespace pnmf
