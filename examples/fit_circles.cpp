#include <pnmf/simulate/circles.hpp>
#include <pnmf/solvers/fit.hpp>

#include <cstdio>

/// Fits the paper's four circles at nine of their scales and prints what became of the rings.
int main() {
    const pnmf::Matrix X = pnmf::simulate_circles().X; // features × cells
    pnmf::FitOptions options{.rank = 2, .penalty = {.graph = 100.0, .smoothness = 100.0, .anchor = 0.1}};
    options.scales.max_scales = 9;
    const auto result = pnmf::fit<double>(X, options);
    std::printf("scale  epsilon  components  effective rank\n");
    for (pnmf::Index t = 0; t < result.scales.size(); ++t) {
        std::printf("%5td  %7.2f  %10td  %14.1f\n", t + 1, result.scales.epsilon[t], result.scales.betti0[t],
                    result.effective_rank[t]);
    }
}
