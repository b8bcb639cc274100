#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace pnmf {

/// What is asked of a `PairSearcher`: for each of some cells its nearest others, or its farthest.
struct PairQuery {
    std::span<const std::int32_t> cells{};
    /// The others, each once; empty: all. Not with groups, `farthest` or `reach`.
    std::span<const std::int32_t> among{};
    /// A number for each of all cells: a pair inside a group does not count. Empty: only a cell itself does
    /// not.
    std::span<const std::int32_t> group{};
    Index count = 0;       ///< others wanted for each cell, at most `PairSearcher::most`
    bool farthest = false; ///< the farthest others in place of the nearest
    bool reach = false;    ///< also how far the farthest cell can be; only with the nearest
};

/// What a device answers: others that may be the nearest, with bounds on the keys of the pairs. A pair's key
/// orders pairs as distances do (`PairBounds`). The lists need not hold the true nearest; the bounds say
/// whether they do.
struct SearchedLists {
    Index count = 0;
    /// Of query q at [q·count + r], nearest first; −1 where there are no more.
    std::vector<std::int32_t> cell{};
    /// No larger than the pair's key, ascending in r. Of the farthest: no smaller, descending.
    std::vector<double> bound{};
    /// Of query q: no larger than the key of any pair looked at that is not in its list; +∞ where all are. Of
    /// the farthest: no smaller, and −∞.
    std::vector<double> beyond{};
    /// Of query q: no smaller than the key of any of its pairs. Empty unless asked for.
    std::vector<double> reach{};
};

/// Looks through pairs of the points on a device, by products of rounded coordinates. It decides nothing:
/// what its bounds leave open is decided by `Points::distance` (searched_pairs.hpp). Points outlive it.
class PairSearcher {
  public:
    PairSearcher() = default;
    PairSearcher(const PairSearcher&) = delete;
    PairSearcher& operator=(const PairSearcher&) = delete;
    virtual ~PairSearcher() = default;

    virtual Index most() const = 0;
    virtual SearchedLists search(const PairQuery& query) = 0;
};

/// Cells up to which a device looks at all pairs; above, at those of near clusters.
inline constexpr Index largest_search_of_all_pairs = 2'000'000;

/// What a device does where the choice is left open.
inline NeighborSearch chosen_search_of_device(NeighborSearch asked, Index cells) {
    return asked != NeighborSearch::automatic     ? asked
           : cells <= largest_search_of_all_pairs ? NeighborSearch::exact
                                                  : NeighborSearch::clustered;
}

} // namespace pnmf
