#include "support/graph_clouds.hpp"

#include "linalg/decompositions.hpp"

#include <pnmf/linalg/random.hpp>

#include <cmath>

namespace pnmf::test {

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
    Random random(seed);
    return Matrix::NullaryExpr(rows, cols, [&] { return random.uniform(); });
}

Matrix square(Index cells, std::uint64_t seed) {
    return random_matrix(2, cells, seed);
}

std::vector<Cloud> clouds() {
    std::vector<Cloud> result;
    result.push_back({"one cell", random_matrix(3, 1, 1)});
    result.push_back({"two cells", random_matrix(3, 2, 2)});
    result.push_back({"plane", square(45, 3)});
    result.push_back({"many dimensions", random_matrix(200, 40, 4)});

    Matrix grid(2, 36); // every distance occurs many times
    for (Index j = 0; j < grid.cols(); ++j) {
        grid.col(j) << static_cast<double>(j % 6), static_cast<double>(j / 6);
    }
    result.push_back({"grid", grid});

    Matrix copies = random_matrix(4, 40, 5);
    copies.rightCols(15) = copies.leftCols(15);
    copies.col(20) = copies.col(0);
    result.push_back({"duplicates", copies});

    Matrix clusters = random_matrix(5, 150, 6); // three, one of them far away
    clusters.middleCols(50, 50).array() += 1.5;
    clusters.rightCols(50).array() += 4.0;
    result.push_back({"clusters", clusters});
    return result;
}

Matrix adjacency_by_formula(const Points& points, double epsilon, double alpha) {
    const Index n = points.count();
    Matrix A = Matrix::Zero(n, n);
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
            const double d = points.distance(i, j);
            if (i != j && d < epsilon) {
                A(i, j) = std::exp(-(d * d) / std::pow(epsilon, alpha));
            }
        }
    }
    return A;
}

Matrix laplacian(const Matrix& adjacency) {
    const Vector degrees = adjacency.rowwise().sum();
    return Matrix(degrees.asDiagonal()) - adjacency;
}

Vector spectrum(const Matrix& symmetric) {
    return symmetric_eigenvalues(symmetric);
}

Index kernel_dimension(const Vector& eigenvalues) {
    const double rounding = 1e-12 * std::max(1.0, eigenvalues.cwiseAbs().maxCoeff());
    return (eigenvalues.array().abs() < rounding).count();
}

} // namespace pnmf::test
