#pragma once

#include <pnmf/assess/paths.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/types.hpp>

#include <string>
#include <vector>

namespace pnmf {

/// Where paths begin and end.
struct PathRequest {
    std::string root;                     ///< the name of a cell, or of a group: its central cell
    std::vector<std::string> ends{};      ///< groups where paths end; empty: found (`end_clusters`)
    std::string groups = "pnmf_clusters"; ///< a column of the table of cells
    FateOptions fates{};
};

/// Paths of a stored fit; cells are those of its file, in their order.
struct StoredPaths {
    Index root = 0;                ///< the cell they begin at
    std::vector<std::string> ends; ///< groups they end in
    Vector time;                   ///< of each cell, 0 at the root, 1 at the farthest
    Fates fates;                   ///< ends × cells
    std::vector<Index> group;      ///< of each cell, positions among
    std::vector<std::string> group_names;
};

/// `path_times` and `fates` along the multi-scale graph of a fit. The graph is made again from the space of
/// the fit, or, where it had none, from its data, cells in the order of the result. InputError for a root or
/// an end that is neither, with those there are, for a column that is not there, for a result that has lost
/// cells, and where the data are needed and missing.
StoredPaths find_paths(const StoredResult& result, const PathRequest& request, const Dataset* data = nullptr);

} // namespace pnmf
