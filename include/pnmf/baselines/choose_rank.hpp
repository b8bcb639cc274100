#pragma once

#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

struct RankOptions {
    std::vector<Index> ranks{}; ///< candidates, ascending; default: `rank_candidates()`
    double held_out = 0.2;      ///< share of the cells, in (0, 1), at most 500 of them
    Index repeats = 3;          ///< random splits
    std::uint64_t seed = 0;
};

/// The error of each candidate on entries that were held out, and the rank it leads to.
struct RankCurve {
    std::vector<Index> ranks;
    std::vector<double> error;     ///< mean over splits of ‖held out − predicted‖² / ‖held out‖²
    std::vector<double> deviation; ///< standard error of that mean
    Index chosen = 1; ///< the smallest rank whose error is within one standard error of the smallest
};

/// 2, 3, 4, 6, 8, 11, 16, … up to ⌈√n⌉, each about √2 times the one before, at most min(p, n)/2.
std::vector<Index> rank_candidates(Index features, Index cells);

/// The rank by held-out entries: in each split NMF of the other cells gives a basis W; each held-out cell is
/// embedded by a random half of its features alone, and the other half is predicted by W·h.
///
/// X is features × cells; finite values ≥ 0, at least 4 features and 4 cells, or InputError. Costs an NMF for
/// each candidate and split.
RankCurve choose_rank(const DataValues& X, const RankOptions& options = {});

} // namespace pnmf
