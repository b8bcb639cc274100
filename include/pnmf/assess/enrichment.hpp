#pragma once

#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

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
