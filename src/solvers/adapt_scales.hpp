#pragma once

#include <pnmf/model/problem.hpp>
#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <vector>

namespace pnmf {

/// What a scale that was left out would say about the factors that stand for it.
struct LeftOut {
    Index position = 0;    ///< of the scale among all
    double residual = 0.0; ///< the KKT certificate of the interpolated factors at this scale
};

/// Judges the scales that were left out: for each two neighbouring kept scales with others in between, the
/// one in the middle and the one before the largest step of ε, whichever is worse.
///
/// At a scale t between two kept ones the factors are linear in between. Then H_{t−1} + H_{t+1} = 2H_t, the
/// smoothness term has no gradient, and what is left is that of fit, graph and anchor (`kkt_residuals`, one
/// scale). `all` is the problem at all scales, `factors` are those at the positions `kept`. The work of about
/// two scales of a sweep for each gap.
template <class Real>
std::vector<LeftOut> left_out_residuals(const Problem<Real>& all, const std::vector<Index>& kept,
                                        const Factors<Real>& factors);

/// The largest residual of them; 0 when there are none.
double largest(const std::vector<LeftOut>& scales);

struct AdaptOptions {
    double error = 0.05;         ///< largest residual allowed at a scale that is left out
    Index first = 9;             ///< scales to begin with, evenly spaced
    std::vector<Index> wanted{}; ///< beside these; see `few_positions`
    std::optional<Index> most{}; ///< at most so many scales; default: as many as it takes
    LevelOptions level{};        ///< how roughly each set of scales is solved on the way
};

/// Few scales that stand for all, and factors at them.
template <class Real>
struct AdaptedScales {
    std::vector<Index> kept; ///< positions, ascending, the first and the last scale among them
    Factors<Real> factors;
    double error = 0.0; ///< the largest residual found at a scale that is left out
};

/// Keeps as many scales as are needed. Few are solved first (`at_scales`, from the chained start); wherever
/// the interpolated factors fail at a scale that was left out, that scale is added; and so on until none
/// fails, or `most` are kept. The factors are rough; a run continues from them.
///
/// Deterministic. The observer's `starting` is asked after each sweep; Interrupted when it says stop. With a
/// log it can be saved on the way, and continued with a bit-identical result.
template <class Real>
AdaptedScales<Real> adapt_scales(const Problem<Real>& all, Pair<Real> pair, const AdaptOptions& options = {},
                                 const Observer& observer = {}, StartLog<Real> log = {});

} // namespace pnmf
