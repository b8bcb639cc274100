#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/types.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace pnmf {

/// Among fewer cells no loop is looked for.
inline constexpr Index fewest_cells_of_loop = 20;

struct LoopOptions {
    double level = 0.05;     ///< loops with a larger p-value are not reported
    Index null_clouds = 99;  ///< clouds without a loop to compare with; at least 1/level − 1
    Index most_cells = 2000; ///< loops are looked for among so many, evenly spaced
    Index landmarks = 200;
    std::uint64_t seed = 0; ///< of the clouds
};

/// A loop that cells go around.
struct CellLoop {
    double birth = 0.0; ///< in the unit of `persistence`
    double death = 0.0;
    double persistence = 0.0; ///< death − birth, as a share of the spread of the cells
    double p_value = 1.0;
    Index cells = 0; ///< no farther from the loop than its middle is
    Vector phase;    ///< of every cell, radians, 0 to 2π
};

struct LoopFinding {
    std::vector<CellLoop> loops; ///< most persistent first
    Index dimensions = 0;     ///< in which cells differ by more than noise; below 2, where no two do clearly
    double persistence = 0.0; ///< of the most persistent loop, reported or not
    double p_value = 1.0;     ///< of that
    /// Births and deaths of H1 of the landmarks, most persistent first, and deaths of H0, in the unit of
    /// `persistence`.
    std::vector<std::array<double, 2>> diagram;
    std::vector<double> joins;
    double chance = 0.0; ///< loops that persist no longer are not reported
};

/// Loops in a cloud of cells: where they are by H1 persistence, whether they are more than chance, and where
/// on them each cell is.
///
/// 1. Space (`space`: d × n, such as principal components): along its principal axes, each shrunk by
///    1 − λ₊/λ_k. λ₊, the largest variance that noise has, is found from the lower half of the variances,
///    which fall as λ₊ − c·k^(2/3) near the edge of a spectrum of noise.
/// 2. Cells are replaced by the mean of themselves and their nearest, a hundredth of the cells and at least
///    8, four times, which takes noise off.
/// 3. H1 of landmarks, each the farthest from those before it.
/// 4. p: the share of clouds with a loop as persistent, of normal clouds with the variances, the number and
///    the treatment of the cells, this one counted. A cloud of one piece, clusters and trees have loops that
///    persist no longer (docs/loops.md).
/// 5. Phases: the circular coordinate of the loop's cocycle (de Silva, Morozov and Vejdemo-Johansson 2011),
///    made even, so that phases are uniform over the cells on the loop; then a closed curve of two harmonics
///    through the cells in the shrunk space, and each cell's mean place on it. Where phase 0 is and which way
///    it runs means nothing.
///
/// No loop unless two axes have a tenth more variance than λ₊. The number of threads
/// changes nothing.
LoopFinding find_loops(const Matrix& space, const LoopOptions& options = {});

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
