#include <pnmf/error.hpp>
#include <pnmf/linalg/sparse.hpp>

#include <iostream>

/// Uses the library through its installed headers only, and prints what the test expects.
int main() {
    const pnmf::Triplets<double> triplets{.row = {0, 2, 2}, .col = {1, 0, 0}, .value = {1.0, 2.0, 3.0}};
    const auto matrix = pnmf::to_columns(3, 2, triplets);
    std::cout << pnmf::to_dense(matrix) << '\n';
    try {
        pnmf::fail("{} must be {}", "this", "caught");
    } catch (const pnmf::InputError& e) {
        std::cout << e.what() << '\n';
    }
}
