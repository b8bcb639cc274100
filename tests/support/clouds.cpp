#include "support/clouds.hpp"

#include <pnmf/linalg/random.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace pnmf::test {

Matrix uniform_cloud(Index features, Index cells, std::uint64_t seed) {
    Random random(seed);
    return Matrix::NullaryExpr(features, cells, [&] { return random.uniform(); });
}

Matrix lattice_cloud(Index features, Index cells, Index side, std::uint64_t seed) {
    Random random(seed);
    return Matrix::NullaryExpr(features, cells, [&] { return static_cast<double>(random.below(side)); });
}

SparseMatrix<double> sparse_cloud(Index features, Index cells, double density, std::uint64_t seed) {
    Random random(seed);
    SparseMatrix<double> X;
    X.rows = features;
    X.cols = cells;
    for (Index j = 0; j < cells; ++j) {
        for (Index i = 0; i < features; ++i) {
            if (random.uniform() < density) {
                X.row.push_back(static_cast<std::int32_t>(i));
                X.value.push_back(static_cast<double>(1 + random.below(4)));
            }
        }
        X.start.push_back(static_cast<std::int64_t>(X.row.size()));
    }
    return X;
}

SparseMatrix<double> to_sparse(const Matrix& X) {
    SparseMatrix<double> sparse;
    sparse.rows = X.rows();
    sparse.cols = X.cols();
    for (Index j = 0; j < X.cols(); ++j) {
        for (Index i = 0; i < X.rows(); ++i) {
            if (X(i, j) != 0.0) {
                sparse.row.push_back(static_cast<std::int32_t>(i));
                sparse.value.push_back(X(i, j));
            }
        }
        sparse.start.push_back(static_cast<std::int64_t>(sparse.row.size()));
    }
    return sparse;
}

namespace {

Matrix duplicated(Matrix X) {
    for (Index j = 0; j + 1 < X.cols(); j += 3) {
        X.col(j + 1) = X.col(j);
    }
    return X;
}

Matrix collinear(Index cells) {
    Random random(5);
    const Vector direction = Vector::LinSpaced(4, 1.0, 2.0);
    Matrix X(4, cells);
    for (Index j = 0; j < cells; ++j) {
        X.col(j) = static_cast<double>(random.below(4 * cells)) * direction;
    }
    return X;
}

/// Pairs about 1e-9 apart, a million away from the origin: where ‖a‖² + ‖b‖² − 2ab has no digit left.
Matrix nearly_duplicated(Index cells) {
    Random random(6);
    Matrix X = uniform_cloud(5, cells, 7);
    for (Index j = 0; j + 1 < cells; j += 2) {
        for (Index i = 0; i < 5; ++i) {
            X(i, j + 1) = X(i, j) + 1e-9 * random.uniform();
        }
    }
    return X.array() + 1e6;
}

Matrix clustered(Index cells) {
    Random random(8);
    const Matrix centres = 100.0 * uniform_cloud(6, 5, 9);
    Matrix X(6, cells);
    for (Index j = 0; j < cells; ++j) {
        for (Index i = 0; i < 6; ++i) {
            X(i, j) = centres(i, j % 5) + random.normal();
        }
    }
    return X;
}

} // namespace

std::vector<Cloud> all_clouds(Index cells) {
    return {
        {"random", uniform_cloud(3, cells, 1)},
        {"random on a line", uniform_cloud(1, cells, 2)},
        {"duplicated", duplicated(uniform_cloud(4, cells, 3))},
        {"all equal", Matrix::Constant(3, cells, 0.1)},
        {"collinear", collinear(cells)},
        {"lattice", lattice_cloud(3, cells, 6, 4)},
        {"coarse lattice", lattice_cloud(9, cells, 2, 4)},
        {"clustered", clustered(cells)},
        {"high-dimensional", uniform_cloud(300, cells, 10)},
        {"nearly duplicated", nearly_duplicated(cells)},
    };
}

SpanningTree kruskal(const Points& points) {
    const Index n = points.count();
    SpanningTree tree;
    tree.cells = n;
    std::vector<Edge> all;
    for (Index i = 0; i < n; ++i) {
        for (Index j = i + 1; j < n; ++j) {
            all.push_back({points.distance(i, j), i, j});
            tree.largest_distance = std::max(tree.largest_distance, all.back().length);
        }
    }
    std::sort(all.begin(), all.end());
    std::vector<Index> component(static_cast<std::size_t>(n));
    std::iota(component.begin(), component.end(), Index{0});
    for (const Edge& edge : all) {
        const Index from = component[edge.j];
        const Index to = component[edge.i];
        if (from != to) {
            std::replace(component.begin(), component.end(), from, to);
            tree.edges.push_back(edge);
        }
    }
    return tree;
}

SpanningTree prim(const Points& points) {
    const Index n = points.count();
    SpanningTree tree;
    tree.cells = n;
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<Edge> nearest(static_cast<std::size_t>(n), Edge{infinity, 0, 0}); // to the tree so far
    std::vector<bool> in_tree(static_cast<std::size_t>(n), false);
    Vector row(n);
    Index newest = 0;
    for (Index step = 1; step < n; ++step) {
        in_tree[newest] = true;
        points.distances_from(newest, row);
        tree.largest_distance = std::max(tree.largest_distance, row.maxCoeff());
        Index next = -1;
        for (Index j = 0; j < n; ++j) {
            if (in_tree[j]) {
                continue;
            }
            nearest[j] = std::min(nearest[j], Edge{row[j], std::min(newest, j), std::max(newest, j)});
            if (next < 0 || nearest[j] < nearest[next]) {
                next = j;
            }
        }
        tree.edges.push_back(nearest[next]);
        newest = next;
    }
    std::sort(tree.edges.begin(), tree.edges.end());
    return tree;
}

} // namespace pnmf::test
