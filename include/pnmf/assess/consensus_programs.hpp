#pragma once

#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

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

} // namespace pnmf
