#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/fit.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <string>

/// What of the machine's own matrix products is left in a sweep of `stationary`, dense data:
///
///     bench_sweep_rate [GENES CELLS RANK]
///
/// A sweep multiplies X by every Hᵀ and every Wᵀ by X: 4·p·n·d·T operations, and does all else on top of
/// them. Prints the rate of a sweep by this count, and that of the products alone: of p × n × d, one for each
/// scale on every thread at once, and of stacked scales. The objective of the last sweep is computed anew
/// first.

namespace pnmf {
namespace {

double seconds_of(const std::function<void()>& work) {
    const auto began = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// The best of some runs: what the machine can do.
double fastest(const std::function<void()>& work) {
    double best = seconds_of(work);
    for (int run = 0; run < 4; ++run) {
        best = std::min(best, seconds_of(work));
    }
    return best;
}

Matrix uniform(Index rows, Index cols, Random& random) {
    return Matrix::NullaryExpr(rows, cols, [&] { return random.uniform(); });
}

template <class Real>
void measure(const Matrix& data, Index rank) {
    const Index sweeps = 6;
    const FitOptions options{.rank = rank,
                             .solver = {.tolerance = 0.0, .max_sweeps = sweeps, .device = Device::cpu},
                             .start = Start::broadcast};
    const PreparedFit<Real> prepared = prepare_fit<Real>(DataView(view_of(data)), options);
    const Problem<Real> problem = prepared.problem();
    auto state = start_solver(problem, options.solver, make_start(prepared));
    std::vector<double> times;
    auto last = std::chrono::steady_clock::now();
    const auto note = [&](const SweepReport& report) {
        const auto now = std::chrono::steady_clock::now();
        if (report.sweep > 1) { // the first brings memory in
            times.push_back(std::chrono::duration<double>(now - last).count());
        }
        last = now;
        return true;
    };
    run_solver(problem, options.solver, state, {.sweep = note});
    const double claimed = state.trace.back().total();
    const double evaluated = objective(problem, state.current).total();
    if (std::abs(claimed - evaluated) > (sizeof(Real) == 4 ? 1e-4 : 1e-9) * evaluated) {
        fmt::print("the objective is {}, not {}: no rate is given\n", evaluated, claimed);
        std::exit(1);
    }
    std::sort(times.begin(), times.end());
    const double sweep = times[times.size() / 2];

    const Index T = problem.scales();
    const Index stacked = std::min<Index>(32, T);
    const double flops =
        4.0 * static_cast<double>(data.rows()) * static_cast<double>(data.cols()) * static_cast<double>(rank);
    std::vector<DenseMatrix<Real>> XHt(static_cast<std::size_t>(T));
    std::vector<DenseMatrix<Real>> WtX(static_cast<std::size_t>(T));
    const double narrow = fastest([&] {
        parallel_for(T, [&](Index t) {
            XHt[t] = problem.X->times_transposed(state.current.H[t]);
            WtX[t] = problem.X->transposed_times(state.current.W[t]);
        });
    });
    DenseMatrix<Real> H(rank * stacked, data.cols());
    DenseMatrix<Real> W(data.rows(), rank * stacked);
    for (Index t = 0; t < stacked; ++t) {
        H.middleRows(t * rank, rank) = state.current.H[t];
        W.middleCols(t * rank, rank) = state.current.W[t];
    }
    const Index stacks = std::min<Index>(thread_count(), T); // one for each thread at a time
    const double wide = fastest([&] {
        parallel_for(stacks, [&](Index i) {
            XHt[i] = problem.X->times_transposed(H);
            WtX[i] = problem.X->transposed_times(W);
        });
    });
    const double rate_sweep = flops * static_cast<double>(T) / sweep / 1e9;
    const double rate_narrow = flops * static_cast<double>(T) / narrow / 1e9;
    const double rate_wide = flops * static_cast<double>(stacked * stacks) / wide / 1e9;
    fmt::print(
        "| {} x {}, rank {}, {} scales | {} | {:.2f} s | {:.1f} | {:.1f} | {:.1f} | {:.0f} % | {:.0f} % |\n",
        data.rows(), data.cols(), rank, T, sizeof(Real) == 4 ? "float" : "double", sweep, rate_sweep,
        rate_narrow, rate_wide, 100.0 * rate_sweep / rate_narrow, 100.0 * rate_sweep / rate_wide);
}

} // namespace
} // namespace pnmf

int main(int argc, char** argv) {
    using namespace pnmf;
    const auto number = [&](int i, Index otherwise) {
        return argc > i ? Index{std::atol(argv[i])} : otherwise;
    };
    Random random(1);
    const Index genes = number(1, 15410);
    const Index cells = number(2, 384);
    const Index rank = number(3, 20);
    Matrix data = uniform(genes, rank, random) * uniform(rank, cells, random);
    data += 0.1 * uniform(genes, cells, random);
    fmt::print("| data | numbers | a sweep | GF/s of a sweep | of its products alone | of 32 scales stacked "
               "| share | share of stacked |\n"
               "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    measure<double>(data, rank);
    measure<float>(data, rank);
}
