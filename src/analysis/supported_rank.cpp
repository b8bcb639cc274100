#include "analysis/supported_rank.hpp"

#include "cells/io/local_cells.hpp"
#include "io/local_values.hpp"
#include "linalg/lanczos.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/random.hpp>

#include <algorithm>

namespace pnmf {
namespace {

constexpr Index most_cells = 2000;

/// Some cells, whole on every process, sparse.
SparseMatrix<double> sample_of(const Dataset& data) {
    const std::vector<Index> chosen = evenly_spaced(most_cells, data.cells());
    const CellRange held = io::local_cells(data);
    const auto first = std::lower_bound(chosen.begin(), chosen.end(), held.first);
    const auto past = std::lower_bound(first, chosen.end(), held.past());
    Triplets<double> entries;
    for (auto cell = first; cell != past; ++cell) {
        io::for_each_value(data, *cell - held.first, *cell - held.first + 1, [&](Index, Index i, double x) {
            if (x != 0.0) {
                entries.row.push_back(static_cast<std::int32_t>(i));
                entries.col.push_back(static_cast<std::int32_t>(cell - first));
                entries.value.push_back(x);
            }
        });
    }
    Dataset sample;
    sample.X = to_columns(data.features(), past - first, entries);
    sample.cell_names.resize(chosen.size());
    if (data.local) {
        sample.local = CellRange{first - chosen.begin(), past - first, std::ssize(chosen)};
        gather_values(sample, GatherTo::everyone);
    }
    return std::move(std::get<SparseMatrix<double>>(sample.X));
}

bool all_are_equal(const SparseMatrix<double>& genes) {
    constexpr double rounding = 1e-12;
    double squares = 0.0;
    double of_means = 0.0;
    for (Index i = 0; i < genes.cols; ++i) {
        double sum = 0.0;
        for (auto e = genes.start[i]; e < genes.start[i + 1]; ++e) {
            sum += genes.value[e];
            squares += genes.value[e] * genes.value[e];
        }
        of_means += sum * sum / static_cast<double>(genes.rows);
    }
    return squares - of_means <= rounding * squares;
}

/// The same values of each gene, in cells drawn at random.
SparseMatrix<double> without_structure(const SparseMatrix<double>& genes) {
    Triplets<double> entries;
    for (Index i = 0; i < genes.cols; ++i) {
        const auto begin = genes.start[i];
        const Index count = genes.start[i + 1] - begin;
        const std::vector<Index> where =
            random_sample(genes.rows, count, Random(0).fork(static_cast<std::uint64_t>(i)));
        for (Index e = 0; e < count; ++e) {
            entries.row.push_back(static_cast<std::int32_t>(i));
            entries.col.push_back(static_cast<std::int32_t>(where[static_cast<std::size_t>(e)]));
            entries.value.push_back(genes.value[begin + e]);
        }
    }
    return to_columns(genes.cols, genes.rows, entries);
}

/// The sums of squares of the centred cells along their first principal directions, roughly: they are
/// counted.
Vector leading_squares(const SparseMatrix<double>& cells, Index count) {
    constexpr double tolerance = 1e-3;
    const DataMatrix<double> X(view_of(cells));
    const auto n = static_cast<double>(X.cells());
    const Vector mean = X.times_transposed(Matrix::Constant(1, X.cells(), 1.0)) / n;
    const auto scatter = [&](const double* in, double* out) {
        const Eigen::Map<const Vector> y(in, mean.size());
        Eigen::Map<Vector>(out, mean.size()) =
            X.times_transposed(X.transposed_times(y)) - n * mean * mean.dot(y);
    };
    const Matrix directions = leading_eigenvectors(mean.size(), scatter, count, tolerance);
    Matrix coordinates = X.transposed_times(directions);
    coordinates.colwise() -= directions.transpose() * mean;
    return coordinates.rowwise().squaredNorm();
}

} // namespace

Index supported_rank(const Dataset& data, Index most) {
    most = std::min(most, data.features());
    if (most < 2 || data.cells() < 3) {
        return 1;
    }
    const SparseMatrix<double> cells = sample_of(data);
    const SparseMatrix<double> genes = transpose(cells);
    if (all_are_equal(genes)) {
        return 1;
    }
    const double chance = leading_squares(without_structure(genes), 1)[0];
    const Vector found = leading_squares(cells, most - 1);
    return 1 + std::count_if(found.begin(), found.end(), [&](double one) { return one > chance; });
}

} // namespace pnmf
