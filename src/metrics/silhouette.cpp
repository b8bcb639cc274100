#include <pnmf/metrics/clustering_scores.hpp>

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {
namespace {

constexpr Index block = 256;

/// Distances between two blocks of columns: by one product, and by differences where the product cancels.
Matrix distances(const Matrix& X, const Vector& squared_norms, Index row, Index rows, Index col, Index cols) {
    Matrix result = -2.0 * X.middleCols(row, rows).transpose() * X.middleCols(col, cols);
    for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
            const double scale = squared_norms(row + i) + squared_norms(col + j);
            double squared = scale + result(i, j);
            if (squared < 1e-3 * scale) {
                squared = (X.col(row + i) - X.col(col + j)).squaredNorm();
            }
            result(i, j) = std::sqrt(squared);
        }
    }
    return result;
}

/// The cells in the order of their clusters: then a cluster is a run of columns.
struct Sorted {
    Matrix X;
    std::vector<Index> order;   ///< the cell in each place
    std::vector<Index> cluster; ///< of each place
    std::vector<Index> size;    ///< of each cluster
};

Sorted sort_by_cluster(const Matrix& X, const std::vector<Index>& clusters) {
    const std::vector<Index> numbered = relabel(clusters);
    Sorted result;
    result.order.resize(numbered.size());
    std::iota(result.order.begin(), result.order.end(), Index{0});
    std::stable_sort(result.order.begin(), result.order.end(),
                     [&](Index a, Index b) { return numbered[a] < numbered[b]; });
    const Vector mean = X.rowwise().mean(); // about the mean the products cancel less
    result.X.resize(X.rows(), X.cols());
    for (Index place = 0; place < X.cols(); ++place) {
        const Index cell = result.order[place];
        result.X.col(place) = X.col(cell) - mean;
        result.cluster.push_back(numbered[cell]);
        if (numbered[cell] == std::ssize(result.size)) {
            result.size.push_back(0);
        }
        ++result.size.back();
    }
    return result;
}

/// (b − a) / max(a, b) from the sums of distances of one cell to each cluster.
double silhouette(const Vector& sums, Index own, const std::vector<Index>& size) {
    if (size[own] == 1) {
        return 0.0;
    }
    const double a = sums(own) / static_cast<double>(size[own] - 1);
    double b = std::numeric_limits<double>::infinity();
    for (Index c = 0; c < sums.size(); ++c) {
        if (c != own) {
            b = std::min(b, sums(c) / static_cast<double>(size[c]));
        }
    }
    const double larger = std::max(a, b);
    return larger > 0.0 ? (b - a) / larger : 0.0;
}

} // namespace

Vector silhouettes(const Matrix& X, const std::vector<Index>& clusters) {
    require(X.cols() == std::ssize(clusters), "{} cells need as many cluster labels, got {}", X.cols(),
            clusters.size());
    require(X.allFinite(), "silhouettes need finite values");
    const Sorted sorted = sort_by_cluster(X, clusters);
    require(sorted.size.size() >= 2, "silhouettes need at least 2 clusters, got {}", sorted.size.size());
    const Vector squared_norms = sorted.X.colwise().squaredNorm().transpose();
    const Index n = X.cols();
    Vector result(n);
    parallel_blocks(n, block, [&](Index begin, Index end) {
        Matrix sums = Matrix::Zero(std::ssize(sorted.size), end - begin);
        for (Index row = 0; row < n; row += block) {
            const Index rows = std::min(block, n - row);
            const Matrix distance = distances(sorted.X, squared_norms, row, rows, begin, end - begin);
            for (Index j = 0; j < end - begin; ++j) {
                for (Index i = 0; i < rows; ++i) {
                    sums(sorted.cluster[row + i], j) += distance(i, j);
                }
            }
        }
        for (Index j = begin; j < end; ++j) {
            result(sorted.order[j]) = silhouette(sums.col(j - begin), sorted.cluster[j], sorted.size);
        }
    });
    return result;
}

double mean_silhouette(const Matrix& X, const std::vector<Index>& clusters) {
    return silhouettes(X, clusters).mean();
}

} // namespace pnmf
