#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/names.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace pnmf {

/// Methods that are one factorisation with one graph; they differ in the graph alone.
enum class Baseline {
    nmf,   ///< no edges
    gnmf,  ///< k nearest neighbours, heat weights (Cai et al. 2010)
    tnmf,  ///< the heat weights of k nearest neighbours at several thresholds (Hozumi and Wei 2024)
    ktnmf, ///< nearest neighbours for several k (same)
};

template <>
struct EnumNames<Baseline> {
    static constexpr auto values = name_table<Baseline>({{"nmf", Baseline::nmf},
                                                         {"gnmf", Baseline::gnmf},
                                                         {"tnmf", Baseline::tnmf},
                                                         {"ktnmf", Baseline::ktnmf}});
};

struct BaselineOptions {
    Baseline method = Baseline::gnmf;
    Index neighbors = 5;           ///< k of GNMF and TNMF; k-TNMF takes 1 … weights.size()
    double alpha = 1.5;            ///< of the heat weights of GNMF and TNMF
    std::vector<double> weights{}; ///< of the thresholds of TNMF or the k of k-TNMF: ≥ 0, not all 0
    double lambda = 0.1;           ///< of the graph term; not used here
};

/// The settings behind the published tables. GNMF was run with two k, TNMF too: `second` takes the other.
///
///     gnmf   k = 5 or 15, λ = 0.1
///     tnmf   k = 20 or 10, λ = 0.1, weights (1, 0, 1, 0, 1, 0, 1, 1)
///     ktnmf  λ = 1, the same weights
BaselineOptions published_settings(Baseline method, bool second = false);

/// The symmetric weights A, n × n, zero diagonal. With N_k(j) the k nearest cells of j and s the largest
/// distance, K_ij = exp(−d_ij² / s^α) where i ∈ N_k(j), 0 elsewhere, and w̃ = w / Σw:
///
///     nmf    A = 0
///     gnmf   A = max(K, Kᵀ)
///     tnmf   B = Σ_{i=1..T} w̃_{T−i+1} [K ≥ a + (i/T)(b − a)],   a and b the smallest positive and largest
///     entry of K ktnmf  B_ij = Σ_{k=1..T} w̃_k [i ∈ N_k(j)] tnmf and ktnmf   A = B + Bᵀ − B∘Bᵀ
///
/// Hand it to `FixedGraph`. Equal distances: the cell with the smaller index is nearer. Cost O(n²) distances.
SparseMatrix<double> baseline_graph(const Points& points, const BaselineOptions& options);

/// How a baseline is solved.
enum class BaselineAlgorithm {
    stationary,     ///< descent to the KKT certificate: what `fit` does, on one scale
    multiplicative, ///< the published protocol: W then H, unit ℓ2 columns, until the loss settles
};

template <>
struct EnumNames<BaselineAlgorithm> {
    static constexpr auto values =
        name_table<BaselineAlgorithm>({{"stationary", BaselineAlgorithm::stationary},
                                       {"multiplicative", BaselineAlgorithm::multiplicative}});
};

/// Everything that can be chosen for a baseline. `visit_baseline_options` lists them all.
struct BaselineFitOptions {
    BaselineOptions graph{};     ///< method, k, α, weights, λ
    std::optional<Index> rank{}; ///< d; default ⌈√n⌉, at most min(p, n)
    Metric metric = Metric::euclidean;
    BaselineAlgorithm algorithm = BaselineAlgorithm::stationary;
    std::optional<double> tolerance{}; ///< default 1e-3 for multiplicative, `default_tolerance()` otherwise
    std::optional<Index> max_steps{};  ///< default 1000
    Seeding seeding = Seeding::nndsvda;
    std::uint64_t seed = 0;
};

/// As the published tables were made: `published_settings`, multiplicative steps, tolerance 1e-3.
BaselineFitOptions published_fit(Baseline method, bool second = false);

/// The problem a baseline solves: one graph in place of a graph for each scale.
///
///     min over W, H ≥ 0, ‖w_k‖₂ = 1 of  ‖X − WH‖² + λ tr(H L Hᵀ)
///
/// X is features × cells. There is no filtration: no tree, and one scale without threshold (`no_threshold`)
/// whose β₀ is the number of components of the graph. All checks of options and data are made here.
template <RealNumber Real>
PreparedFit<Real> prepare_baseline(const DataValues& X, const BaselineFitOptions& options);
/// The same without a copy of X in double precision: what is viewed must outlive the result.
template <RealNumber Real>
PreparedFit<Real> prepare_baseline(const DataView& X, const BaselineFitOptions& options);
/// The same with distances from somewhere else: X is factorised, while the graph comes from these points, as
/// `prepare_fit` takes them. They have their own metric: the one of the options is not looked at.
template <RealNumber Real>
PreparedFit<Real> prepare_baseline(const DataView& X, const Points& space, const BaselineFitOptions& options);

/// Solves what was prepared. The trace holds the objective after each step, start first.
///
/// A multiplicative step never raises the objective; the rescaling that follows it changes the graph term and
/// may (docs/decisions/0085). It stops when the loss changes by at most the tolerance, relative. The observer
/// sees each step.
template <RealNumber Real>
FitResult<Real> solve_baseline(const PreparedFit<Real>& prepared, const BaselineFitOptions& options,
                               const Observer& observer = {});

/// Both.
///
///     const auto result = fit_baseline<double>(X, {.graph = published_settings(Baseline::gnmf), .rank =
///     10});
template <RealNumber Real = double>
FitResult<Real> fit_baseline(const DataValues& X, const BaselineFitOptions& options = {},
                             const Observer& observer = {});

/// The one list of a baseline's options: `visit(name, field, what it is)` for each. It drives the program's
/// flags and the options recorded in results.
template <class Options, class Visitor>
void visit_baseline_options(Options& o, const Visitor& visit) {
    visit("rank", o.rank, "rows of the embedding [the square root of the number of cells, rounded up]");
    visit("neighbors", o.graph.neighbors, "gnmf, tnmf: nearest neighbours of a cell");
    visit("lambda", o.graph.lambda, "graph term: larger values pull neighbouring cells together");
    visit("weights", o.graph.weights, "tnmf: weights of the thresholds; ktnmf: weights of k = 1, 2, ...");
    visit("alpha", o.graph.alpha,
          "gnmf, tnmf: an edge of length d has the weight exp(-d^2/s^alpha), s the largest distance");
    visit("metric", o.metric, "distance between cells");
    visit("algorithm", o.algorithm,
          "stationary: descent until the KKT residual is small; multiplicative: the published protocol");
    visit("tolerance", o.tolerance,
          "when to stop. stationary: KKT residual below this [3e-4]; multiplicative: relative change of the "
          "loss below this [1e-3]");
    visit("max-steps", o.max_steps, "most sweeps or multiplicative steps [1000]");
    visit("seeding", o.seeding, "how the first pair W, H is made");
    visit("seed", o.seed, "seed of everything random");
}

} // namespace pnmf
