#include <pnmf/solvers/fit.hpp>
#include <pnmf/version.hpp>

#include <iostream>

/// Fits with the library's core alone: no file formats, no page.
int main() {
    pnmf::Matrix X(2, 6);              // two features, six cells in two groups
    X << 1.0, 1.1, 1.2, 4.9, 5.1, 5.3, //
        4.0, 4.2, 4.1, 1.0, 1.2, 1.1;
    const auto result = pnmf::fit<double>(X, {.rank = 2});
    std::cout << "scales: " << result.scales.size() << '\n' << "version: " << PNMF_VERSION << '\n';
}
