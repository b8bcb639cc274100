#include <pnmf/simulate/simulate.hpp>

#include "simulate/cell_tree.hpp"

#include <pnmf/error.hpp>

namespace pnmf {
namespace {

/// The same tree below a new root, which has the old one as its only child.
CellTree with_trunk(const CellTree& tree) {
    CellTree result{.parent = {-1}, .leaf = {}};
    for (const Index parent : tree.parent) {
        result.parent.push_back(parent + 1);
    }
    for (const Index leaf : tree.leaf) {
        result.leaf.push_back(leaf + 1);
    }
    return result;
}

} // namespace

BranchesModel make_branches_model(const BranchesOptions& options) {
    check_cells_options(options.cells);
    require(options.ends >= 1, "there must be at least 1 end, got {}", options.ends);
    require(options.steps >= 1, "a branch must have at least 1 place, got {}", options.steps);
    BranchesModel model;
    CellModel& cells = model.cells;
    cells.options = options.cells;
    cells.tree = with_trunk(random_cell_tree(options.ends, options.cells));
    const Matrix log_profile = node_log_profiles(cells.tree, options.cells);
    const Index branches = std::ssize(cells.tree.parent) - 1; // one above each node but the root
    const Index places = branches * options.steps;
    cells.options.types = places;
    cells.profile.resize(options.cells.genes, places);
    cells.proportions = Vector::Constant(places, 1.0 / static_cast<double>(places));
    std::vector<double> depth(cells.tree.parent.size(), 0.0);
    model.reaches.resize(static_cast<std::size_t>(branches));
    for (Index branch = 0; branch < branches; ++branch) {
        const Index node = branch + 1;
        const Index parent = cells.tree.parent[static_cast<std::size_t>(node)];
        depth[static_cast<std::size_t>(node)] = depth[static_cast<std::size_t>(parent)] + 1.0;
        for (Index step = 0; step < options.steps; ++step) {
            const double along = (static_cast<double>(step) + 0.5) / static_cast<double>(options.steps);
            cells.profile.col(branch * options.steps + step) =
                shares_of_genes((1.0 - along) * log_profile.col(parent) + along * log_profile.col(node));
            model.time.push_back(depth[static_cast<std::size_t>(parent)] + along);
            model.branch.push_back(branch);
        }
    }
    for (std::size_t end = 0; end < cells.tree.leaf.size(); ++end) {
        for (Index node = cells.tree.leaf[end]; node > 0;
             node = cells.tree.parent[static_cast<std::size_t>(node)]) {
            model.reaches[static_cast<std::size_t>(node - 1)].push_back(static_cast<Index>(end));
        }
    }
    return model;
}

} // namespace pnmf
