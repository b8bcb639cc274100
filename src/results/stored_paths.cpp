#include <pnmf/results/stored_result.hpp>

#include "io/formats.hpp"
#include "linalg/some_columns.hpp"
#include "solvers/choose_device.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>

#include <algorithm>
#include <map>

namespace pnmf {
namespace {

/// Groups of the cells of the file.
struct Groups {
    std::vector<std::string> names;
    std::vector<Index> of_cell;
};

Groups groups_of(const StoredResult& result, const std::string& name) {
    std::vector<std::string> columns;
    for (const TableColumn& column : result.file.cell_table) {
        const auto* values = std::get_if<std::vector<std::string>>(&column.values);
        if (values == nullptr) {
            continue;
        }
        if (column.name != name) {
            columns.push_back(column.name);
            continue;
        }
        Groups groups{.names = column.categories, .of_cell = {}};
        std::map<std::string, Index> place;
        for (std::size_t c = 0; c < groups.names.size(); ++c) {
            place.emplace(groups.names[c], static_cast<Index>(c));
        }
        for (const std::string& value : *values) {
            const auto [found, is_new] = place.emplace(value, std::ssize(groups.names));
            if (is_new) {
                groups.names.push_back(value);
            }
            groups.of_cell.push_back(found->second);
        }
        return groups;
    }
    fail("{}: there is no column '{}' of groups; there are {}", result.name, name,
         columns.empty() ? "none" : io::abbreviate(columns, 20));
}

std::optional<Index> place_of(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? std::nullopt : std::optional<Index>(found - names.begin());
}

std::vector<Index> cells_of(const Groups& groups, Index group) {
    std::vector<Index> cells;
    for (std::size_t j = 0; j < groups.of_cell.size(); ++j) {
        if (groups.of_cell[j] == group) {
            cells.push_back(static_cast<Index>(j));
        }
    }
    return cells;
}

/// The points that the graphs of the fit were made from, in its order.
Points points_of_fit(const StoredResult& result, const FitOptions& fit, const Dataset* data) {
    if (result.space) {
        return Points(DataView(view_of(result.space->coordinates)), fit.filtration.metric);
    }
    require(data != nullptr,
            "{}: the fit took its distances from the values that it factorised: paths need "
            "these data",
            result.name);
    require(data->cells() == result.cells(), "the fit had {} cells, its data have {}", result.cells(),
            data->cells());
    const Points points =
        std::visit([&](const auto& X) { return Points(X, fit.filtration.metric); }, data->X);
    if (result.order.position.empty()) {
        return points;
    }
    return points.subset(inverse(result.order.position));
}

/// The edges of the graphs, with the cells of the file.
NeighborLists lists_of(const StoredResult& result, const FitOptions& fit, const Dataset* data) {
    const Points points = points_of_fit(result, fit, data);
    require(fit.filtration.neighbors || points.count() <= largest_set_of_pairs,
            "all pairs of {} cells do not fit (at most {}): a fit with a graph of nearest neighbours does",
            points.count(), largest_set_of_pairs);
    FiltrationOptions options = fit.filtration;
    options.scales = {};
    const auto searcher = searcher_for_stored(points, options);
    std::vector<Edge> edges =
        edges_of(points, tree_and_scales(points, options, fit.seed, searcher.get())).edges;
    if (!result.order.position.empty()) {
        const std::vector<Index> here = inverse(result.order.position);
        for (Edge& edge : edges) {
            const Index i = here[static_cast<std::size_t>(edge.i)];
            const Index j = here[static_cast<std::size_t>(edge.j)];
            edge.i = std::min(i, j);
            edge.j = std::max(i, j);
        }
    }
    return symmetric_lists(points.count(), std::move(edges));
}

/// Positions of the groups that are asked for.
std::vector<Index> ends_of(const PathRequest& request, const Groups& groups) {
    std::vector<Index> ends;
    for (const std::string& name : request.ends) {
        const std::optional<Index> place = place_of(groups.names, name);
        require(place.has_value() && !cells_of(groups, *place).empty(),
                "'{}' is no group of '{}', there are {}", name, request.groups,
                io::abbreviate(groups.names, 20));
        require(std::find(ends.begin(), ends.end(), *place) == ends.end(), "the end '{}' is named twice",
                name);
        ends.push_back(*place);
    }
    return ends;
}

Index root_of(const StoredResult& result, const PathRequest& request, const Groups& groups,
              const PathScales& scales) {
    if (const auto cell = place_of(result.file.cell_names, request.root)) {
        return *cell;
    }
    const auto group = place_of(groups.names, request.root);
    require(group.has_value() && !cells_of(groups, *group).empty(),
            "the root '{}' is neither a cell nor a group of '{}', there are {}", request.root, request.groups,
            io::abbreviate(groups.names, 20));
    return central_cell(cells_of(groups, *group), scales, [&](Index t) { return result.H(t); });
}

} // namespace

StoredPaths find_paths(const StoredResult& result, const PathRequest& request, const Dataset* data) {
    require_whole(result, "the graph is that");
    require(!result.epsilon.empty(), "{}: the result has no scales, and no graph to follow", result.name);
    const FitOptions fit = result.options();
    const Groups groups = groups_of(result, request.groups);
    std::vector<Index> ends = ends_of(request, groups);
    const PathScales scales{
        .epsilon = result.epsilon, .weight = result.scale_weight, .alpha = fit.filtration.alpha};
    StoredPaths paths;
    paths.root = root_of(result, request, groups, scales);
    const PathGraph graph =
        path_graph(lists_of(result, fit, data), scales, [&](Index t) { return result.H(t); });
    paths.time = path_times(graph, paths.root);
    if (ends.empty()) {
        ends = end_clusters(graph, groups.of_cell, paths.root);
    }
    std::vector<std::vector<Index>> cells;
    for (const Index end : ends) {
        cells.push_back(late_cells(paths.time, groups.of_cell, end));
        paths.ends.push_back(groups.names[static_cast<std::size_t>(end)]);
    }
    paths.fates = fates(graph, paths.time, cells, request.fates);
    paths.group = groups.of_cell;
    paths.group_names = groups.names;
    return paths;
}

} // namespace pnmf
