#include "analysis/within.hpp"

#include "io/formats.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/preparation.hpp>
#include <pnmf/results/stored_result.hpp>

#include <algorithm>
#include <unordered_set>

namespace pnmf {
namespace {

/// RESULT:COLUMN=CLUSTER in its parts.
struct ClusterOfResult {
    std::string result;
    std::string column = "pnmf_clusters";
    std::string cluster;
};

ClusterOfResult parts_of(const std::string& where) {
    const std::size_t colon = where.rfind(':');
    require(colon != std::string::npos && colon > 0 && colon + 1 < where.size(),
            "a cluster of a result is RESULT:CLUSTER or RESULT:COLUMN=CLUSTER, got '{}'", where);
    ClusterOfResult parts{.result = where.substr(0, colon), .cluster = where.substr(colon + 1)};
    if (const std::size_t equals = parts.cluster.find('='); equals != std::string::npos) {
        parts.column = parts.cluster.substr(0, equals);
        parts.cluster = parts.cluster.substr(equals + 1);
    }
    return parts;
}

/// The clusters that there are, in their order.
std::string names_of_clusters(const TableColumn& column, const std::vector<std::string>& values) {
    std::vector<std::string> names = column.categories;
    if (names.empty()) {
        names = values;
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
    }
    return io::abbreviate(names);
}

/// The names of the cells of the cluster.
std::unordered_set<std::string> cells_of_cluster(const ClusterOfResult& wanted) {
    const StoredResult result = read_stored_result(wanted.result);
    const TableColumn* const column = io::find_column(result.file.cell_table, wanted.column);
    require(column != nullptr && std::holds_alternative<std::vector<std::string>>(column->values),
            "{}: obs has no column of names '{}'", result.name, wanted.column);
    const auto& values = std::get<std::vector<std::string>>(column->values);
    std::unordered_set<std::string> cells;
    for (std::size_t j = 0; j < values.size(); ++j) {
        if (values[j] == wanted.cluster) {
            require(cells.insert(result.file.cell_names[j]).second,
                    "{}: two cells of the cluster '{}' are called '{}', so that they cannot be told",
                    result.name, wanted.cluster, result.file.cell_names[j]);
        }
    }
    require(!cells.empty(), "{}: obs/{} has no cluster '{}'; there are {}", result.name, wanted.column,
            wanted.cluster, names_of_clusters(*column, values));
    return cells;
}

} // namespace

void keep_cluster(Dataset& data, const std::string& where) {
    const ClusterOfResult wanted = parts_of(where);
    const std::unordered_set<std::string> cells = cells_of_cluster(wanted);
    std::vector<bool> keep;
    std::unordered_set<std::string> found;
    for (const std::string& name : data.cell_names) {
        keep.push_back(cells.contains(name));
        require(!keep.back() || found.insert(name).second,
                "two cells are called '{}', so that those of a cluster cannot be told", name);
    }
    require(found.size() == cells.size(), "{} of the {} cells of {} are not in the data",
            cells.size() - found.size(), cells.size(), where);
    data.notices.push_back(fmt::format("cluster {} of {}: {} of {} cells", wanted.cluster, wanted.result,
                                       cells.size(), keep.size()));
    io::keep_cells(data, keep);
    data.input.steps.push_back({.name = step::within,
                                .names = {wanted.result, wanted.column, wanted.cluster},
                                .count = static_cast<double>(cells.size())});
}

} // namespace pnmf
