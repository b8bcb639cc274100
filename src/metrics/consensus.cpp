#include <pnmf/metrics/consensus.hpp>

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pnmf {
namespace {

struct Pair {
    Index a = 0;
    Index b = 0;
    double height = 0.0;
};

/// Distances of the merged cluster (kept in row and column `b`) from every other; Lance and Williams 1967.
/// For Ward `D` holds squares.
void merge_into(Matrix& D, std::vector<double>& size, Index a, Index b, Linkage linkage) {
    for (Index c = 0; c < D.cols(); ++c) {
        if (size[c] == 0.0 || c == a || c == b) {
            continue;
        }
        double value = 0.0;
        if (linkage == Linkage::average) {
            value = (size[a] * D(c, a) + size[b] * D(c, b)) / (size[a] + size[b]);
        } else {
            value = ((size[a] + size[c]) * D(c, a) + (size[b] + size[c]) * D(c, b) - size[c] * D(a, b)) /
                    (size[a] + size[b] + size[c]);
        }
        D(c, b) = D(b, c) = value;
    }
    size[b] += size[a];
    size[a] = 0.0;
}

/// The merges in the order the chains find them; a and b stand for the clusters that hold those cells.
std::vector<Pair> chain_merges(Matrix& D, Linkage linkage) {
    const Index n = D.cols();
    std::vector<double> size(static_cast<std::size_t>(n), 1.0);
    std::vector<Pair> merges;
    std::vector<Index> chain;
    Index first = 0;
    while (std::ssize(merges) < n - 1) {
        while (size[first] == 0.0) {
            ++first;
        }
        if (chain.empty()) {
            chain.push_back(first);
        }
        for (;;) {
            const Index tip = chain.back();
            // Of equally near ones the cluster before in the chain is taken: else chains would run in
            // circles.
            Index nearest = chain.size() > 1 ? chain[chain.size() - 2] : -1;
            double least = nearest < 0 ? std::numeric_limits<double>::infinity() : D(nearest, tip);
            for (Index c = 0; c < n; ++c) {
                if (c != tip && size[c] > 0.0 && D(c, tip) < least) {
                    least = D(c, tip);
                    nearest = c;
                }
            }
            if (chain.size() > 1 && nearest == chain[chain.size() - 2]) {
                break;
            }
            chain.push_back(nearest);
        }
        const Index a = chain[chain.size() - 1];
        const Index b = chain[chain.size() - 2];
        chain.resize(chain.size() - 2);
        merges.push_back({a, b, linkage == Linkage::ward ? std::sqrt(std::max(0.0, D(a, b))) : D(a, b)});
        merge_into(D, size, a, b, linkage);
    }
    return merges;
}

/// The merges as a linkage matrix, ascending in height.
Hierarchy sorted(std::vector<Pair> merges) {
    std::stable_sort(merges.begin(), merges.end(),
                     [](const Pair& a, const Pair& b) { return a.height < b.height; });
    const Index n = std::ssize(merges) + 1;
    std::vector<Index> parent(static_cast<std::size_t>(n));
    std::iota(parent.begin(), parent.end(), Index{0});
    std::vector<Index> cluster = parent;                        // of each root
    std::vector<double> size(static_cast<std::size_t>(n), 1.0); // of each root
    const auto root = [&](Index i) {
        while (parent[i] != i) {
            i = parent[i] = parent[parent[i]];
        }
        return i;
    };
    Hierarchy result{Matrix(n - 1, 4)};
    for (Index i = 0; i < n - 1; ++i) {
        const Index a = root(merges[i].a);
        const Index b = root(merges[i].b);
        size[b] += size[a];
        result.merges.row(i) << static_cast<double>(std::min(cluster[a], cluster[b])),
            static_cast<double>(std::max(cluster[a], cluster[b])), merges[i].height, size[b];
        parent[a] = b;
        cluster[b] = n + i;
    }
    return result;
}

void check_size(Index cells) {
    require(cells >= 1, "a hierarchy needs at least 1 cell, got {}", cells);
    require(cells <= largest_hierarchy, "a hierarchy of clusters is made for at most {} cells, got {}",
            largest_hierarchy, cells);
}

} // namespace

Hierarchy agglomerate(Matrix distances, Linkage linkage) {
    check_size(distances.cols());
    require(distances.rows() == distances.cols(), "distances must be square, got {} x {}", distances.rows(),
            distances.cols());
    require(distances.allFinite() && distances.minCoeff() >= 0.0, "distances must be finite and at least 0");
    require((distances - distances.transpose()).cwiseAbs().maxCoeff() <= 1e-9 * distances.maxCoeff(),
            "distances must be symmetric");
    if (linkage == Linkage::ward) {
        distances = distances.cwiseAbs2();
    }
    return sorted(chain_merges(distances, linkage));
}

std::vector<Index> cut(const Hierarchy& hierarchy, Index clusters) {
    const Index n = hierarchy.cells();
    require(clusters >= 1 && clusters <= n,
            "the number of clusters must be between 1 and the number of cells, {}; got {}", n, clusters);
    std::vector<Index> parent(static_cast<std::size_t>(2 * n - 1), -1);
    for (Index i = 0; i < n - clusters; ++i) {
        parent[static_cast<Index>(hierarchy.merges(i, 0))] = n + i;
        parent[static_cast<Index>(hierarchy.merges(i, 1))] = n + i;
    }
    std::vector<Index> number(parent.size(), -1);
    std::vector<Index> labels;
    Index next = 0;
    for (Index j = 0; j < n; ++j) {
        Index top = j;
        while (parent[top] >= 0) {
            top = parent[top];
        }
        if (number[top] < 0) {
            number[top] = next++;
        }
        labels.push_back(number[top]);
    }
    return labels;
}

Hierarchy consensus_over_scales(const std::vector<std::vector<Index>>& clusters) {
    require(!clusters.empty(), "a consensus needs at least 1 scale");
    const Index n = std::ssize(clusters.front());
    check_size(n);
    for (const std::vector<Index>& labels : clusters) {
        require(std::ssize(labels) == n, "every scale must have {} cells, got {}", n, labels.size());
    }
    Matrix apart(n, n);
    parallel_for(n, [&](Index j) {
        for (Index i = 0; i < n; ++i) {
            Index count = 0;
            for (const std::vector<Index>& labels : clusters) {
                count += labels[i] != labels[j] ? 1 : 0;
            }
            apart(i, j) = static_cast<double>(count) / static_cast<double>(clusters.size());
        }
    });
    return agglomerate(std::move(apart), Linkage::average);
}

Hierarchy hierarchy_along_scales(Index scales, const std::function<Matrix(Index)>& embedding) {
    require(scales >= 1, "there must be at least 1 scale, got {}", scales);
    Matrix squares;
    for (Index t = 0; t < scales; ++t) {
        Matrix H = embedding(t);
        check_size(H.cols());
        H.normalize(); // all of it; an embedding that is 0 stays so
        if (t == 0) {
            squares = Matrix::Zero(H.cols(), H.cols());
        }
        const Vector norms = H.colwise().squaredNorm().transpose();
        parallel_blocks(H.cols(), 64, [&](Index begin, Index end) {
            Matrix part = -2.0 * H.transpose() * H.middleCols(begin, end - begin);
            part.colwise() += norms;
            part.rowwise() += norms.segment(begin, end - begin).transpose();
            squares.middleCols(begin, end - begin) += part;
        });
    }
    squares.diagonal().setZero();
    const Matrix symmetric = 0.5 * (squares + squares.transpose());
    return agglomerate(symmetric.cwiseMax(0.0).cwiseSqrt(), Linkage::ward);
}

} // namespace pnmf
