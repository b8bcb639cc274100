#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/names.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/solvers/solver.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// What the data say about a statement.
enum class Verdict {
    holds,
    fails,
    vacuous,     ///< true, but says nothing: its bound is trivial, or its assumption does not hold
    not_checked, ///< something it needs is not there
};

template <>
struct EnumNames<Verdict> {
    static constexpr auto values = name_table<Verdict>({{"holds", Verdict::holds},
                                                        {"fails", Verdict::fails},
                                                        {"vacuous", Verdict::vacuous},
                                                        {"not checked", Verdict::not_checked}});
};

/// One statement of the paper held against the data.
struct Finding {
    std::string statement; ///< the paper's label, or a word of ours
    std::string what;      ///< what is claimed, in plain words
    double measured = std::numeric_limits<double>::quiet_NaN();
    double bound = std::numeric_limits<double>::quiet_NaN(); ///< NaN where the statement has none
    Verdict verdict = Verdict::not_checked;
    std::string note{}; ///< what a reader should know beside
};

using Findings = std::vector<Finding>;

inline Verdict verdict_of(bool holds) {
    return holds ? Verdict::holds : Verdict::fails;
}

/// Pearson's correlation of N pairs and its two-sided p-value: under independence and normality
/// r √((N − 2)/(1 − r²)) has Student's t distribution with N − 2 degrees of freedom.
struct Correlation {
    double r = 0.0; ///< NaN when one of the two does not vary
    double p = 1.0; ///< NaN likewise, or for fewer than three pairs
};

Correlation pearson(const std::vector<double>& x, const std::vector<double>& y);

/// I_x(a, b), the regularised incomplete beta function, for a, b > 0 and 0 ≤ x ≤ 1: by its continued fraction
/// (Lentz's algorithm), to about 1e-14 relative, also where it is as small as 1e-300.
double incomplete_beta(double a, double b, double x);

/// β₀ after all edges of each different length have been added, by union–find over all edges: knows nothing
/// of the spanning tree.
struct ComponentCounts {
    std::vector<double> length; ///< at which components merge, ascending
    std::vector<Index> before;  ///< components of the graph at ε = length (strict <)
    Index last = 0;             ///< components when all edges are there

    /// β₀(ε).
    Index at(double epsilon) const;
};
ComponentCounts component_counts(const SortedEdges& sorted);

/// How the Laplacian changes from one scale to a coarser one.
struct LaplacianIncrement {
    double norm = 0.0; ///< ‖L(ε′) − L(ε)‖_F, the square root of Σ (ΔD_ii)² + Σ (ΔA_ij)²
    double smallest_change = 0.0; ///< of a weight; negative only if a weight falls
    Index new_edges = 0;
};

/// From ε (no graph at all when 0) to ε′ ≥ ε. Cost: the edges at ε′.
LaplacianIncrement laplacian_increment(const SortedEdges& sorted, double alpha, double epsilon,
                                       double next_epsilon);

/// L(ε) written out, n × n.
Matrix laplacian(const SortedEdges& sorted, double alpha, double epsilon);

/// dA_ij/dε of an edge of length d:  α d² / ε^(α+1) · exp(−d² / ε^α).
double weight_rate(double distance, double epsilon, double alpha);

/// Theorem (piecewise_lipschitz_continuity): on (δ_k, δ_{k+1}] the Laplacian has the Lipschitz constant
///
///     C_k = (√n + 1) √|E_k| M_k ,   M_k = max |dA_ij/dε| over the interval and its edges E_k
///
/// (both orders of a pair count in |E_k|, as in the norm). What is measured: ‖dL/dε‖_F at both ends and the
/// middle of intervals, whose supremum is the smallest Lipschitz constant, and ‖L(δ_{k+1}) − L(ε)‖/(δ_{k+1} −
/// ε) with ε in the middle.
struct PiecewiseLipschitz {
    Index intervals = 0;
    Index checked = 0; ///< evenly spaced ones; as many as take about a second, unless `most` says otherwise
    double largest_slope = 0.0; ///< measured
    double bound_there = 0.0;   ///< C_k of that interval
    double largest_ratio =
        0.0; ///< of measured to C_k over the intervals that were checked; ≤ 1 when it holds
};

