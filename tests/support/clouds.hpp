#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pnmf::test {

/// Points to try every statement on, features × cells.
struct Cloud {
    std::string name;
    Matrix X;
};

/// Uniform in the unit cube.
Matrix uniform_cloud(Index features, Index cells, std::uint64_t seed);
/// Integers below `side`: many equal distances and duplicates.
Matrix lattice_cloud(Index features, Index cells, Index side, std::uint64_t seed);
/// Counts of which most are zero.
SparseMatrix<double> sparse_cloud(Index features, Index cells, double density, std::uint64_t seed);

/// The same matrix without its zeros.
SparseMatrix<double> to_sparse(const Matrix& X);

/// Random, duplicated, collinear, lattice, clustered, high-dimensional and nearly duplicated points of about
/// `cells` cells.
std::vector<Cloud> all_clouds(Index cells);

/// The minimum spanning tree by sorting all edges: the slow twin of `minimum_spanning_tree`.
SpanningTree kruskal(const Points& points);
/// The same by growing one component, O(n) memory: the slow twin for larger clouds.
SpanningTree prim(const Points& points);

} // namespace pnmf::test
