#include "report/cells.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>
#include <pnmf/metrics/clustering_scores.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace pnmf::report {
namespace {

constexpr std::size_t most_columns = 40;
constexpr std::size_t most_categories = 65535;
constexpr std::size_t most_unused_categories = 256;

/// Texts as positions in a list of the different ones: in the column's own order, else by name; missing last.
/// Categories that no cell has keep their place, so that the others keep their colours in a page of some
/// cells.
Json add_categories(Payload& payload, const std::string& array, const TableColumn& column,
                    const std::vector<std::string>& values) {
    std::map<std::string, std::uint16_t> place;
    std::vector<std::string> categories;
    const auto add = [&](const std::string& name) {
        if (place.emplace(name, static_cast<std::uint16_t>(categories.size())).second) {
            categories.push_back(name);
        }
    };
    const std::map<std::string, int> present = [&] {
        std::map<std::string, int> found;
        for (const std::string& value : values) {
            ++found[value];
        }
        return found;
    }();
    const bool few = column.categories.size() <= most_unused_categories;
    for (const std::string& name : column.categories) {
        if (few || present.count(name) > 0) {
            add(name);
        }
    }
    for (const auto& [name, count] : present) {
        if (!name.empty() && categories.size() < most_categories) {
            add(name);
        }
    }
    if (present.count("") > 0 || present.size() > most_categories) {
        add("");
    }
    std::vector<std::uint16_t> codes;
    codes.reserve(values.size());
    for (const std::string& value : values) {
        const auto found = place.find(value);
        codes.push_back(found == place.end() ? place.at("") : found->second);
    }
    payload.add("core", array, codes);
    return {{"name", column.name}, {"categories", categories}};
}

/// Those that Scanpy keeps for the categories of a column, where there is one for each.
void add_colours(Json& one, const TableColumn& column, const AnnDataMap& uns) {
    const AnnDataValue* found = find(uns, column.name + "_colors");
    const auto* colours = found == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&found->value);
    if (colours == nullptr || colours->size() != column.categories.size()) {
        return;
    }
    const auto is_colour = [](const std::string& text) {
        return (text.size() == 7 || text.size() == 9) && text.front() == '#' &&
               text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
    };
    if (std::all_of(colours->begin(), colours->end(), is_colour)) {
        one["colours"] = Json::object();
        for (std::size_t i = 0; i < colours->size(); ++i) {
            one["colours"][column.categories[i]] = (*colours)[i].substr(0, 7); // no opacity
        }
    }
}

Json add_numbers(Payload& payload, const std::string& array, const TableColumn& column,
                 const std::vector<double>& values) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double value : values) {
        if (std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    std::vector<std::uint8_t> codes; // 0 is missing
    for (const double value : values) {
        const double share = high > low ? (value - low) / (high - low) : 0.5;
        codes.push_back(std::isfinite(value) ? static_cast<std::uint8_t>(1 + std::lround(254.0 * share)) : 0);
    }
    payload.add("core", array, codes);
    return {{"name", column.name}, {"from", low <= high ? Json(low) : Json(nullptr)}, {"to", high}};
}

/// Label columns to judge the clusters by: categories that are neither one nor nearly as many as cells.
std::vector<const TableColumn*> label_columns(const StoredResult& result) {
    std::vector<const TableColumn*> columns;
    for (const TableColumn& column : result.file.cell_table) {
        const auto* values = std::get_if<std::vector<std::string>>(&column.values);
        if (values == nullptr || column.name.starts_with("pnmf")) {
            continue;
        }
        const std::vector<Index> labels = relabel(*values);
        const Index count = *std::max_element(labels.begin(), labels.end()) + 1;
        if (count > 1 && 2 * count <= result.cells()) {
            columns.push_back(&column);
        }
    }
    std::stable_partition(columns.begin(), columns.end(), [](const auto* c) { return c->name == "label"; });
    columns.resize(std::min<std::size_t>(columns.size(), 3));
    return columns;
}

Json label_scores(const StoredResult& result, const std::vector<std::vector<Index>>& clusters) {
    Json all = Json::array();
    for (const TableColumn* column : label_columns(result)) {
        const std::vector<Index> labels = relabel(std::get<std::vector<std::string>>(column->values));
        Json ari = Json::array();
        Json nmi = Json::array();
        for (const auto& at_scale : clusters) {
            ari.push_back(adjusted_rand_index(labels, at_scale));
            nmi.push_back(normalized_mutual_information(labels, at_scale));
        }
        const auto missing = std::count(labels.begin(), labels.end(), unlabelled);
        all.push_back({{"column", column->name}, {"missing", missing}, {"ari", ari}, {"nmi", nmi}});
    }
    return all;
}

/// What the graphs of the fit were made from, cells in the order of the file.
Points points_of(const StoredResult& result, const Dataset& data, Metric metric) {
    if (!result.space) {
        return std::visit([&](const auto& X) { return Points(X, metric); }, data.X);
    }
    const Matrix& all = result.space->coordinates;
    return Points(result.order.position.empty() ? all : Matrix(all(Eigen::all, result.order.position)),
                  metric);
}

} // namespace

