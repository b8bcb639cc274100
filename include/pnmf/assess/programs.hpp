#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <vector>

namespace pnmf {

/// A program whose usage correlates with the counts of the cells by more than this, in absolute value,
/// follows how deeply cells were sequenced rather than what they do.
inline constexpr double depth_driven = 0.5;

/// Components of neighbouring scales whose cosine is below this are not the same program.
inline constexpr double same_program = 0.9;

/// How a program (component) of one scale goes on at the others.
struct ProgramPath {
    Index first = 0; ///< it is found from this scale …
    Index last = 0;  ///< … to this one
    /// The share of all scales at which it is found, 0 to 1; a scale that stands for several counts so often.
    double persistence = 0.0;
    /// The program into which it merges at the scale after `last`; −1: it reaches the coarsest scale, or ends
    /// without being like another program.
    Index merges_into = -1;
};

/// The programs of the recommended scale: which genes mark them, and over which scales they are found.
struct GenePrograms {
    DenseMatrix<float> scores{};      ///< `program_scores`, p × d
    Vector mean_usage{};              ///< of `program_usages` over the cells, d
    Vector between_clusters{};        ///< `variance_between` the recommended clusters, d
    std::vector<ProgramPath> paths{}; ///< d
};

/// The share of a cell that each program makes up, d × n:
///
///     u_kj = h_kj s_k / Σ_l h_lj s_l ,   s_k = Σ_g w_gk
///
/// the part of the sum of WH's column j that comes from component k. Multiplying a column of W and dividing
/// the row of H by the same number changes nothing. Columns sum to 1; those of cells without a program are 0.
Matrix program_usages(const Matrix& W, const Matrix& H);

/// How well each gene marks each program, p × d: the coefficients of ordinary least squares of z-scored
/// expression on the usages of all programs, the gene score of cNMF (Kotliar et al., eLife 2019, 8:e43803):
///
///     B = Z Uᵀ (U Uᵀ)⁺ ,   z_gj = (x_gj − μ_g) / σ_g
///
/// Usages of a cell sum to 1, so that b_gk is the z-score expected of a cell that is program k alone: large
/// for genes that are higher there than in other cells, small for genes that are high everywhere.
/// Z is never made: Z Uᵀ = (X Uᵀ − μ (U1)ᵀ) / σ, from sums in double precision. σ has n in its denominator;
/// genes that do not vary get 0. Of usages that depend on each other the shortest solution is taken (⁺).
/// U is d × n. Cost 2d for each entry stored. Does not depend on the number of threads.
template <class Real>
Matrix program_scores(const DataMatrix<Real>& X, const Matrix& usages);

/// Follows the d programs of scale `from` to finer and to coarser scales. Components of neighbouring scales
/// are matched one to one so that the sum of the cosines of their columns of W is largest
/// (`optimal_assignment`); a path goes on while the cosine is at least `same_program`. Where it ends on the
/// way to coarser scales, and the most similar component there belongs to the path of another program and
/// its cosine is at least `alike`, the program merges into that one.
///
/// `basis(t)`, p × d, is asked for once for each scale but `from`, which is asked for twice. `weight`: of the
/// scales (`ScaleSet::weight`).
std::vector<ProgramPath> follow_programs(Index scales, const std::function<Matrix(Index)>& basis, Index from,
                                         const std::vector<double>& weight);
inline constexpr double alike = 0.7; ///< the least cosine of a program and the one it merges into

/// The share of the variance of each program's usage that lies between clusters, η², 0 to 1: large for a
/// program that marks some of them. 0 where the usage does not vary. U is d × n.
Vector variance_between(const Matrix& usages, const std::vector<Index>& clusters);

/// The programs in the order to show them: those that are found over many scales and mark clusters first, by
/// the product of both, then those that are used most.
std::vector<Index> order_of_programs(const std::vector<double>& persistence,
                                     const std::vector<double>& between_clusters,
                                     const std::vector<double>& mean_usage);

/// The correlation (Pearson's r) of each program's usage with the counts of the cells; 0 where one of them
/// does not vary. U is d × n.
std::vector<double> depth_correlation(const Matrix& usages, const std::vector<double>& counts);

/// The genes with the largest scores of each program, largest first; equal scores by position.
std::vector<std::vector<Index>> top_genes(const DenseMatrix<float>& scores, Index count);

/// What several factorisations of the same genes, all of rank d, have in common: d programs, each with a copy
/// in every factorisation. The most stable program comes first.
struct ConsensusPrograms {
    Matrix W{};                      ///< the consensus, p × d, columns of length 1
    std::vector<double> stability{}; ///< of each program: the mean silhouette of its copies, −1 to 1
    /// Of each program: the mean cosine of its copies with the consensus, 0 to 1.
    std::vector<double> similarity{};
    std::vector<std::vector<Index>>
        copies{}; ///< copies[r][k]: the column of factorisation r that is program k

