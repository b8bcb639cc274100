#include "run/split_space.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/pca.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

constexpr Index components = 30;

DataMatrix<double> matrix_of(const DataView& X, const std::optional<CellRange>& local) {
    return std::visit(
        [&](const auto& view) { return local ? DataMatrix<double>(view, *local) : DataMatrix<double>(view); },
        X);
}

Matrix dense_of(const DataView& X) {
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        return *dense;
    }
    return to_dense(std::get<SparseView<double>>(X));
}

/// The first components of X; one place where all cells are equal.
Matrix coordinates_of(const DataView& X, const std::optional<CellRange>& local) {
    const DataMatrix<double> data = matrix_of(X, local);
    if (data.features() <= components) {
        return dense_of(X);
    }
    try {
        return component_space(data, components).coordinates;
    } catch (const InputError&) {
        return Matrix::Zero(1, data.local().count);
    }
}

/// The logarithm of how many features each cell expresses.
Matrix depth_of(const DataView& X) {
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        return (dense->array() != 0.0).cast<double>().colwise().sum().max(1.0).log();
    }
    const auto& sparse = std::get<SparseView<double>>(X);
    Matrix depth(1, sparse.cols);
    for (Index j = 0; j < sparse.cols; ++j) {
        depth(0, j) = std::log(std::max(1.0, static_cast<double>(sparse.start[j + 1] - sparse.start[j])));
    }
    return depth;
}

Embeddings of_cells(const Matrix& values, const std::optional<CellRange>& local) {
    const auto here = [&values](Index) { return values; };
    if (!local) {
        return Embeddings(here);
    }
    return Embeddings(LocalEmbeddings{
        .cells = *local, .here = here, .on_one = [](Index, int) { return Matrix(); }}); // nobody asks
}

} // namespace

std::unique_ptr<SplitSpace> split_space(const DataView& X, const Matrix* space,
                                        const std::optional<CellRange>& local) {
    auto result = std::make_unique<SplitSpace>();
    result->depth = depth_of(X);
    if (space == nullptr) {
        result->made = coordinates_of(X, local);
    }
    result->evidence.emplace(SplitEvidence{.space = of_cells(space != nullptr ? *space : result->made, local),
                                           .depth = of_cells(result->depth, local)});
    return result;
}

} // namespace pnmf
