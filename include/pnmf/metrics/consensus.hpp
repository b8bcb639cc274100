#pragma once

#include <pnmf/names.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <vector>

namespace pnmf {

enum class Linkage {
    average, ///< the mean distance between the cells of two clusters
    ward,    ///< √(2 · increase of the sum of squares when they merge); distances are Euclidean
};

template <>
struct EnumNames<Linkage> {
    static constexpr auto values =
        name_table<Linkage>({{"average", Linkage::average}, {"ward", Linkage::ward}});
};

/// Cells up to which an n × n table of distances is kept: 200 MB there.
inline constexpr Index largest_hierarchy = 5000;

/// A hierarchy of clusters as SciPy's linkage matrix: n − 1 rows left, right, height, cells; heights ascend,
/// clusters 0 … n − 1 are the cells, row i makes cluster n + i.
struct Hierarchy {
    Matrix merges;

    Index cells() const { return merges.rows() + 1; }
};

/// Agglomerative clustering from distances, n × n, symmetric, finite, ≥ 0, by nearest-neighbour chains
/// (Murtagh 1983): O(n²) time and memory. InputError for more than `largest_hierarchy` cells.
Hierarchy agglomerate(Matrix distances, Linkage linkage);

/// The k clusters that are left when the last k − 1 merges are undone, numbered from 0 in order of their
/// smallest cell. 1 ≤ k ≤ n.
std::vector<Index> cut(const Hierarchy& hierarchy, Index clusters);

/// Consensus over scales: average linkage of 1 − the share of scales at which two cells have the same
/// cluster. `clusters[t]` are the labels of all cells at scale t.
Hierarchy consensus_over_scales(const std::vector<std::vector<Index>>& clusters);

/// A hierarchy that follows the scales: Ward's linkage of the cells described by their embeddings at all
/// scales side by side, each divided by its norm, so that collapsed scales have little say:
///
///     d²(i, j) = Σ_t ‖h_ti − h_tj‖² / ‖H_t‖²
///
/// Groups of cells that part at few scales merge early. `embedding(t)`, d × n, is asked for once each.
Hierarchy hierarchy_along_scales(Index scales, const std::function<Matrix(Index)>& embedding);

} // namespace pnmf
