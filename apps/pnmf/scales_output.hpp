#pragma once

#include <pnmf/scales/scale_set.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pnmf::cli {

/// What `pnmf scales` found.
struct ScalesResult {
    std::string metric;
    std::string strategy;
    std::uint64_t seed = 0;
    SpanningTree tree;
    ScaleSet scales;
    std::vector<Index> edges; ///< pairs at distance < ε, for each scale
    Index available = 0;      ///< scales before --max-scales
};

/// A line for each scale, finest first.
std::string to_table(const ScalesResult& result);

/// Keys cells, duplicates, metric, strategy, seed, available, largest_distance, and the arrays epsilon,
/// multiplicity, betti0, edges, finest first.
std::string to_json_text(const ScalesResult& result);

/// InputError unless FILE ends in .json or .csv.
void check_scales_file(const std::string& file);

/// .json: the keys above, `diagram` (pairs [birth, death]; the last component never dies: null) and
/// `merge_tree` (rows [left, right, height, size], as SciPy's linkage). .csv: one line for each scale.
void write_scales_file(const ScalesResult& result, const std::string& file);

} // namespace pnmf::cli
