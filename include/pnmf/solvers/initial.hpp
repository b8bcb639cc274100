#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/names.hpp>
#include <pnmf/solvers/solver.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace pnmf {

/// How one pair (W, H) is made from X (Boutsidis and Gallopoulos 2008, and plain random numbers).
enum class Seeding {
    nndsvda,  ///< NNDSVD with zeros replaced by the mean of X: the paper's
    nndsvd,   ///< nonnegative double SVD
    nndsvdar, ///< NNDSVD with zeros replaced by small random numbers
    random,   ///< uniform, scaled so that the mean of W·H is that of X
};

template <>
struct EnumNames<Seeding> {
    static constexpr auto values = name_table<Seeding>({{"nndsvda", Seeding::nndsvda},
                                                        {"nndsvd", Seeding::nndsvd},
                                                        {"nndsvdar", Seeding::nndsvdar},
                                                        {"random", Seeding::random}});
};

/// W p × d and H d × n for a single factorisation. H has all cells, also where X has not.
template <class Real>
struct Pair {
    DenseMatrix<Real> W;
    DenseMatrix<Real> H;
};

/// One pair, rank d, 1 ≤ d ≤ min(p, n). The seed matters to nndsvdar and random. `products`: as in
/// `truncated_svd`.
template <class Real>
Pair<Real> seed_pair(const DataMatrix<Real>& X, Index rank, Seeding seeding = Seeding::nndsvda,
                     std::uint64_t seed = 0, DataProducts* products = nullptr);

/// Columns of W to unit ℓ2 norm, rows of H scaled to keep W·H. A zero column becomes constant, its row zero.
template <class Real>
void make_columns_unit(DenseMatrix<Real>& W, DenseMatrix<Real>& H);

/// The same pair at every scale, unit columns. Here and below: with a folder, bases rest in a file there.
template <class Real>
Factors<Real> broadcast_start(const Problem<Real>& problem, Pair<Real> pair,
                              const std::filesystem::path& bases_in = {});

/// How far a start has come: all it needs to continue, with a bit-identical result.
template <RealNumber Real>
struct StartState {
    Index scales = 0;    ///< of the level worked on, T where there are no levels; 0: nothing is done yet
    Index unchained = 0; ///< the finest so many of them have no factors yet
    std::vector<Index> kept{}; ///< which of all scales these are, where few stand for all (`adapt_scales`)
    SolverState<Real> state{};
};

/// Lets a start that takes long be saved on the way and gone on with.
template <RealNumber Real>
struct StartLog {
    StartState<Real> from{}; ///< where it had come to
    /// After each scale or sweep; false: Interrupted. Call `bring_factors` before you read the factors.
    std::function<bool(const StartState<Real>&, const std::function<void()>& bring_factors)> reached{};
};

/// The published protocol's start: graph-regularised NMF (λ₁ alone, multiplicative) from the coarsest to the
/// finest scale, each from the one before, until the loss changes by at most `tolerance`, relative. The
/// observer's `starting` is asked after each scale; Interrupted when it says stop. Here and below: a log that
/// has come some way needs no pair.
template <class Real>
Factors<Real> chained_start(const Problem<Real>& problem, Pair<Real> pair, double tolerance = 1e-3,
                            const Observer& observer = {}, const std::filesystem::path& bases_in = {},
                            StartLog<Real> log = {}, Device device = Device::cpu);

/// `nested_start` of more scales than this has levels; it begins with at most so many.
inline constexpr Index most_scales_without_levels = 12;

/// How the levels of `nested_start` are solved.
struct LevelOptions {
    double tolerance = 3e-4;           ///< a level ends when its KKT certificate is at most this
    bool extrapolate = true;           ///< momentum between sweeps, for which the point before is kept
    bool shift_components = true;      ///< steps along the merge tree's components, which need sums over them
    std::filesystem::path bases_in{};  ///< where bases rest in a file; empty: in memory
    Device device = Device::automatic; ///< where the sweeps of the levels are made
};

/// A start from few scales to many. The problem is first solved, roughly, on about a dozen of its scales
/// (from the chained start), then on four times as many. Each time it begins from the solution before,
/// interpolated linearly along the scales. The factors returned are for all scales. With rough tolerances a
/// level is skipped when its interpolated factors already meet the tolerance; how far a sweep would still
/// descend is not asked then. The observer's `starting` is asked after each sweep of each level; Interrupted
/// when it says stop.
///
/// Where g scales stand for one, the smoothness between neighbours is λ₂/g²: then the few scales have the
/// objective of the many, for embeddings that change linearly between them, divided by g.
template <class Real>
Factors<Real> nested_start(const Problem<Real>& problem, Pair<Real> pair, const LevelOptions& options = {},
                           const Observer& observer = {}, StartLog<Real> log = {});

} // namespace pnmf
