#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// How a gene follows a phase: x = mean + amplitude · cos(φ − peak).
struct PhaseGene {
    Index gene = 0;
    double amplitude = 0.0;
    double peak = 0.0;  ///< radians, 0 to 2π
    double share = 0.0; ///< of its variance
    double p_value = 1.0;
    double adjusted = 1.0; ///< over all genes
};

/// A first harmonic for each gene, by least squares over the cells; genes by their shares, largest first.
///
/// p is that of the F test of no wave in normal noise, (1 − share)^((n − 3)/2). Where phases were found from
/// the same genes it is too small: it orders genes, and does not prove that there is a loop.
/// InputError unless each cell has a phase. Cost as four products of X with a vector.
std::vector<PhaseGene> phase_genes(const DataMatrix<double>& X, const Vector& phase);

/// Which way phases run and where they begin.
struct PhaseAnchors {
    std::vector<Index> zero; ///< genes that are highest at phase 0; empty: phases begin where they do
    std::vector<Index> next; ///< genes that are highest in the half turn after it; empty: they run as they do
};
/// The phases turned, and mirrored where needed, so that they follow the anchors. `genes` as found from the
/// phases. InputError when no gene of an anchor follows the phase at all.
Vector anchored(const Vector& phase, const std::vector<PhaseGene>& genes, const PhaseAnchors& anchors);

} // namespace pnmf
