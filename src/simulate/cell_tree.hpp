#pragma once

#include <pnmf/linalg/random.hpp>
#include <pnmf/simulate/simulate.hpp>

namespace pnmf {

/// InputError unless the options make sense.
void check_cells_options(const CellsOptions& options);

/// Splits a leaf at random until there are so many.
CellTree random_cell_tree(Index leaves, const CellsOptions& options);

/// Log expression of each gene at each node, genes × nodes: the root's, plus the changes along the branches.
Matrix node_log_profiles(const CellTree& tree, const CellsOptions& options);

/// Shares of the genes from their log expression; they sum to 1.
inline Vector shares_of_genes(const Vector& log_profile) {
    const Vector shares = (log_profile.array() - log_profile.maxCoeff()).exp().matrix();
    return shares / shares.sum();
}

} // namespace pnmf
