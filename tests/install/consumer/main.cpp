#include <pnmf/error.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/solvers/fit.hpp>

#include <iostream>

/// Uses the library through its installed headers only, and prints what the test expects.
int main() {
    pnmf::Matrix X(1, 4); // one feature, four cells on a line
    X << 0.0, 1.0, 3.0, 7.0;
    const auto tree = pnmf::minimum_spanning_tree(pnmf::Points(X));
    const auto diagram = pnmf::h0_diagram(tree);
    for (const double death : diagram.deaths) {
        std::cout << "(0, " << death << ")\n";
    }
    std::cout << "components at 2.5: " << pnmf::betti0(diagram, 2.5) << '\n';
    try {
        pnmf::Points::from_distances(pnmf::Matrix::Ones(2, 2));
    } catch (const pnmf::InputError& e) {
        std::cout << "rejected\n";
    }
}
