#include "graphs/dense_graph.hpp"
#include "graphs/sparse_graph.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>

/// The graph of one scale, made and multiplied. Arguments: cells, percent of the pairs that are joined, rows
/// of H. Each benchmark compares its answer with the formula before it times it.

namespace pnmf {
namespace {

constexpr double alpha = 1.5;
constexpr Index features = 20;

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
    Random random(seed);
    return Matrix::NullaryExpr(rows, cols, [&] { return random.uniform(); });
}

/// A dense graph and the scale at which it has the wanted share of edges.
struct Problem {
    Problem(Index cells, double percent)
        : points(random_matrix(features, cells, 1)), graph(points, minimum_spanning_tree(points), alpha) {
        std::vector<double> lengths;
        for (Index j = 0; j < cells; ++j) {
            for (Index i = 0; i < j; ++i) {
                lengths.push_back(points.distance(i, j));
            }
        }
        std::sort(lengths.begin(), lengths.end());
        const double place = percent / 100.0 * static_cast<double>(lengths.size() - 1);
        epsilon = std::nextafter(lengths[static_cast<std::size_t>(place)], 1e300);
    }

    Points points;
    DenseMultiscaleGraph graph;
    double epsilon = 0.0;
};

void verify(const Problem& problem, const MultiscaleGraph::Scale& scale) {
    for (Index j = 0; j < problem.points.count(); j += 97) {
        double degree = 0.0;
        for (Index i = 0; i < problem.points.count(); ++i) {
            const double d = problem.points.distance(i, j);
            if (i != j && d < problem.epsilon) {
                degree += std::exp(-d * d / std::pow(problem.epsilon, alpha));
            }
        }
        require(std::abs(degree - scale.degrees()[j]) <= 1e-10 * (1.0 + degree),
                "cell {} has degree {}, the formula says {}", j, scale.degrees()[j], degree);
    }
}

void make_scale(benchmark::State& state) {
    const Problem problem(state.range(0), static_cast<double>(state.range(1)));
    verify(problem, *problem.graph.at(problem.epsilon));
    for (auto _ : state) {
        benchmark::DoNotOptimize(problem.graph.at(problem.epsilon));
    }
    const auto n = static_cast<double>(state.range(0));
    state.counters["ns/entry"] = benchmark::Counter(
        n * n * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class Real>
void multiply_scale(benchmark::State& state) {
    const Problem problem(state.range(0), static_cast<double>(state.range(1)));
    const auto scale = problem.graph.at(problem.epsilon);
    verify(problem, *scale);
    const DenseMatrix<Real> H = random_matrix(state.range(2), state.range(0), 2).cast<Real>();
    for (auto _ : state) {
        benchmark::DoNotOptimize(scale->times_adjacency(H));
    }
    state.counters["flop/s"] =
        benchmark::Counter(4.0 * static_cast<double>(scale->edges()) * static_cast<double>(state.range(2)),
                           benchmark::Counter::kIsIterationInvariantRate);
}

void scales(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"cells", "percent"})->Unit(benchmark::kMicrosecond);
    benchmark->ArgsProduct({{300, 1000, 3000}, {0, 1, 10, 50, 100}});
}

void products(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"cells", "percent", "rank"})->Unit(benchmark::kMicrosecond);
    benchmark->ArgsProduct({{300, 1000, 3000}, {1, 10, 100}, {20, 50}});
}

BENCHMARK(make_scale)->Apply(scales);
BENCHMARK(multiply_scale<double>)->Apply(products);
BENCHMARK(multiply_scale<float>)->Apply(products);

} // namespace
} // namespace pnmf

int main(int argc, char** argv) {
    pnmf::set_thread_count(1);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
