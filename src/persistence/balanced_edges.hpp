#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// InputError unless `batch` has a number from 0 for each of so many cells, two batches or more, none of them
/// left out and each with at least two cells.
void check_batches(const std::vector<Index>& batch, Index cells);

/// How many neighbours a cell gets in each of so many batches when it is to have `neighbors` in all: their
/// share, rounded up, and no fewer than 3.
Index neighbors_of_each_batch(Index neighbors, Index batches);

/// Neighbours balanced over batches: what they were found by.
struct BalancedEdges {
    SortedEdges edges;  ///< they join all cells
    Index batches = 0;  ///< m
    Index of_each = 0;  ///< r, neighbours of a cell in each batch; fewer where a batch is smaller
    double shift = 0.0; ///< median over edges between batches of d − ℓ: by how much they were shortened
    double anchored = 0.0; ///< share of cells with a mutual neighbour in every other batch
};

/// Edges from each cell to its r nearest cells of *every* batch, as BBKNN has them (Polański et al. 2020,
/// Bioinformatics 36:964), with lengths from which the distance between the batches is taken away.
///
/// Cells of one type in two batches a and b stand apart by what the batches differ in. Where that is at right
/// angles to what tells types apart, squares add up: d² = (distance of the cells)² + (shift of the batches)².
/// With b(j) the batch of cell j, the lengths are
///
///     ℓᵢⱼ = dᵢⱼ                                                           within a batch,
///     ℓᵢⱼ = min(dᵢⱼ, max(min(oᵢ, oⱼ), √(dᵢⱼ² − ½(δᵢ(b(j)) + δⱼ(b(i))))))  between batches
///
/// (a root of a negative number is 0), where oᵢ is the distance of cell i to the nearest cell of its own
/// batch, and δᵢ(b) ≥ 0 is the shift that cell i sees towards batch b. It is read off mutual neighbours
/// (Haghverdi et al. 2018, Nat. Biotechnol. 36:421), cells of which each is among the r nearest of the other:
/// a type that only one batch has finds none, and is not drawn to another type. With
/// sᵢ(b) the mean of d² from i to its r nearest cells of b, the shift of a cell that has a mutual neighbour
/// in b is sᵢ(b) − sᵢ(b(i)); δᵢ(b) is the median of these over such cells among i and its 15 nearest cells of
/// its own batch, and where none of them has one, over all such cells of the batch.
///
/// Components that these edges leave are joined by short edges between them, with ℓ too, as `neighbor_tree`
/// finds them. All pairs are looked at: cost n² distances, as blocked products, whatever the number of
/// batches. Independent of the number of threads. 1 ≤ neighbors < n.
BalancedEdges balanced_edges(const Points& points, const std::vector<Index>& batch, Index neighbors);

/// The same for new cells, of which no batch is known. `distances` is stored × new. The r nearest of each
/// batch keep a length, all other entries become infinite: no edge. With s(b) as above, the lengths to batch
/// b are √(d² − (s(b) − min s)), no shorter than the shortest d of the cell: as if the cell were in the batch
/// that is nearest to it.
void balance_distances(Matrix& distances, const std::vector<Index>& batch, Index neighbors);

} // namespace pnmf
