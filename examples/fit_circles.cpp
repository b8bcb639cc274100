#include <pnmf/run/run.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <cstdio>

/// Fits the paper's four circles at all their scales: from two dimensions to a line as the rings join.
int main() {
    const pnmf::DataValues X = pnmf::simulate_circles().X; // features × cells
    pnmf::FitOptions options;
    options.rank = 2;
    options.penalty = {.graph = 100.0, .smoothness = 100.0, .anchor = 0.1};
    const auto run = pnmf::run_fit<double>(X, {.fit = options, .clusters = 4});
    const pnmf::FitResult<double>& result = run.result;
    std::printf("scale  epsilon  components  effective rank\n");
    for (pnmf::Index t = 9; t < result.scales.size(); t += 10) {
        std::printf("%5td  %7.2f  %10td  %14.1f\n", t + 1, result.scales.epsilon[t], result.scales.betti0[t],
                    result.effective_rank[t]);
    }
    const pnmf::Matrix& embedding = run.embedding(); // rank × cells
    std::printf("embedding at the recommended scale: %td x %td\n", embedding.rows(), embedding.cols());
}