PiecewiseLipschitz piecewise_lipschitz(const SortedEdges& sorted, double alpha,
                                       const std::vector<double>& distance_scales,
                                       std::optional<Index> most = std::nullopt);

/// Theorem (lipschitz_bound): ‖L(δ_{k+1}) − L(δ_k)‖_F ≤ C (δ_{k+1} − δ_k), and the same C along Λ*:
///
///     C = (1 + √n)(C₁ + C₂) ,   C₁ = max_k √|E_k| M_k ,   C₂ = √n / min_k (δ_{k+1} − δ_k)
struct LipschitzConstants {
    double C1 = 0.0;
    double C2 = 0.0;
    double C = 0.0;
    double smallest_gap = 0.0; ///< of Δ*
    Index most_new_pairs = 0;  ///< ordered pairs that one step of Δ* adds; C₂ supposes that they are ≤ n
};

/// All intervals are taken into account: M_k costs O(log edges), because dA/dε is unimodal in d and in ε.
LipschitzConstants lipschitz_constants(const SortedEdges& sorted, double alpha,
                                       const std::vector<double>& distance_scales);

/// ‖ΔL‖_F/Δε between neighbours of a set of scales.
struct AdjacentLipschitz {
    std::vector<double> gap;       ///< Δε_t; the first is for t = 2
    std::vector<double> increment; ///< ‖ΔL_t‖_F
    double smallest_weight_change = 0.0;
    Index checked = 0;
    Index of = 0; ///< neighbours there are

    double largest_slope() const;
};

/// Of at most `most` pairs of neighbours, evenly spaced; default as many as take about a second.
AdjacentLipschitz adjacent_lipschitz(const SortedEdges& sorted, double alpha,
                                     const std::vector<double>& scales,
                                     std::optional<Index> most = std::nullopt);

Findings findings(const PiecewiseLipschitz& piecewise, const LipschitzConstants& constants,
                  const AdjacentLipschitz& distance_scales, const AdjacentLipschitz& scales);

/// Definitions *sufficient*, *minimal* and *canonical* of a set of scales, and theorem (critical_scale_set).
///
/// F(ε) = [H₀(𝒳(ε))] is given by β₀(ε), because H₀ is free of that rank. With strict `<`, F is constant on
/// the intervals (a, b] between consecutive merges.
struct ScaleSetProperties {
    Index states = 0;             ///< different values of F over all ε > 0
    Index covered = 0;            ///< of them, those that some scale has
    Index repeated = 0;           ///< scales whose value another scale has too
    Index not_at_a_jump = 0;      ///< scales, the last apart, that are no right end of an interval of F
    bool last_is_complete = true; ///< the last scale lies beyond every merge

    bool sufficient() const { return covered == states; }
    /// No proper subset is sufficient.
    bool minimal() const { return sufficient() && repeated == 0; }
    /// Minimal, and each scale ends an interval on which F is constant, after which it changes; the last
    /// scale, δ_max, stands for (d_{n−1}, ∞).
    bool canonical() const { return minimal() && not_at_a_jump == 0 && last_is_complete; }
};

/// Of ascending scales, from the merges alone.
ScaleSetProperties scale_set_properties(const ComponentCounts& counts, const std::vector<double>& epsilon);

/// Whether the graphs handed to a solver are those of the sorted edges.
struct NestedGraphs {
    std::vector<Index> components; ///< β₀ of each scale's graph
    std::vector<Index> edges;
    Index wrong_components = 0; ///< scales at which the graph's components are not β₀(ε)
    Index wrong_edges = 0;      ///< scales at which it has not the edges shorter than ε
    Index lost_edges = 0;       ///< scales with fewer edges than the one before
};

