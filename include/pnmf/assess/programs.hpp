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

} // namespace pnmf
