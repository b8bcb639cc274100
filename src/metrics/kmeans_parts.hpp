#pragma once

#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

/// What k-means is made of, for those who do it elsewhere than on the CPU.
namespace pnmf {

/// The random numbers of one seeding: drawn for all starts in turn from one stream, before the starts part.
struct SeedingDraws {
    Index first = 0;
    Matrix uniform; ///< candidates × (k − 1)
};
std::vector<SeedingDraws> draw_seedings(Index cells, const KMeansOptions& options);

/// When Lloyd's iteration stops; `least_move` is of Σ ‖move of a centre‖².
struct KMeansLimits {
    double least_move = 0.0;
    Index max_iterations = 300;
};

/// ‖x_j − point‖², a column for each point; the first `X.cols()` rows of an even number, so that the sum of a
/// column does not depend on where it stands. `result` gets the size it needs.
void squared_distances_to(const Matrix& X, const Matrix& points, Matrix& result);

/// Greedy k-means++: each next centre is the best of a few cells drawn with probability ∝ squared distance to
/// the centres so far; best is what leaves the smallest sum of them.
Matrix seed_centres(const Matrix& X, const SeedingDraws& draws);

/// Lloyd's iteration from the given centres.
KMeansResult lloyd(const Matrix& X, Matrix centres, const KMeansLimits& limits);

/// Centres to begin Lloyd's iteration over all cells with (`KMeansOptions::exchanges`); X is about its mean.
Matrix centres_by_exchanges(const Matrix& X, const KMeansOptions& options, const KMeansLimits& limits);

/// `nearest_centres` of each set of them, where there are at most 65,535; of an empty one no labels. A block
/// of cells is compared with all sets while it is in the cache.
std::vector<std::vector<std::uint16_t>> nearest_of_each(const Matrix& X, const std::vector<Matrix>& centres);

/// InputError unless the options suit the cells, which are finite.
void check_kmeans(const Matrix& X, const KMeansOptions& options);

/// Means of clusters from the sums and counts of their cells. One without cells takes the cell farthest from
/// its own centre, one that leaves others behind; where there is none it keeps its centre. Labels follow at
/// the next assignment.
Matrix means_of_clusters(const Matrix& X, const Matrix& centres, const std::vector<Index>& labels,
                         Matrix sums, std::vector<Index> counts);

} // namespace pnmf
