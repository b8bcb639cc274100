#pragma once

#include <pnmf/types.hpp>

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

} // namespace pnmf
