#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pnmf {

/// Scores of a clustering against known labels. Each takes two labellings of the same cells, any integers;
/// only which cells share a label matters, so renaming the clusters changes nothing. Cells that are
/// `unlabelled` in either are left out; at least one must stay.

constexpr Index unlabelled = -1; ///< the label of a cell that has none

/// Names as numbers, from 0 in the order in which they first appear; `unlabelled` for "", "NA", "nan", "None"
/// and the like.
std::vector<Index> relabel(const std::vector<std::string>& names);
/// Numbers as numbers from 0 in the same way; `unlabelled` is one like the others.
std::vector<Index> relabel(const std::vector<Index>& labels);

/// How many cells have label i in one labelling and label j in the other: only the pairs that occur, by row.
struct Contingency {
    struct Entry {
        Index row = 0;
        Index col = 0;
        Index count = 0;
    };
    std::vector<Entry> entries;
    std::vector<Index> row_sums; ///< cells of each label, numbered by `relabel`
    std::vector<Index> col_sums; ///< cells of each cluster
    Index cells = 0;
};

Contingency contingency(const std::vector<Index>& labels, const std::vector<Index>& clusters);

/// Adjusted Rand index (Hubert and Arabie 1985): agreement of pairs, 0 on average by chance, 1 when equal.
double adjusted_rand_index(const std::vector<Index>& labels, const std::vector<Index>& clusters);

/// Mutual information over the arithmetic mean of the entropies, in [0, 1]; 1 when both have one cluster.
double normalized_mutual_information(const std::vector<Index>& labels, const std::vector<Index>& clusters);

/// Mutual information adjusted for chance (Vinh et al. 2010), arithmetic mean of entropies; 1 when equal.
/// Cost: distinct pairs of cluster sizes × the smaller size of each.
double adjusted_mutual_information(const std::vector<Index>& labels, const std::vector<Index>& clusters);

/// Share of cells that have the most frequent label of their cluster.
double purity(const std::vector<Index>& labels, const std::vector<Index>& clusters);

/// Largest share of cells on the diagonal over all one-to-one matchings of clusters with labels.
/// Cost O(a²b), a the smaller and b the larger number of labels.
double accuracy(const std::vector<Index>& labels, const std::vector<Index>& clusters);

/// A one-to-one matching of rows with columns that minimises the sum of cost, rows ≤ columns: the column of
/// each row. Shortest augmenting paths (Jonker and Volgenant 1987); O(rows² · columns).
std::vector<Index> optimal_assignment(const Matrix& cost);

/// What can be said about a scale without labels, each a number for each scale, larger is better.
/// The silhouette is in silhouette.hpp. None of them is a recommendation by itself: see docs/decisions/0086.

/// How long the components at a scale last: ε lies in an interval (d, d′] between consecutive different
/// deaths (or 0 and the first) in which the graph's components do not change; its length over the largest
/// death. 0 where ε is larger than every death: one component lasts for ever. `deaths` ascend.
std::vector<double> gap_prominence(const std::vector<double>& epsilon, const std::vector<double>& deaths);

/// How much clusters change along the scales: for each t the mean ARI between the clusters at t and at the
/// scales t ± 1 … t ± window that exist; 1 for a single scale. `clusters[t]` are the labels of all cells at
/// scale t.
std::vector<double> neighbor_stability(const std::vector<std::vector<Index>>& clusters, Index window = 1);

struct ResamplingOptions {
    Index clusters = 2;
    Index repeats = 20;    ///< subsets drawn
    double fraction = 0.8; ///< of the cells in each, in (0, 1]
    Index starts = 10;     ///< of each k-means
    std::uint64_t seed = 0;
};

/// How well clusters survive when cells are left out: the mean over random subsets of the cells of the ARI
/// between the clusters of the subset alone and those of all cells, on the subset. H is d × n.
double resampling_stability(const Matrix& H, const ResamplingOptions& options);

/// Silhouette of each cell (Rousseeuw 1987), exact: with a the mean distance to the others of its cluster and
/// b the smallest mean distance to another cluster, (b − a) / max(a, b); 0 for a cell alone in its cluster.
///
/// X is d × n, cells are columns; `clusters` has n labels of at least 2 kinds, any integers.
/// Cost 2n²d in blocks, memory O(n). The result does not depend on the number of threads.
Vector silhouettes(const Matrix& X, const std::vector<Index>& clusters);

/// Their mean over all cells.
double mean_silhouette(const Matrix& X, const std::vector<Index>& clusters);

} // namespace pnmf
