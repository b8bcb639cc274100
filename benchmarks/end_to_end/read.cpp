// bench_read FILE REPEATS: reads a data set, prints what it read and the seconds each time took, as JSON.
// The checksum depends on every value and its place, so that another reader can be compared before it is
// timed.

#include <pnmf/io/dataset.hpp>

#include <fmt/ranges.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace {

double weight(pnmf::Index feature, pnmf::Index cell) {
    return static_cast<double>((feature % 97 + 1) * (cell % 89 + 1));
}

double checksum(const pnmf::Dataset& data) {
    double sum = 0.0;
    if (const auto* sparse = std::get_if<pnmf::SparseMatrix<double>>(&data.X)) {
        for (pnmf::Index j = 0; j < sparse->cols; ++j) {
            for (auto e = sparse->start[j]; e < sparse->start[j + 1]; ++e) {
                sum += sparse->value[e] * weight(sparse->row[e], j);
            }
        }
        return sum;
    }
    const auto& dense = std::get<pnmf::Matrix>(data.X);
    for (pnmf::Index j = 0; j < dense.cols(); ++j) {
        for (pnmf::Index i = 0; i < dense.rows(); ++i) {
            sum += dense(i, j) * weight(i, j);
        }
    }
    return sum;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: bench_read FILE REPEATS\n";
        return 2;
    }
    try {
        using Clock = std::chrono::steady_clock;
        std::vector<double> seconds;
        pnmf::Dataset data;
        for (int repeat = 0; repeat < std::atoi(argv[2]); ++repeat) {
            data = {};
            const auto begin = Clock::now();
            data = pnmf::read_dataset(argv[1]);
            seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
        }
        fmt::print("{{\"features\": {}, \"cells\": {}, \"checksum\": {:.17g}, \"columns\": {}, \"seconds\": "
                   "[{}]}}\n",
                   data.features(), data.cells(), checksum(data), data.cell_table.size(),
                   fmt::join(seconds, ", "));
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
    return 0;
}
