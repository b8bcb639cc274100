#include "cells/processes.hpp"

#include <pnmf/assess/embeddings.hpp>

#include <algorithm>

namespace pnmf {

Matrix Embeddings::on(int rank, Index t) const {
    if (divided_) {
        return parts_.on_one(t, rank);
    }
    return rank == communicator().rank() ? all_(t) : Matrix();
}

Matrix Embeddings::some(const Matrix& here, const std::vector<Index>& cells) const {
    if (!divided_) {
        return here(Eigen::all, cells);
    }
    const CellRange& held = parts_.held;
    const auto first = std::lower_bound(cells.begin(), cells.end(), held.first);
    const auto past = std::lower_bound(first, cells.end(), held.past());
    std::vector<Index> mine(first, past);
    for (Index& cell : mine) {
        cell -= held.first;
    }
    const Matrix columns = here(Eigen::all, mine);
    Communicator& ranks = communicator();
    const std::vector<Index> counts = gather_one<Index>(ranks, columns.size());
    const std::span<const double> numbers(columns.data(), static_cast<std::size_t>(columns.size()));
    const std::vector<double> all = gather_to_all(ranks, numbers, counts); // ranks hold ascending cells
    return Eigen::Map<const Matrix>(all.data(), columns.rows(), std::ssize(cells));
}

} // namespace pnmf