    Index count() const { return W.cols(); }
    /// How many to list: the first of them, whose stability is at least 0. The copies of the others are
    /// nearer to another program than to each other: they are no programs.
    Index listed() const;
    /// The mean over the programs: what cNMF draws against the rank.
    double mean_stability() const;
};

/// Matches the programs of R ≥ 2 factorisations one to one, and takes what they have in common.
///
/// With unit columns a_rj, the matches π_r are a local maximum of
///
///     Σ_k ‖ Σ_r a_{r,π_r(k)} ‖
///
/// found by turns: the mean of each program's copies, then the best assignment of every factorisation to the
/// means (`optimal_assignment`), from the factorisation that is most like the others. No turn lowers the sum.
/// A consensus program is the median of its copies, entry by entry, at length 1 (their mean where the median
/// is 0). Stability is that of cNMF (Kotliar et al., eLife 2019, 8:e43803): the silhouette of a copy among
/// all of them, with Euclidean distances. cNMF groups the copies by k-means and may leave copies out; here
/// each factorisation has one copy of each program, and none is left out.
///
/// With a single program there is no other one to compare with: the distance to the nearest other is then √2,
/// that of programs without a common gene.
///
/// Bases are p × d, values ≥ 0. InputError unless there are two or more, all of one shape.
/// Cost 2p(Rd)². Does not depend on the number of threads.
ConsensusPrograms consensus_programs(const std::vector<DenseMatrix<float>>& bases);

/// The probability that at least `found` of `drawn` genes, drawn at random without putting back from `all`,
/// are among `marked` of them: the upper tail of the hypergeometric distribution
///
///     P = Σ_{i ≥ found} C(marked, i) C(all − marked, drawn − i) / C(all, drawn)
///
/// InputError unless 0 ≤ marked, drawn ≤ all and found ≥ 0.
double hypergeometric_tail(Index found, Index all, Index marked, Index drawn);

/// p-values adjusted for their number (Benjamini and Hochberg, 1995), in the order given: taking those at or
/// below q keeps the expected share of false findings at or below q. With m values in ascending order
///
///     adjusted_(i) = min_{j ≥ i} min(1, p_(j) m / j)
std::vector<double> adjusted_p_values(const std::vector<double>& p_values);

struct EnrichmentOptions {
    Index best = 100;       ///< so many genes of each program, by score, are looked up in the sets
    Index smallest_set = 5; ///< sets with fewer genes among those of the fit are left out
};

/// A gene set among the best genes of a program.
struct Enrichment {
    Index program = 0;
    Index set = 0;              ///< position in the list of sets
    Index size = 0;             ///< genes of the set that the fit has
    std::vector<Index> genes{}; ///< those of them among the program's best, best first
    double p_value = 1.0;       ///< `hypergeometric_tail`
    double adjusted = 1.0;      ///< over all programs and sets that were tested
};

/// Which sets are found among the best genes of each program more often than by chance. `scores` is p × d;
/// a set is the positions of its genes, each once. What is drawn from is all p genes of the fit, and not the
/// genome: a fit of variable genes must not find its own choice of genes again. Genes with a score of 0 or
/// less are not among the best. Sorted by program, then by p-value; sets without a gene among the best are
/// tested too (they count in the adjustment) but not listed.
std::vector<Enrichment> enriched_sets(const DenseMatrix<float>& scores,
                                      const std::vector<std::vector<Index>>& sets,
                                      const EnrichmentOptions& options = {});

} // namespace pnmf
