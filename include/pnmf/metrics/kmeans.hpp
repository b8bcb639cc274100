#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

struct KMeansOptions {
    Index clusters = 2;         ///< k, from 1 to the number of cells
    Index starts = 10;          ///< seedings tried; the one that ends with the smallest inertia is returned
    Index max_iterations = 300; ///< of each start
    double tolerance =
        1e-4; ///< a start also stops when Σ ‖move of a centre‖² ≤ tolerance · mean variance of a coordinate
    std::uint64_t seed = 0;
    bool exchanges = false; ///< improve each start by exchanges of centres
};

struct KMeansResult {
    std::vector<Index> labels; ///< for each cell, the cluster of the nearest centre, 0 … k − 1
    Matrix centres;            ///< d × k
    double inertia = 0.0;      ///< Σ_j ‖x_j − centre of its cluster‖²
    Index iterations = 0;      ///< of the start that won
    bool converged = false;    ///< it stopped by labels or tolerance, not by `max_iterations`
};

/// k-means of the columns of X, d × n: greedy k-means++ seeding (Arthur and Vassilvitskii 2007, with
/// 2 + ⌊log k⌋ candidates for each centre), then Lloyd's iteration.
///
/// The random stream is NumPy's, so that seed s < 2³² with r starts takes the seedings, and rounding aside
/// gives the labels, of scikit-learn's KMeans(k, n_init=r, random_state=s): scores can be compared seed by
/// seed. A cluster that loses all its cells takes the cell farthest from its centre. When fewer than k cells
/// are distinct, the surplus clusters stay empty: equal cells are never split. Cost of an iteration 2ndk. The
/// result does not depend on the number of threads.
///
/// With `exchanges` each start is improved: a centre leaves the cluster that needs it least for the one that
/// gains most from a second, as long as that lowers the inertia. Five starts then end as low as
/// dozens without, and small differences between embeddings change the clusters less often. Starts and
/// exchanges look at 10,000 cells at most, drawn at random; Lloyd's iteration over all cells follows. Of
/// starts that end within 0.05 % of the smallest inertia the first one is taken.
KMeansResult kmeans(const Matrix& X, const KMeansOptions& options);
/// The same of cells that are not needed any more: without a copy of them.
KMeansResult kmeans(Matrix&& X, const KMeansOptions& options);

/// The nearest centre of each cell, the first among equals. X is d × n, centres are d × k. Cost 2ndk.
std::vector<Index> nearest_centres(const Matrix& X, const Matrix& centres);

} // namespace pnmf