void align_labels(std::vector<Index>& labels, const std::vector<Index>& before, Index count) {
    Matrix cost = Matrix::Zero(count, count);
    for (std::size_t j = 0; j < labels.size(); ++j) {
        cost(labels[j], before[j]) -= 1.0;
    }
    const std::vector<Index> name = optimal_assignment(cost);
    for (Index& label : labels) {
        label = name[static_cast<std::size_t>(label)];
    }
}

void add_columns(Payload& payload, const StoredResult& result) {
    Json columns = Json::array();
    for (const TableColumn& column : result.file.cell_table) {
        if (columns.size() == most_columns) {
            break;
        }
        const std::string array = fmt::format("column{}", columns.size());
        if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
            columns.push_back(add_categories(payload, array, column, *texts));
            add_colours(columns.back(), column, result.file.uns);
        } else {
            columns.push_back(
                add_numbers(payload, array, column, std::get<std::vector<double>>(column.values)));
        }
    }
    payload.meta["columns"] = std::move(columns);
}

void add_clusters(Payload& payload, const StoredResult& result, const std::vector<Index>& scales) {
    if (result.clusters(0).empty()) {
        return;
    }
    std::vector<std::vector<Index>> clusters;
    Index largest = 0;
    for (const Index t : scales) {
        clusters.push_back(result.clusters(t));
        const auto [low, high] = std::minmax_element(clusters.back().begin(), clusters.back().end());
        require(*low >= 0 && *high < 65535, "{}: uns/{}/clusters must hold numbers from 0 to 65534",
                result.name, result.key);
        largest = std::max(largest, *high);
    }
    std::vector<std::uint16_t> codes;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
        if (i > 0 && largest < 400) {
            align_labels(clusters[i], clusters[i - 1], largest + 1);
        }
        codes.insert(codes.end(), clusters[i].begin(), clusters[i].end());
    }
    if (largest < 256) {
        payload.add("core", "clusters", std::vector<std::uint8_t>(codes.begin(), codes.end()));
    } else {
        payload.add("core", "clusters", codes);
    }
    payload.meta["cluster_count"] = largest + 1;
    payload.meta["label_scores"] = label_scores(result, clusters);
}

void add_resolutions(Payload& payload, const StoredResult& result) {
    const std::vector<double> clusters = result.numbers("resolutions/clusters");
    const Index count = std::ssize(clusters);
    const std::vector<double> scale = result.numbers("resolutions/scale", count);
    const std::vector<double> stability = result.numbers("resolutions/stability", count);
    const std::vector<double> p_value = result.numbers("resolutions/p_value");
    const std::vector<double> parents =
        result.numbers("resolutions/parents"); // resolution, cluster, parent, share
    const auto* recommended = find(result.file.uns, result.key + "/resolutions/recommended");
    if (count < 2 || scale.empty() || stability.empty() || parents.size() % 4 != 0) {
        return;
    }
    Json list = Json::array();
    for (std::size_t r = 0; r < clusters.size(); ++r) {
        const std::string column = fmt::format("{}_clusters_{}", result.key, r + 1);
        const auto found = std::find_if(result.file.cell_table.begin(), result.file.cell_table.end(),
                                        [&](const TableColumn& one) { return one.name == column; });
        if (found == result.file.cell_table.end() ||
            !std::holds_alternative<std::vector<std::string>>(found->values)) {
            return; // a user has taken it away
        }
        const auto k = static_cast<std::size_t>(clusters[r]);
        std::vector<Index> cells(k, 0);
        for (const std::string& name : std::get<std::vector<std::string>>(found->values)) {
            const auto place = static_cast<std::size_t>(std::strtol(name.c_str(), nullptr, 10)) - 1;
            if (place >= k) {
                return;
            }
            ++cells[place];
        }
        std::vector<Index> parent;
        std::vector<double> share;
        for (std::size_t row = 0; row + 3 < parents.size(); row += 4) {
            if (static_cast<std::size_t>(parents[row]) == r) {
                parent.push_back(static_cast<Index>(parents[row + 2]));
                share.push_back(parents[row + 3]);
            }
        }
        const auto* best = recommended != nullptr ? std::get_if<std::int64_t>(&recommended->value) : nullptr;
        list.push_back({{"column", column},
                        {"clusters", k},
                        {"scale", static_cast<Index>(scale[r])},
                        {"stability", std::isnan(stability[r]) ? Json(nullptr) : Json(stability[r])},
                        {"p_value", r < p_value.size() ? Json(p_value[r]) : Json(nullptr)},
                        {"recommended", best != nullptr && *best == static_cast<std::int64_t>(r)},
                        {"cells", cells},
                        {"parent", parent},
                        {"share", share}});
    }
    payload.meta["resolutions"] = std::move(list);
}

