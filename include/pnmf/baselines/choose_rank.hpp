#pragma once

#include <pnmf/assess/programs.hpp>
#include <pnmf/names.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace pnmf {

/// Which curve decides on the rank.
enum class RankRule {
    error,     ///< the smallest rank whose error is within one standard error of the smallest error: that of
               ///< their difference
    stability, ///< the last rank before the stability falls: the one that is most above all larger ones
};

template <>
struct EnumNames<RankRule> {
    static constexpr auto values =
        name_table<RankRule>({{"error", RankRule::error}, {"stability", RankRule::stability}});
};

struct RankOptions {
    std::vector<Index> ranks{};      ///< candidates, ascending; default: `rank_candidates()`
    Index restarts = 10;             ///< fits of each rank, each from its own start and cells; at least 2
    double held_out = 0.2;           ///< the share of the cells that a fit is not shown, in (0, 1)
    RankRule rule = RankRule::error; ///< `RankCurve::chosen`; both answers are given whatever the rule
    std::uint64_t seed = 0;          ///< of the cells and of the starts
    Device device = Device::cpu;     ///< that makes the fits: a GPU one after the other, the CPU many at once
};

/// For each candidate: how well it predicts what it was not shown, and how far its programs are the same in
/// every restart.
struct RankCurve {
    std::vector<Index> ranks{};
    std::vector<double> error{}; ///< mean over restarts of ‖held out − predicted‖² / ‖held out‖²
    std::vector<double> deviation{}; ///< standard error of that mean
    /// Standard error of the mean difference from the rank with the smallest error. A restart is shown the
    /// same cells at every rank, so what makes some cells harder to predict than others cancels.
    std::vector<double> difference_deviation{};
    std::vector<double> stability{}; ///< `ConsensusPrograms::mean_stability()`
    /// ‖X − WH‖² / ‖X‖² of all cells with the consensus programs as W: what cNMF draws beside the stability.
    std::vector<double> consensus_error{};
    std::vector<ConsensusPrograms> programs{}; ///< of each candidate
    Index by_error = 1;                        ///< the rank by either rule
    Index by_stability = 1;
    Index chosen = 1;    ///< by the rule of the options
    Index on_device = 0; ///< fits that a device has made
};

/// How far it has come.
struct RankProgress {
    Index done = 0; ///< fits
    Index all = 0;
};
/// Called now and then, by one thread at a time; false: Interrupted is thrown.
using RankObserver = std::function<bool(const RankProgress&)>;

/// 2, 3, 4, 6, 8, 11, 16, … up to ⌈√n⌉, each about √2 times the one before, at most min(p, n)/2.
std::vector<Index> rank_candidates(Index features, Index cells);

/// Chooses the rank by restarts: for each candidate, R factorisations that differ in their random start and
/// in the cells they see.
///
/// A restart is shown a random 1 − `held_out` of the cells, the same for all ranks. Its NMF (one scale, no
/// graph: ‖X − WH‖², W of unit columns) begins at random numbers and descends to the certificate of `fit`, in
/// single precision. Rougher factorisations would do for the error, but look less stable than the programs
/// are. Then
///
///   error       each of at most 500 held-out cells is embedded by a random half of its features, and the
///               other half is predicted by W·h;
///   stability   the programs of all restarts are matched (`consensus_programs`).
///
/// X is features × cells; finite values ≥ 0, at least 4 features and 4 cells. Ranks are between 1 and the
/// smaller of the features and the cells that a restart sees. All else is an InputError.
/// Costs `restarts` NMFs for each candidate, side by side on all threads; the result does not depend on how
/// many these are. With a device they differ by rounding.
RankCurve choose_rank(const DataView& X, const RankOptions& options = {}, const RankObserver& observer = {});
RankCurve choose_rank(const DataValues& X, const RankOptions& options = {},
                      const RankObserver& observer = {});

} // namespace pnmf
