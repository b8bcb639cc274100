#pragma once

#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/types.hpp>

#include <vector>

/// What k-means is made of, for those who do it elsewhere than on the CPU.
namespace pnmf {

/// The random numbers of one seeding: drawn for all starts in turn from one stream, before the starts part.
struct SeedingDraws {
    Index first = 0;
    Matrix uniform; ///< candidates × (k − 1)
};
std::vector<SeedingDraws> draw_seedings(Index cells, const KMeansOptions& options);

/// InputError unless the options suit the cells, which are finite.
void check_kmeans(const Matrix& X, const KMeansOptions& options);

/// Means of clusters from the sums and counts of their cells. One without cells takes the cell farthest from
/// its own centre, one that leaves others behind; where there is none it keeps its centre. Labels follow at
/// the next assignment.
Matrix means_of_clusters(const Matrix& X, const Matrix& centres, const std::vector<Index>& labels,
                         Matrix sums, std::vector<Index> counts);

} // namespace pnmf