NestedGraphs nested_graphs(const MultiscaleGraph& graph, const SortedEdges& sorted,
                           const ComponentCounts& counts, const std::vector<double>& epsilon);

/// Λ* is sufficient, minimal, canonical; the graphs along the scales are nested and β₀ falls.
Findings findings(const ScaleSetProperties& canonical, const NestedGraphs& graphs);

/// Theorem (spectral_stability_monotonicity): along Λ* no eigenvalue γ_k of L falls, none rises by more than
/// ‖ΔL‖ (Weyl), and dim ker L falls strictly. One entry for each scale, finest first.
struct SpectrumPath {
    bool complete = true; ///< all eigenvalues were compared; else the kernel by components, and γ at its ends
    std::vector<Index> kernel;             ///< dim ker L
    std::vector<double> smallest_positive; ///< γ_{kernel + 1}; NaN where there is none
    std::vector<double> largest;           ///< γ_n
    std::vector<double> largest_rise; ///< max_k γ_k(ε_t) − γ_k(ε_{t−1}), 0 at the first scale; γ_n alone
                                      ///< when not complete
    std::vector<double> largest_fall;   ///< the same downwards
    std::vector<double> former_kernel;  ///< γ_k(ε_t) for k = dim ker L(ε_{t−1}); NaN where not known
    Index not_converged = 0;            ///< scales at which an iterated eigenvalue did not settle
    Index numerical_kernel_differs = 0; ///< complete only: scales with other than β₀ eigenvalues near 0
};

struct SpectrumOptions {
    /// All eigenvalues where scales · cells³ is at most this, a quarter of a minute's work; else extremal
    /// ones.
    double most_work = 1e10;
    /// Then components up to this many cells are decomposed whole; larger ones by Lanczos (Spectra).
    Index whole_component = 128;
};

/// `sorted` holds the edges of `graph`.
SpectrumPath spectrum_path(const MultiscaleGraph& graph, const SortedEdges& sorted,
                           const std::vector<double>& epsilon, const SpectrumOptions& options = {});

/// `increments` and `gaps` are ‖ΔL_t‖_F and Δε_t from t = 2 on; C of `LipschitzConstants`.
Findings findings(const SpectrumPath& path, const std::vector<double>& increments,
                  const std::vector<double>& gaps, double C);

/// The constants of theorem (embedding_increment_bounds).
struct IncrementConstants {
    double C_X = 0.0; ///< ‖XᵀX‖_F
    double C_H = 0.0; ///< max_t ‖H_t‖_F
    double l = 0.0;   ///< ℓ = min_t γ_min(H_t H_tᵀ)
    double C1 = 0.0;  ///< 1/ℓ + 2 C_H²/ℓ²
    double C2 = 0.0;  ///< C₁ C_H + C_H/ℓ
    double C = 0.0;   ///< (C₁ √(n − d) + C₂ C_H/ℓ) C_X
    double a = 0.0;   ///< λ₁ C_H / (2λ₂ + λ₃ − C)
    double b = 0.0;   ///< λ₂ / (2λ₂ + λ₃ − C)
    double rho = 0.0; ///< (1 − √(1 − 4b²)) / 2b

    /// λ₃ > C, without which uniform and pointwise bound are not claimed; a, b and ρ are NaN then.
    bool assumption = false;
};

/// The embeddings' increments and what the theorem says about them; entries from t = 2 on.
struct EmbeddingIncrements {
    IncrementConstants constants;
    std::vector<double> norm;      ///< ‖H_t‖_F of all T scales
    std::vector<double> increment; ///< ‖ΔH_t‖_F
    /// Both sides of eq. (recursive_inequality), for 2 < t < T as its proof; NaN elsewhere.
    std::vector<double> recursive_left;
    std::vector<double> recursive_right;
    double uniform = 0.0;          ///< eq. (uniform_bound), its right side; NaN without the assumption
    std::vector<double> pointwise; ///< eq. (pointwise_bound), likewise
    double zeros = 0.0;            ///< share of the entries of all H that are 0: the proof supposes none
    /// ‖R_t − R_{t−1}‖_F, R_t = W_tᵀ(W_t H_t − X), which the theorem bounds by C‖ΔH_t‖; empty without W.
    std::vector<double> residual_change{};
};

