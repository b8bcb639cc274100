#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pnmf {

/// Negative-binomial single-cell counts with a tree of cell types.
struct CellsOptions {
    Index cells = 1000;
    Index genes = 2000;
    Index types = 8;           ///< leaves of the tree
    double imbalance = 0.5;    ///< ≥ 0; log-normal deviation of the sizes of the types, 0: equal on average
    double gene_spread = 1.5;  ///< ≥ 0; log-normal deviation of the genes' mean expression
    double changed = 0.1;      ///< in [0, 1]; share of genes that change along a branch of the tree
    double fold = 1.0;         ///< ≥ 0; deviation of their log-fold changes
    double depth = 1000.0;     ///< > 0; median counts of a cell, before dropout
    double depth_spread = 0.3; ///< ≥ 0; log-normal deviation of the cells' library sizes
    double dispersion = 0.5;   ///< φ > 0; a count of mean μ has the variance μ + φμ²
    double dropout = 0.0; ///< ≥ 0; the mean at which half of a gene's cells lose it: P(lost) = m / (m + μ)
    std::uint64_t seed = 0;
};

/// A rooted binary tree of cell types. Node 0 is the root; parents come before their children.
struct CellTree {
    std::vector<Index> parent; ///< of each node, −1 for the root
    std::vector<Index> leaf;   ///< the node of each type
};

/// What the cells are drawn from.
struct CellModel {
    CellsOptions options;
    CellTree tree;
    Matrix profile; ///< genes × types, the expected share of each gene in a cell's counts; columns sum to 1
    Vector proportions; ///< of the types, sums to 1
};

/// Draws tree, profiles and proportions. The profile of a type is the root's plus the changes along its
/// branches, on the log scale.
CellModel make_cell_model(const CellsOptions& options);

struct SimulatedCells {
    SparseMatrix<double> counts; ///< genes × cells of the block
    std::vector<Index> types;    ///< of each cell of the block, 0 … types − 1
};

/// Cells [begin, end) of the model. Each cell has its own stream, so blocks of any size, made in any order
/// and with any number of threads, hold the same cells: a data set need never be in memory.
///
/// Cost O(counts), not O(genes): a negative binomial is a Poisson number of logarithmic clusters (Quenouille
/// 1949), those of all genes together form one Poisson process, and a process of rate μ thinned by
/// log(1 + φμ)/(φμ) is theirs.
SimulatedCells simulate_cells(const CellModel& model, Index begin, Index end);

/// The tree in Newick format, leaves named "type1", ….
std::string newick(const CellTree& tree);

} // namespace pnmf
