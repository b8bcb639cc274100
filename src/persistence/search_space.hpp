#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <cstdint>

namespace pnmf {

/// Cells in few coordinates, for a search that processes its finds by true distances later.
///
/// With Q (p × q) an orthonormal basis of about the leading principal directions and r_a = a − QQᵀa,
///
///     ‖a − b‖² = ‖Qᵀa − Qᵀb‖² + ‖r_a‖² + ‖r_b‖² − 2⟨r_a, r_b⟩ .
///
/// The last term is dropped, as remainders of different cells are nearly orthogonal; their lengths are kept.
/// In single-cell counts most of a distance is in them, and which cells are near depends on them more than on
/// a few dozen principal components (docs/decisions/0080-approximate-neighbours.md).
struct SearchSpace {
    Index dimension = 0;        ///< q
    DenseMatrix<float> vectors; ///< (q + 1) × n: Qᵀa, then ‖r_a‖²
};

/// At most `largest_dimension` coordinates; with no more features than that, the features themselves.
/// The basis is that of `sample` cells drawn with the seed. The same for any number of threads.
/// Cost 2q for each entry stored, beside the basis.
SearchSpace search_space(const Points& points, Index largest_dimension, Index sample, std::uint64_t seed);

/// What a search space is put together from, whoever holds the cells. Features are p, cells n of all.
///
/// Its dimension q, and where it is less than p: the basis Qᵀ, q × p, of the sampled cells, which are
/// `sample_of_cells(n, sample, seed)`.
Index search_dimension(Index features, Index cells, Index largest_dimension, Index sample);
Matrix search_basis(const Points& sample, Index dimension, std::uint64_t seed);
/// Adds the coordinates of all cells, one after the other, to `sum`.
void add_cells(const SparseView<double>& X, Vector& sum);
/// (q + 1) × cells, as `SearchSpace` has them. `Qt` has q rows, `centre` is Qᵀ of the mean of all cells.
/// Products of matrices are made of `panel` cells at a time; processes share these.
DenseMatrix<float> projected_cells(const Points& points, const Matrix& Qt, const Vector& centre, Index panel);

/// `count` of n cells, drawn without repetition.
std::vector<Index> sample_of_cells(Index n, Index count, std::uint64_t seed);

} // namespace pnmf