/// ‖XᵀX‖_F. Cost n · (entries of X).
double gram_norm(const DataMatrix<double>& X);

/// `embedding(t)` is asked for once each, finest first; `laplacian_increments` are ‖ΔL_t‖_F from t = 2 on.
EmbeddingIncrements embedding_increments(Index scales, const std::function<Matrix(Index)>& embedding,
                                         const std::vector<double>& laplacian_increments, double C_X,
                                         const Penalty& penalty);

/// ‖R_t − R_{t−1}‖_F from t = 2 on. Cost 4pnd a scale.
std::vector<double> residual_changes(const DataMatrix<double>& X, Index scales,
                                     const std::function<Matrix(Index)>& embedding,
                                     const std::function<Matrix(Index)>& basis);

/// The recursive, uniform and pointwise bounds; with `residual_change` also the recursive inequality as its
/// proof has it before C comes in, which needs the condition on H alone:
///
///     (2λ₂ + λ₃)‖ΔH_t‖ ≤ ‖R_t − R_{t−1}‖ + λ₁ C_H ‖ΔL_t‖ + λ₂(‖ΔH_{t−1}‖ + ‖ΔH_{t+1}‖)
///
/// `residual` is the KKT residual of the point, NaN when not known: the theorem speaks of stationary points.
Findings findings(const EmbeddingIncrements& increments, const Penalty& penalty, double residual);

/// What theorems (global_nonincreasing) and (subproblem_kkt), eq. (normalize) and W, H ≥ 0 say of a result.
struct Convergence {
    Index sweeps = 0;
    Index rises = 0;             ///< sweeps after which the objective was larger, beyond rounding
    double largest_rise = 0.0;   ///< relative to the objective before it; rounding included
    double smallest_entry = 0.0; ///< of all H, and of all W where given
    double normalisation = 0.0; ///< largest |‖w_k‖ − 1|, ℓ1 for `paper`, ℓ2 otherwise; NaN without W
    std::vector<double> kkt;    ///< of each scale; empty when not known
    double kkt_all = 0.0;       ///< of all scales together; NaN when not known
    bool evaluated = false;     ///< from W, H and the data, not as recorded
};

/// What rounding may add to what a fit promises, by the numbers it computed with.
struct RoundingBounds {
    double objective = 1e-11;    ///< rises of at most this, relative, are rounding
    double normalisation = 1e-9; ///< of |‖w_k‖ − 1|
    double certificate = 1e-6;   ///< of a KKT residual, relative
};
RoundingBounds rounding_of(Precision precision);

/// What a result's KKT residual is held against: the tolerance it stopped at where it stopped on the
/// certificate, else the default of a run that does.
double certificate_bound(const SolverOptions& options);

/// Of a recorded trace: fills sweeps, rises and largest_rise.
Convergence trace_convergence(const std::vector<double>& objective, Precision precision = Precision::full);

/// Adds what the factors show; `basis` may be empty.
void look_at_factors(Convergence& convergence, Algorithm algorithm, Index scales,
                     const std::function<Matrix(Index)>& embedding,
                     const std::function<Matrix(Index)>& basis);

/// The certificate of all scales from W, H and the data alone. The form of W is that of the algorithm.
void evaluate_kkt(Convergence& convergence, Algorithm algorithm, const Problem<double>& problem,
                  const Factors<double>& factors);

/// `tolerance` is `certificate_bound` of the fit.
Findings findings(const Convergence& convergence, Algorithm algorithm, double tolerance,
                  Precision precision = Precision::full);

} // namespace pnmf