void add_loops(Payload& payload, const StoredResult& result) {
    constexpr std::size_t most = 400;
    const auto entry = [&](const char* name) { return find(result.file.uns, result.key + "_loops/" + name); };
    const auto numbers = [&](const char* name) {
        const AnnDataValue* found = entry(name);
        const auto* array = found == nullptr ? nullptr : std::get_if<NumericArray>(&found->value);
        return array == nullptr
                   ? std::vector<double>{}
                   : std::visit(
                         [](const auto& values) { return std::vector<double>(values.begin(), values.end()); },
                         array->values);
    };
    const auto number = [&](const char* name) {
        const AnnDataValue* found = entry(name);
        const auto* value = found == nullptr ? nullptr : std::get_if<double>(&found->value);
        return value != nullptr && std::isfinite(*value) ? Json(*value) : Json(nullptr);
    };
    const std::vector<double> births = numbers("birth");
    const std::vector<double> deaths = numbers("death");
    std::vector<double> joins = numbers("joins");
    if (entry("birth") == nullptr || births.size() != deaths.size()) {
        return; // not of this program, or kept by an earlier one
    }
    const auto few = [&](const std::vector<double>& all) {
        return std::vector<float>(all.begin(), all.begin() + static_cast<Index>(std::min(most, all.size())));
    };
    std::sort(joins.begin(), joins.end(), std::greater<>());
    payload.add("core", "loop_births", few(births));
    payload.add("core", "loop_deaths", few(deaths));
    payload.add("core", "loop_joins", few(joins));
    payload.meta["loops"] = {
        {"chance", number("chance")}, {"p_value", number("p_value")}, {"p_values", numbers("p_values")}};
}

void add_graph(Payload& payload, const StoredResult& result, const Dataset& data,
               const ReportOptions& options) {
    if (result.epsilon.empty() || !result.order.whole || result.cells() > options.largest_graph ||
        result.cells() < 2) { // a baseline has no scales; the graph is that of all cells
        return;
    }
    const FitOptions fit = result.options();
    FiltrationOptions filtration = fit.filtration;
    if (filtration.search != NeighborSearch::clustered) {
        filtration.search = NeighborSearch::exact; // the others find the same in so few cells
    }
    filtration.scales = {};
    if (result.batches) {
        filtration.search = NeighborSearch::automatic;
        filtration.batch = result.in_order(result.batches->of_cell);
    }
    const Points points = points_of(result, data, filtration.metric);
    std::vector<Edge> edges = edges_of(points, tree_and_scales(points, filtration, fit.seed)).edges;
    payload.meta["edges_total"] = edges.size();
    edges.resize(std::min<std::size_t>(edges.size(), static_cast<std::size_t>(options.largest_edges)));
    std::vector<std::uint16_t> ends;
    std::vector<double> lengths;
    for (const Edge& edge : edges) {
        ends.push_back(static_cast<std::uint16_t>(edge.i));
        ends.push_back(static_cast<std::uint16_t>(edge.j));
        lengths.push_back(edge.length);
    }
    payload.add("graph", "edge_ends", ends);
    payload.add("graph", "edge_lengths", lengths);
}

} // namespace pnmf::report
