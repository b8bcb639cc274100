#include "cells/processes.hpp"

#include <pnmf/assess/assess.hpp>

#include <algorithm>

namespace pnmf {

Matrix Embeddings::on(int process, Index t) const {
    if (local_) {
        return local_->on_one(t, process);
    }
    return process == all_processes().place() ? all_(t) : Matrix();
}

Matrix Embeddings::some(const Matrix& here, const std::vector<Index>& cells) const {
    if (!local_) {
        return here(Eigen::all, cells);
    }
    const CellRange& held = local_->cells;
    const auto first = std::lower_bound(cells.begin(), cells.end(), held.first);
    const auto past = std::lower_bound(first, cells.end(), held.past());
    std::vector<Index> mine(first, past);
    for (Index& cell : mine) {
        cell -= held.first;
    }
    const Matrix columns = here(Eigen::all, mine);
    Processes& processes = all_processes();
    const std::vector<Index> counts = gather_one<Index>(processes, columns.size());
    const std::span<const double> numbers(columns.data(), static_cast<std::size_t>(columns.size()));
    const std::vector<double> all =
        gather_to_all(processes, numbers, counts); // processes hold ascending cells
    return Eigen::Map<const Matrix>(all.data(), columns.rows(), std::ssize(cells));
}

} // namespace pnmf
