#include "assess/silhouette_table.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pnmf {

SilhouetteTable::SilhouetteTable(const Matrix& X) : distances_(X.cols(), X.cols()) {
    parallel_for(X.cols(),
                 [&](Index j) { distances_.col(j) = (X.colwise() - X.col(j)).colwise().norm().transpose(); });
}

double SilhouetteTable::mean(const std::vector<Index>& clusters) const {
    const Index n = distances_.cols();
    const Index k = *std::max_element(clusters.begin(), clusters.end()) + 1;
    Vector size = Vector::Zero(k);
    for (const Index c : clusters) {
        size[c] += 1.0;
    }
    if ((size.array() > 0.0).count() < 2) {
        return -1.0;
    }
    double sum = 0.0;
    Vector to_cluster(k);
    for (Index j = 0; j < n; ++j) {
        const Index own = clusters[j];
        if (size[own] < 2.0) {
            continue; // a cell alone has silhouette 0
        }
        to_cluster.setZero();
        for (Index i = 0; i < n; ++i) {
            to_cluster[clusters[i]] += distances_(i, j);
        }
        const double inside = to_cluster[own] / (size[own] - 1.0);
        double outside = std::numeric_limits<double>::infinity();
        for (Index c = 0; c < k; ++c) {
            if (c != own && size[c] > 0.0) {
                outside = std::min(outside, to_cluster[c] / size[c]);
            }
        }
        const double larger = std::max(inside, outside);
        sum += larger > 0.0 ? (outside - inside) / larger : 0.0;
    }
    return sum / static_cast<double>(n);
}

} // namespace pnmf
