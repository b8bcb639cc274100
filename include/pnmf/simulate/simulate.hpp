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

/// Cells on the way from one start to several ends. `types` and `imbalance` of the cells are not looked at.
struct BranchesOptions {
    CellsOptions cells{.genes = 1000, .changed = 0.3, .depth = 5000.0, .dispersion = 0.3};
    Index ends = 3;   ///< where paths end, at least 1
    Index steps = 20; ///< places on a branch
};

/// A tree whose branches hold cells: a trunk from the start to the first fork, then branches to the ends.
struct BranchesModel {
    CellModel cells; ///< its types are the places on the branches
    /// Of each place: how far it is from the start, in branches; 0 at the start. The k-th of a branch's
    /// places is at (k + ½) / steps of it.
    std::vector<double> time;
    std::vector<Index> branch;               ///< of each place: 0 is the trunk
    std::vector<std::vector<Index>> reaches; ///< of each branch: the ends that can be reached from it
};

/// Draws the tree and the profiles of its nodes as `make_cell_model` does, with a trunk before the root. The
/// profile of a place lies between those of the nodes at both ends of its branch, on the log scale; all
/// places hold equally many cells on average. `simulate_cells(model.cells, …)` draws cells, whose types are
/// places.
BranchesModel make_branches_model(const BranchesOptions& options);

/// Data made up here, with what is known about them.
struct Simulated {
    Matrix X;                  ///< features × cells, nonnegative
    std::vector<Index> labels; ///< for each cell, the group it was drawn from, from 0
};

/// Concentric circles in 3-D (paper, section "Simulation Data Generation"); the defaults are the paper's.
struct CirclesOptions {
    std::vector<double> radii{5.0, 10.0, 20.0, 50.0}; ///< one circle for each, > 0
    Index points = 20;                                ///< on each circle, ≥ 1
    double noise = 0.5;           ///< standard deviation on each of the 3 coordinates, ≥ 0
    double minimum = 5.0;         ///< each coordinate is shifted so that its minimum is this, ≥ 0
    Index noise_dimensions = 97;  ///< features after the 3 coordinates that know nothing of the circles
    double noise_mean = 5.0;      ///< of those features, ≥ 0
    double noise_deviation = 1.0; ///< of those features, ≥ 0; negative draws are drawn again
    bool meet_ends =
        false; ///< spacing 2π/(points − 1), first and last at one angle, as in the published input
    std::uint64_t seed = 0;
};

/// Points evenly spaced on circles about one centre, each circle in a plane with a random normal.
/// Features × cells, (3 + noise_dimensions) × (circles · points), circle by circle in the order of the radii;
/// a point's label is its circle. Planes, points and noise have their own streams: changing the number of
/// noise dimensions leaves the circles as they are.
Simulated simulate_circles(const CirclesOptions& options = {});

/// Cells around a loop. `types` and `imbalance` of the cells are not looked at.
struct LoopCellsOptions {
    CellsOptions cells{.genes = 1000, .changed = 0.3, .fold = 0.7, .depth = 5000.0, .dispersion = 0.3};
    Index steps = 120; ///< places on the loop, all equally likely
};

/// What the cells are drawn from: its types are the places on the loop.
struct LoopModel {
    CellModel cells;
    std::vector<double> phase; ///< of each place, radians
};

/// A share of the genes goes up and down once around the loop: the logarithm of the expression of each is its
/// mean plus a·cos(φ − peak), with a normal amplitude a of deviation `fold` and a peak anywhere.
LoopModel make_loop_model(const LoopCellsOptions& options);

/// A tissue of layers that differ in how many cells of each type they have.
struct TissueOptions {
    CellsOptions cells{};
    Index layers = 4;
    double mixing =
        0.4; ///< in [0, 1]; share of the cells that lie in any layer, not in the one of their type
};

/// Cells, and where they are.
struct SimulatedTissue {
    SimulatedCells cells;
    std::vector<Index> layers{}; ///< of each cell, 0 … layers − 1
    Matrix places{}; ///< 2 × cells: anywhere in a square, of which layer l has the strip y ∈ [l, l + 1)
};

/// Type c has its home in layer c mod layers. InputError for options out of range.
SimulatedTissue simulate_tissue(const TissueOptions& options);

} // namespace pnmf
